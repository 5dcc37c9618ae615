/* For formats whose products also take and give vectors of float while their values stay in double: such files are compiled once
 * more, as type m, and write `element` where they mean an entry of x or y. */
#ifndef KCL_NARROW_H
#define KCL_NARROW_H

#include "core/base/scalar.h"
#include "core/matrix/stored.h"

#ifdef KCL_T_d
#define KCL_FORMAT(name) extern const kcl_format kcl_format_##name##_m;
#include "spmv/list.def"
#include "spmv/studies.def"
#undef KCL_FORMAT
#define KCL_NARROW(name) &kcl_format_##name##_m
#else
#define KCL_NARROW(name) NULL
#endif

#endif
