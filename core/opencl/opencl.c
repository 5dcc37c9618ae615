/* The table by which core/device reaches OpenCL. */
#include "core/opencl/opencl.h"
#include "core/opencl/device/device.h"
#include "core/opencl/executor.h"

static const kcl_opencl_ops backend = {.list = kcl_opencl_list,
                                       .icd_loader = kcl_icd_loader,
                                       .extensions = kcl_opencl_extensions,
                                       .properties = kcl_opencl_properties,
                                       .attach = kcl_opencl_attach,
                                       .device_of = kcl_opencl_device_of,
                                       .handles = kcl_opencl_get,
                                       .detach = kcl_opencl_detach,
                                       .open = kcl_opencl_open,
                                       .estimate = kcl_opencl_estimate,
                                       .profile_take = kcl_opencl_profile_take,
                                       .convert = kcl_opencl_convert,
                                       .pin = kcl_opencl_pin_host,
                                       .unpin = kcl_opencl_unpin_host,
                                       .pin_given = kcl_opencl_register_host};

const kcl_opencl_ops *const kcl_opencl_backend = &backend;
