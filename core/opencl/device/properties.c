/* All that OpenCL 1.2 tells about a device, as lines "name value". */
#include "core/opencl/device/device.h"

typedef enum property_kind {
  UINT,
  ULONG,
  SIZE,
  SIZES,
  BOOL,
  TEXT,
  FP,
  QUEUE,
  CACHE,
  LOCAL
} property_kind;

static const struct {
  cl_device_info what;
  const char *name;
  property_kind kind;
} properties[] = {{CL_DEVICE_VENDOR, "vendor", TEXT},
                  {CL_DEVICE_VENDOR_ID, "vendor_id", UINT},
                  {CL_DEVICE_PROFILE, "profile", TEXT},
                  {CL_DEVICE_VERSION, "version", TEXT},
                  {CL_DRIVER_VERSION, "driver_version", TEXT},
                  {CL_DEVICE_OPENCL_C_VERSION, "opencl_c_version", TEXT},
                  {CL_DEVICE_MAX_COMPUTE_UNITS, "max_compute_units", UINT},
                  {CL_DEVICE_MAX_CLOCK_FREQUENCY, "max_clock_frequency_mhz", UINT},
                  {CL_DEVICE_ADDRESS_BITS, "address_bits", UINT},
                  {CL_DEVICE_ENDIAN_LITTLE, "endian_little", BOOL},
                  {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, "max_work_item_dimensions", UINT},
                  {CL_DEVICE_MAX_WORK_ITEM_SIZES, "max_work_item_sizes", SIZES},
                  {CL_DEVICE_MAX_WORK_GROUP_SIZE, "max_work_group_size", SIZE},
                  {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, "preferred_vector_width_char", UINT},
                  {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, "preferred_vector_width_short", UINT},
                  {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, "preferred_vector_width_int", UINT},
                  {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, "preferred_vector_width_long", UINT},
                  {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, "preferred_vector_width_float", UINT},
                  {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, "preferred_vector_width_double", UINT},
                  {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, "native_vector_width_float", UINT},
                  {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, "native_vector_width_double", UINT},
                  {CL_DEVICE_SINGLE_FP_CONFIG, "single_fp_config", FP},
                  {CL_DEVICE_DOUBLE_FP_CONFIG, "double_fp_config", FP},
                  {CL_DEVICE_GLOBAL_MEM_SIZE, "global_mem_size", ULONG},
                  {CL_DEVICE_MAX_MEM_ALLOC_SIZE, "max_mem_alloc_size", ULONG},
                  {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, "global_mem_cache_type", CACHE},
                  {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, "global_mem_cache_size", ULONG},
                  {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "global_mem_cacheline_size", UINT},
                  {CL_DEVICE_HOST_UNIFIED_MEMORY, "host_unified_memory", BOOL},
                  {CL_DEVICE_ERROR_CORRECTION_SUPPORT, "error_correction_support", BOOL},
                  {CL_DEVICE_LOCAL_MEM_TYPE, "local_mem_type", LOCAL},
                  {CL_DEVICE_LOCAL_MEM_SIZE, "local_mem_size", ULONG},
                  {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, "max_constant_buffer_size", ULONG},
                  {CL_DEVICE_MAX_CONSTANT_ARGS, "max_constant_args", UINT},
                  {CL_DEVICE_MAX_PARAMETER_SIZE, "max_parameter_size", SIZE},
                  {CL_DEVICE_MEM_BASE_ADDR_ALIGN, "mem_base_addr_align_bits", UINT},
                  {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, "min_data_type_align_size", UINT},
                  {CL_DEVICE_IMAGE_SUPPORT, "image_support", BOOL},
                  {CL_DEVICE_IMAGE2D_MAX_WIDTH, "image2d_max_width", SIZE},
                  {CL_DEVICE_IMAGE2D_MAX_HEIGHT, "image2d_max_height", SIZE},
                  {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, "image_max_buffer_size", SIZE},
                  {CL_DEVICE_MAX_READ_IMAGE_ARGS, "max_read_image_args", UINT},
                  {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, "max_write_image_args", UINT},
                  {CL_DEVICE_MAX_SAMPLERS, "max_samplers", UINT},
                  {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, "partition_max_sub_devices", UINT},
                  {CL_DEVICE_QUEUE_PROPERTIES, "queue_properties", QUEUE},
                  {CL_DEVICE_PROFILING_TIMER_RESOLUTION, "profiling_timer_resolution_ns", SIZE},
                  {CL_DEVICE_PRINTF_BUFFER_SIZE, "printf_buffer_size", SIZE},
                  {CL_DEVICE_AVAILABLE, "available", BOOL},
                  {CL_DEVICE_COMPILER_AVAILABLE, "compiler_available", BOOL}};

typedef struct flag_name {
  cl_ulong flag;
  const char *name;
} flag_name;

static const flag_name fp_names[] = {{CL_FP_DENORM, "denorm"},
                                     {CL_FP_INF_NAN, "inf_nan"},
                                     {CL_FP_ROUND_TO_NEAREST, "round_to_nearest"},
                                     {CL_FP_ROUND_TO_ZERO, "round_to_zero"},
                                     {CL_FP_ROUND_TO_INF, "round_to_inf"},
                                     {CL_FP_FMA, "fma"},
                                     {CL_FP_SOFT_FLOAT, "soft_float"},
                                     {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "correctly_rounded"},
                                     {0, NULL}},
                       queue_names[] = {{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "out_of_order"},
                                        {CL_QUEUE_PROFILING_ENABLE, "profiling"},
                                        {0, NULL}};

static void put_flags(FILE *f, cl_ulong value, const flag_name *names) {
  if (!value) fputs(" none", f);
  for (; names->name; names++)
    if (value & names->flag) fprintf(f, " %s", names->name);
}

static const char *word_of(property_kind kind, cl_uint value) {
  if (kind == BOOL) return value ? "yes" : "no";
  if (kind == LOCAL) return value == CL_LOCAL ? "local" : value == CL_GLOBAL ? "global" : "none";
  return value == CL_READ_WRITE_CACHE  ? "read_write"
         : value == CL_READ_ONLY_CACHE ? "read_only"
                                       : "none";
}

static void put_numbers(FILE *f, const void *bytes, size_t size, size_t each) {
  for (const char *at = bytes; at + each <= (const char *)bytes + size; at += each) {
    cl_ulong value = 0;
    memcpy(&value, at, each);
    fprintf(f, " %llu", (unsigned long long)value);
  }
}

/* Unknown numbers are little-endian, as this program's hosts are. */
static void put_property(FILE *f, property_kind kind, const char *bytes, size_t size) {
  cl_ulong value = 0;
  memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
  switch (kind) {
  case TEXT: fprintf(f, " %.*s", (int)strnlen(bytes, size), bytes); return;
  case FP: put_flags(f, value, fp_names); return;
  case QUEUE: put_flags(f, value, queue_names); return;
  case BOOL:
  case CACHE:
  case LOCAL: fprintf(f, " %s", word_of(kind, (cl_uint)value)); return;
  case UINT: put_numbers(f, bytes, size, sizeof(cl_uint)); return;
  case ULONG: put_numbers(f, bytes, size, sizeof(cl_ulong)); return;
  default: put_numbers(f, bytes, size, sizeof(size_t)); return;
  }
}

int kcl_opencl_properties(kcl_context *ctx, const kcl_device *which, char **out) {
  enum { MOST = 1024 };
  cl_device_id d = kcl_opencl_find_device(which->platform, which->device, &(cl_platform_id){0});
  char bytes[MOST];
  size_t length, size;
  if (!d)
    return kcl_fail(ctx, KCL_DEVICE, "%d:%d is no device of this machine", which->platform,
                    which->device);
  FILE *f = open_memstream(out, &length);
  if (!f) return kcl_fail(ctx, KCL_MEMORY, "out of memory: the properties of a device");
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    if (clGetDeviceInfo(d, properties[i].what, sizeof bytes, bytes, &size) || !size) continue;
    fputs(properties[i].name, f);
    put_property(f, properties[i].kind, bytes, size);
    fputc('\n', f);
  }
  const bool lost = ferror(f);
  if (!fclose(f) && !lost) return KCL_OK;
  free(*out), *out = NULL;
  return kcl_fail(ctx, KCL_MEMORY, "out of memory: the properties of a device");
}
