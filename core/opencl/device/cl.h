/* OpenCL's own header, without the vector types of this processor's compiler: their headers take ten times as long to compile as
 * all others of a file. Its functions are pointers here, by their own names: no library is linked, loader.c finds them. */
#ifndef KCL_CL_H
#define KCL_CL_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#pragma push_macro("__MMX__")
#pragma push_macro("__SSE__")
#pragma push_macro("__SSE2__")
#pragma push_macro("__AVX__")
#undef __MMX__
#undef __SSE__
#undef __SSE2__
#undef __AVX__
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif
#pragma pop_macro("__MMX__")
#pragma pop_macro("__SSE__")
#pragma pop_macro("__SSE2__")
#pragma pop_macro("__AVX__")

/* A table with one member per function: clFlush stands for kcl_cl.clFlush. */
#define CL(f) __typeof__(f) *f;
extern struct kcl_cl {
#include "core/opencl/device/functions.def"
} kcl_cl;
#undef CL

/* Puts functions with a limit in place of those that wait. */
void kcl_watch_install(struct kcl_cl *table);

/* A code beside those of OpenCL: the device does not answer (watch.c). */
enum { KCL_CL_LOST = -9000 };
/* Fills the table, at the first call in a process. NULL, or a sentence: why OpenCL cannot be called. */
const char *kcl_cl_load(void);
void *kcl_cl_find(
    const char *function); /* one that need not be in the table; NULL: there is none */

#endif
