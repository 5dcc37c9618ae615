/* Resources of a kernel by NVIDIA's driver: registers and spills from its build log, instructions from its binary. */
#ifndef KCL_PTX_H
#define KCL_PTX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kcl_kernel_usage { /* per work-item */
  int registers;
  int64_t stack, spill_stores, spill_loads; /* bytes */
} kcl_kernel_usage;

/* Reads the lines of ptxas about a kernel, which -cl-nv-verbose puts into the log; false: there are none. */
bool kcl_ptxas_usage(const char *log, const char *kernel, kcl_kernel_usage *out);
/* Counts the instructions of a kernel in PTX; 0: it is not in it. The driver's assembler makes others of them. */
int kcl_ptx_instructions(const char *ptx, const char *kernel);

#endif
