/* The persistent kernel: many iterations in one launch (docs/persistent.md). */
#ifndef KCL_OPENCL_PERSISTENT_H
#define KCL_OPENCL_PERSISTENT_H

#include "core/opencl/codegen/codegen.h"
#include "core/opencl/codegen/persistent_plan.h"
#include "core/opencl/run/run.h"

/* ---- persistent.c */
typedef struct kcl_persistent_ops {
  int64_t least_iterations;             /* that are worth a launch */
  bool (*wanted)(kcl_run *r);           /* decides whether, and how: r->persistent.geometry */
  double (*estimate)(const kcl_run *r); /* seconds per pass over LOOP, where it is wanted */
  /* Decides everything that its source depends on, and allocates its buffers; close also after a failure. */
  int (*prepare)(kcl_run *r);
  int (*open)(kcl_run *r); /* from r->persistent.program: r->persistent.kernel */
  cl_int (*enqueue)(kcl_run *r, int64_t passes); /* over LOOP, one launch */
  /* Waits for the device. KCL_DEVICE when a group missed a barrier. *missing: groups were not resident together and have
   * touched nothing; the kernel is closed, and the caller continues with one launch per stage. */
  int (*check)(kcl_run *r, bool *missing);
  void (*close)(kcl_run *r);
} kcl_persistent_ops;
extern const kcl_persistent_ops kcl_persistent_kernel;

/* ---- persistent_source.c, persistent_stage_source.c */
void kcl_put_persistent_kernel(kcl_source *t, const kcl_program *k, const kcl_geometry *g);
void kcl_put_persistent_stage(kcl_source *t, const kcl_program *k, const kcl_geometry *g,
                              kcl_phase phase, int number);
void kcl_put_receive(kcl_source *t, const kcl_program *k,
                     const kcl_stage *s); /* the totals of what stage s has sent, to slots */

#endif
