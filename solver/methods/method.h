/* For authors of Krylov methods.
 *
 * A method is one file solver/methods/NAME.c and one line in solver/methods/list.def (docs/add-method.md). It sees no
 * element, scalar type or device: it records operations of core/program/program.h.
 */
#ifndef KCL_METHOD_H
#define KCL_METHOD_H

#include "core/program/program.h"

typedef struct kcl_method {
  const char *name, *summary, *source;
  bool hermitian;      /* needs A = A^H (and positive definite, unless it says so) */
  bool symmetric;      /* needs A = A^T, complex or real */
  bool adjoint;        /* multiplies by A^H: kcl_AH(k) exists */
  int restart;         /* iterations per cycle unless the caller sets them; 0: no cycles */
  bool least_squares;  /* takes rectangular A; M stands for A^H A */
  bool recurs_precond; /* updates M^-1 v by recurrences: M is linear to the rounding of the type */
  bool parts_residual; /* between iterations the vector of kcl_residual is not b - A x */
  bool flexible;       /* M may differ from one application to the next */
  void (*record)(kcl_program *k); /* START, then LOOP; failures stick to k */
} kcl_method;

/* Cycles of gmres; flexible: of fgmres (solver/methods/gmres_cycle.c). */
void kcl_gmres_record(kcl_program *k, bool flexible);

/* For methods of least squares (solver/methods/least_squares.c). */
typedef struct kcl_least_squares {
  kcl_slot scale, norm2; /* products are taken with scale A; |scale A|_F^2 */
  kcl_slot e, bb, hh, t; /* the quantity tested; |b|^2, |scale A^H b|^2 */
  kcl_vec one, scale_of, norm2_of;
} kcl_least_squares;
kcl_least_squares kcl_least_squares_of(kcl_program *k);
void kcl_apply_scaled(kcl_program *k, const kcl_least_squares *l, kcl_vec y, kcl_stored *A,
                      kcl_vec x); /* y = scale A x */
/* For START, first: scale, norm2, bb and hh; h is overwritten. */
void kcl_references(kcl_program *k, const kcl_least_squares *l, kcl_vec h);
/* e from |r|^2 and |scale A^H r|^2. The host checks claims against it. */
void kcl_measure(kcl_program *k, const kcl_least_squares *l, kcl_slot rr, kcl_slot ss);
/* |A|_F for programs of these methods: positive and finite. */
double kcl_norm_F(const kcl_csr *A);
/* The factor that these methods multiply A by; 1 where norm_F is 0. */
double kcl_scale_for(double norm_F);

/* The registry (solver/methods/registry.c). */
extern const int kcl_method_count;
const kcl_method *kcl_method_at(int i); /* 0 <= i < count */
int kcl_method_find(kcl_context *ctx, const char *name, const kcl_method **out);

#endif
