/* Kernel files, embedded by the build (embed.sh). */
#ifndef KCL_KERNELS_H
#define KCL_KERNELS_H

/* The text of a file, by its name ("spmv_csr.cl"); NULL for an unknown one. */
const char *kcl_kernel_text(const char *name);

#endif
