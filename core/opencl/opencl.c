/* The table by which core/device reaches OpenCL. */
#include "core/opencl/opencl.h"
#include "core/opencl/executor.h"

static const kcl_opencl_ops backend = {.missing = kcl_cl_load,
                                       .list = kcl_opencl_list,
                                       .icd_loader = kcl_icd_loader,
                                       .extensions = kcl_opencl_extensions,
                                       .properties = kcl_opencl_properties,
                                       .attach = kcl_opencl_attach,
                                       .device_of = kcl_opencl_device_of,
                                       .objects = kcl_opencl_objects_of,
                                       .detach = kcl_opencl_detach,
                                       .plan = kcl_opencl_plan,
                                       .expected = kcl_opencl_expected,
                                       .ahead = kcl_opencl_ahead,
                                       .ahead_sum = kcl_ahead_sum,
                                       .ahead_begin = kcl_ahead_begin,
                                       .ahead_free = kcl_ahead_free,
                                       .ahead_ended = kcl_compile_ahead_ended,
                                       .open = kcl_opencl_open,
                                       .watch = kcl_opencl_watch,
                                       .estimate = kcl_opencl_estimate,
                                       .count_programs = kcl_opencl_count_programs,
                                       .profile_take = kcl_opencl_profile_take,
                                       .convert = kcl_opencl_convert,
                                       .copy_column = kcl_opencl_copy_column,
                                       .measure_column = kcl_opencl_measure_column,
                                       .read_column = kcl_opencl_read_column,
                                       .write_column = kcl_opencl_write_column,
                                       .describe_buffer = kcl_opencl_describe_buffer,
                                       .read_bytes = kcl_opencl_read_bytes,
                                       .write_bytes = kcl_opencl_write_bytes,
                                       .pin = kcl_opencl_pin_host,
                                       .unpin = kcl_opencl_unpin_host,
                                       .pin_given = kcl_opencl_register_host};

const kcl_opencl_ops *const kcl_opencl_backend = &backend;
