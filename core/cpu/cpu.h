/* The native executor, compiled once per scalar type. */
#ifndef KCL_CPU_H
#define KCL_CPU_H

#include "core/program/executor.h"

int kcl_cpu_open_s(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_d(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_c(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_z(kcl_program *k, kcl_executor *ex);

#endif
