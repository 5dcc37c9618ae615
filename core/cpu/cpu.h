/* The native executor, compiled once per scalar type. */
#ifndef KCL_CPU_H
#define KCL_CPU_H

#include "core/program/executor.h"

/* One operation but a dot on a block of n elements, in float: for narrow vectors of programs in double. */
void kcl_cpu_operation_s(const kcl_op *o, float *y, float a, const float *x, float b,
                         const float *z, int n);

int kcl_cpu_open_s(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_d(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_c(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_z(kcl_program *k, kcl_executor *ex);

#endif
