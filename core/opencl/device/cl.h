/* OpenCL's own header, without the vector types of this processor's compiler: their headers take ten times as long to compile as
 * all others of a file. */
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

#endif
