/* Incomplete triangular factors, on the host: A = L U up to entries that are left out, after rows were exchanged and scaled
 * where the diagonal asks for it. Values are double, or pairs of doubles where A is complex.
 */
#ifndef KCL_SPARSE_FACTOR_H
#define KCL_SPARSE_FACTOR_H

#include "sparse/sparse.h"

/* ---------------------------------------------------------------- matching (match.c) */

/* Rows exchanged and scaled so that the product of the diagonal is largest (MC64: Duff & Koster 2001):
 * |r_i a_ij c_j| <= 1, and 1 for i = row[j], the row that comes to place j. */
typedef struct kcl_matching {
  int32_t *row; /* [n] */
  double *r;    /* [n] of A's rows */
  double *c;    /* [n] of A's columns */
} kcl_matching;
/* *alone: a row that no column of its own can be found for, which makes A singular; -1: none. */
int kcl_factor_match(kcl_context *ctx, const kcl_csr *A, kcl_matching *out, int64_t *alone);
void kcl_matching_free(kcl_matching *m);
/* Has A's diagonal a zero, or an entry below `least` times the largest modulus of its row? */
bool kcl_factor_weak_diagonal(const kcl_csr *A, double least);

/* ---------------------------------------------------------------- factors */

/* (I + L) D (I + U) near B = R P A C: L and U strictly triangular, D diagonal. */
typedef struct kcl_factors {
  kcl_csr *L, *U; /* U NULL: L^H */
  double *d;      /* [n] of D^-1; pairs where A is complex */
} kcl_factors;
void kcl_factors_free(kcl_factors *f);

/* The matrix to be factored: a copy of A, its rows exchanged and scaled by m unless that is NULL, with the whole diagonal; to
 * each diagonal entry `shift` times the largest modulus of its row is added, away from zero. */
int kcl_factor_matrix(kcl_context *ctx, const kcl_csr *A, const kcl_matching *m, double shift,
                      kcl_csr **out);
/* B with the positions of fill up to level `most`, 255 at the most, as entries that are zero (fill.c). *out NULL: they would be more than
 * `limit` entries. */
int kcl_factor_fill(kcl_context *ctx, const kcl_csr *B, int most, int64_t limit, kcl_csr **out);
/* ILU(0) (Meijerink & van der Vorst 1977). *zero: the first row whose pivot vanishes, -1: none; then there are factors.
 * B is overwritten. */
int kcl_factor_ilu(kcl_context *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero);

/* ILUT(p, tau) (Saad 1994): fill below tau times the largest entry of its row is left out, then all but the p largest of a row
 * in L, and in U. */
int kcl_factor_ilut(kcl_context *ctx, const kcl_csr *B, int p, double tau, kcl_factors *out,
                    int64_t *zero);
/* IC(0) of a Hermitian B (Meijerink & van der Vorst 1977), which is overwritten; pivots are positive. */
int kcl_factor_ic(kcl_context *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero);

/* ---------------------------------------------------------------- solves (sweeps.c) */

/* The largest modulus of (I + U)^-1 D^-1 (I + L)^-1 1, a lower bound of the norm of the inverse (Chow & Saad 1997); U is not
 * NULL. INFINITY: beyond numbers. */
int kcl_factors_growth(kcl_context *ctx, const kcl_factors *f, double *out);
/* y = (I + N)^-1 v, N strictly triangular; error[s]: |y_s - y| / |y| after s sweeps y_(s+1) = v - N y_s from y_0 = v, which
 * are exact after as many as N has levels, and may be far off before. v, y: [n] pairs. */
enum { KCL_MOST_SWEEPS = 6 };
int kcl_sweep_errors(kcl_context *ctx, const kcl_csr *N, bool upper, const double *v, double *y,
                     double error[KCL_MOST_SWEEPS + 1]);

#endif
