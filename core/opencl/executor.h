/* Declarations that the files of the OpenCL executor share, above its modules: device/, codegen/, run/, persistent/, series/.
 *
 *   executor.c        the executor's table: runs, polls, history, opening and closing
 *   stage_kernels.c   builds from source, makes the kernels of stages
 *   program_source.c  composes the source of a program
 *   estimate.c        predicted time of a pass
 *   opencl.c          the table of the whole, for core/device
 */
#ifndef KCL_OPENCL_EXECUTOR_H
#define KCL_OPENCL_EXECUTOR_H

#include "core/opencl/run/run.h"

/* Two steps: kernels are laid out and composed; then all is compiled and put on the device. */
int kcl_opencl_plan(kcl_program *k, kcl_executor *ex);
int kcl_opencl_open(kcl_program *k, kcl_executor *ex);
/* Between them: seconds that its compilation is expected to take; 0: it is cached, or nothing is known. */
double kcl_opencl_expected(const kcl_executor *ex);
/* Programs of the executor that are not compiled, for a thread to compile for one that is opened later; NULL: there are none. */
kcl_ahead *kcl_opencl_ahead(const kcl_executor *ex);
/* Seconds per pass over LOOP, its matrices being outlines. */
double kcl_opencl_estimate(kcl_program *k);

/* OpenCL source of the kernels of one part of a program, for this device. Free with free(). */
int kcl_program_source(const kcl_program *k, const kcl_geometry *g, const kcl_parts *parts,
                       int part, char **source);

/* Composes the programs for kcl_run_stage_kernels, which otherwise does so first. */
int kcl_run_plan_kernels(kcl_run *r, bool persistent);
/* Compiles, and makes the kernels of all phases that have none yet; persistent: r->persistent.program instead of those that
 * the persistent kernel replaces. */
int kcl_run_stage_kernels(kcl_run *r, bool persistent);
/* Programs of stages, then of the persistent kernel or series; and the geometry of one. */
int kcl_run_programs(const kcl_run *r);
const kcl_geometry *kcl_run_geometry(const kcl_run *r, int program);
void kcl_run_close_launches(kcl_run *r);
void kcl_run_close_parts(kcl_run *r);

#endif
