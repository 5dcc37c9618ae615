/* For plug-in authors: the contracts of the five nouns.
 *
 *   executor   where work runs: cpu (core/cpu.c) or opencl (core/opencl.c)
 *   matrix     an operator in one storage format on one executor        (spmv/NAME.c)
 *   vector     device memory of one program; known by its number
 *   precond    z = M^-1 r                                               (solver/precond/NAME.c)
 *   solver     a Krylov method, recorded as a program                   (solver/NAME.c)
 *
 * A plug-in is one C file that exports one constant descriptor, and one line in its folder's
 * list.def. No plug-in includes another.
 */
#ifndef KCL_IMPL_H
#define KCL_IMPL_H

#include "krylocl.h"

/* ---------------------------------------------------------------- errors
 * KCL_TRY is for functions that own something: rc and done: exist, done: frees on both paths. */
#if defined(__GNUC__)
#define KCL_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define KCL_PRINTF(f, a)
#endif
int kcl_fail(kcl *ctx, kcl_status status, const char *format, ...)
    KCL_PRINTF(3, 4); /* returns status */
#define KCL_TRY(call)                                                                              \
  do {                                                                                             \
    if ((rc = (call)) != KCL_OK) goto done;                                                        \
  } while (0)

/* count * size bytes, zeroed, 64-byte aligned; *out is NULL and the status KCL_MEMORY when there
 * are none (the message says what for). Free with free(). */
int kcl_alloc(kcl *ctx, int64_t count, size_t size, const char *what, void **out);

/* Is so much memory there? Linux grants more, and ends the program that touches it. Asked from 1 GiB on; elsewhere yes. */
bool kcl_has_room(size_t bytes);

/* "did you mean": an error that lists the names of a registry and the nearest one. */
int kcl_unknown(kcl *ctx, const char *kind, const char *name, kcl_registry which);

int kcl_thread(void);      /* OpenMP: the number of this thread in its team, 0 without it */
int kcl_threads(void);     /* threads in the team, 1 */
int kcl_max_threads(void); /* threads a team may have, 1 */

int kcl_type_check(kcl *ctx, const char *what, kcl_type type); /* KCL_USAGE: it is none */
int kcl_csr_check(
    kcl *ctx,
    const kcl_csr *A); /* is it one, as krylocl.h says? KCL_USAGE, and the first row that is not */
double kcl_now(void);  /* monotonic seconds */
void kcl_element(kcl_type t, const void *array, int64_t i, double z[2]); /* array[i] as re, im */
double kcl_abs(kcl_type t, const void *array, int64_t i);                /* |array[i]| in double */
void kcl_copy(kcl_type to, void *y, kcl_type from, const void *x, int64_t n,
              double scale); /* y = scale x */
#endif
