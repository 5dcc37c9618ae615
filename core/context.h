/* What a kcl context holds. For core/ alone. */
#ifndef KCL_CONTEXT_H
#define KCL_CONTEXT_H
#include "core/impl.h"
#include "core/tune.h"

typedef struct kcl_opencl kcl_opencl; /* core/opencl.c: device, queue, program cache */

struct kcl {
  char error[4096];
  bool selected;
  kcl_device device;
  int threads;        /* of the native executor */
  kcl_opencl *opencl; /* NULL on the native executor */
  double stream_rate; /* bytes/s; 0 until measured */
  kcl_tune tune;      /* of the device */
};
#endif
