/* The arrays of a matrix on an OpenCL device. Row pointers are narrowed to 32 bits where all fit; images
 * hold a vector as 32-bit words in rows of 2^KCL_IMAGE_BITS texels (kernels/image.clh). */
#include "core/opencl/device/device.h"

typedef struct index_narrowing {
  const int64_t *wide;
  int32_t *to;
} index_narrowing;

static void narrow_part(void *arg, int64_t first, int64_t end) {
  const index_narrowing *n = arg;
  for (int64_t k = first; k < end; k++) n->to[k] = (int32_t)n->wide[k];
}

void kcl_fill_narrow(const void *source, int64_t from, int64_t count, void *to) {
  kcl_for(count, KCL_FEW, narrow_part, &(index_narrowing){(const int64_t *)source + from, to});
}

static int upload_array(kcl_stored *m, int i) {
  kcl_context *ctx = m->ctx;
  kcl_array *a = &m->array[i];
  bool narrowed = a->kind == KCL_INT64 && m->nnz < INT32_MAX;
  size_t size = narrowed ? 4 : kcl_array_element(a->kind, m->type), bytes = size * (size_t)a->count;
  const kcl_upload u = narrowed ? (kcl_upload){4, a->count, kcl_fill_narrow, a->data}
                                : (kcl_upload){1, (int64_t)bytes, kcl_fill_bytes, a->data};
  char what[160];
  cl_int code;
  snprintf(what, sizeof what, "uploading %s of the matrix, %.3g GB", a->name, (double)bytes * 1e-9);
  m->device[i] = clCreateBuffer(ctx->opencl->context, CL_MEM_READ_ONLY, bytes + 64, NULL, &code);
  int rc = kcl_cl_check(ctx, code, "clCreateBuffer", what);
  if (!rc) rc = kcl_opencl_write(ctx, m->device[i], &u, what);
  if (!rc && !a->borrowed) free(a->data), a->data = NULL;
  return rc;
}

/* A texel of just one scalar where the device can read and write such, else one of four words, which
 * every device with images can. */
static int choose_texel(const kcl_context *ctx, kcl_type type, cl_image_format *chosen) {
  enum { MOST_WORDS = 256 };
  cl_image_format list[MOST_WORDS];
  cl_uint count = 0;
  cl_bool images = CL_FALSE;
  int words = (int)kcl_type_size(type) / 4, texel = 0;
  cl_channel_order exact = words == 1 ? CL_R : words == 2 ? CL_RG : CL_RGBA;
  clGetDeviceInfo(ctx->opencl->device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
  if (!images || clGetSupportedImageFormats(ctx->opencl->context, CL_MEM_READ_WRITE,
                                            CL_MEM_OBJECT_IMAGE2D, MOST_WORDS, list, &count))
    return 0;
  for (cl_uint i = 0; i < count && i < MOST_WORDS && texel != 1; i++) {
    cl_channel_order order = list[i].image_channel_order;
    if (list[i].image_channel_data_type != CL_UNSIGNED_INT32) continue;
    if (order != exact && order != CL_RGBA) continue;
    texel = order == exact ? 1 : 4 / words, *chosen = list[i];
  }
  return texel;
}

void kcl_opencl_find_images(kcl_context *ctx) {
  cl_image_format format;
  kcl_images *i = &ctx->images;
  clGetDeviceInfo(ctx->opencl->device, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof i->width, &i->width,
                  NULL);
  clGetDeviceInfo(ctx->opencl->device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof i->height, &i->height,
                  NULL);
  for (kcl_type t = KCL_S; t <= KCL_Z; t++) i->texel[t] = choose_texel(ctx, t, &format);
}

static int make_scratch(kcl_stored *m, int i) {
  const kcl_array *a = &m->array[i];
  cl_image_format format;
  cl_int code;
  if (a->kind != KCL_IMAGE)
    return kcl_opencl_buffer(m->ctx, (size_t)a->count * kcl_array_element(a->kind, m->type),
                             a->name, (cl_mem *)&m->device[i]);
  int64_t texel = choose_texel(m->ctx, m->type, &format);
  int64_t texels = (a->count + texel - 1) / texel, width = 1 << KCL_IMAGE_BITS;
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                              .image_width = (size_t)width,
                              .image_height = (size_t)((texels + width - 1) / width)};
  m->device[i] =
      clCreateImage(m->ctx->opencl->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
  return kcl_cl_check(m->ctx, code, "clCreateImage", "an image for x");
}

static void release_arrays(kcl_stored *m) {
  for (int i = 0; i < m->arrays; i++)
    if (!i || m->device[i] != m->device[i - 1]) kcl_pool_give(m->ctx, m->device[i]);
  kcl_pool_trim(m->ctx);
}

void kcl_opencl_adopt(kcl_stored *m) { m->release = release_arrays; }

int kcl_opencl_upload(kcl_stored *m) {
  int rc = KCL_OK;
  kcl_opencl_adopt(m);
  for (int i = 0; i < m->arrays && !rc; i++)
    if (!m->device[i]) rc = m->array[i].prepared ? make_scratch(m, i) : upload_array(m, i);
  return rc;
}
