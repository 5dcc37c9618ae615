/* Multigrid's matrices and diagonals on the host: strength, C and F points, interpolation; aggregates, prolongation; smoothers;
 * the coarsest inverse. Every function is parallel over rows and gives the same bits on any number of threads. Matrices are real,
 * in double, and square unless it says otherwise. The same on a device: multigrid/opencl/setup.h.
 */
#ifndef KCL_COARSEN_H
#define KCL_COARSEN_H

#include "sparse/sparse.h"

/* ---------------------------------------------------------------- classical: strong.c, interpolate.c */

/* The entries with -a_ij sign(a_ii) >= theta max_k -a_ik sign(a_ii) > 0. */
int kcl_amg_strong(kcl_context *ctx, const kcl_csr *A, double theta, kcl_csr **out);
/* coarse [n]: the number of i among the C points, -1 for F points: a maximal independent set of S by hashed priorities
 * (PMIS: De Sterck, Yang & Heys 2006). */
int kcl_amg_split(kcl_context *ctx, const kcl_csr *S, int32_t **coarse, int64_t *count);
/* P [n, count]: extended interpolation by matrix products (MM-ext: Li, Sjogreen & Yang 2021), `most` entries per row. */
int kcl_amg_interpolation(kcl_context *ctx, const kcl_csr *A, const kcl_csr *S,
                          const int32_t *coarse, int64_t count, int most, kcl_csr **out);
/* Its `most` largest entries per row, row sums kept. */
int kcl_amg_truncate(kcl_context *ctx, const kcl_csr *P, int most, kcl_csr **out);

/* ---------------------------------------------------------------- smoothed aggregation: aggregate.c, tentative.c, limit.c */

enum { KCL_MOST_NEAR_NULL = 12 };

/* The graph of nodes, `block` rows each: I and J are coupled if |A_IJ| > theta sqrt(max_K |A_IK| max_K |A_JK|), K beside the
 * diagonal, in the norm of Frobenius. */
typedef struct kcl_nodes {
  const kcl_csr *S; /* values: |A_IJ|^2 */
  kcl_csr *owned;   /* S; or NULL: all are coupled, S is A, with its diagonal and values */
} kcl_nodes;
int kcl_amg_nodes(kcl_context *ctx, const kcl_csr *A, int block, double theta, kcl_nodes *out);
void kcl_amg_nodes_free(kcl_nodes *nodes);
/* aggregate [nodes]: number, or -1 of a node that is coupled with none. They have `least` nodes or more. */
int kcl_amg_aggregates(kcl_context *ctx, const kcl_nodes *nodes, int least, int32_t **aggregate,
                       int64_t *count);
typedef struct kcl_aggregation {
  const int32_t *aggregate; /* [nodes] */
  int64_t count;
  int block, vectors; /* rows per node; near-null vectors */
} kcl_aggregation;
/* T [rows, count vectors], T^T T = I, with B = T coarse where there are aggregates; B [rows, vectors], NULL: one vector of ones,
 * nodes being rows; coarse [count vectors, vectors], by rows, to free with free(). */
int kcl_amg_tentative(kcl_context *ctx, const kcl_aggregation *g, int64_t rows, const double *B,
                      kcl_csr **T, double **coarse);
/* The least diagonal entry of the filtered A by which a row of P is smoothed, relative to A's; a power of two: exact products. */
static const double kcl_least_filtered = 0.125;
/* P from T; largest: the eigenvalue of D^-1 A. */
int kcl_amg_smoothed(kcl_context *ctx, const kcl_csr *A, const kcl_nodes *nodes, int block,
                     const kcl_csr *T, double largest, kcl_csr **P);
/* Replaces the longest rows of P by rows of T, as many as need be for P^T A P to take at most `most_products` products of entries
 * and to have, nearly, at most `most_entries` entries; or all of them. */
int kcl_amg_limit(kcl_context *ctx, const kcl_csr *A, const kcl_csr *T, double most_products,
                  double most_entries, kcl_csr **P);

/* ---------------------------------------------------------------- smoothers, the coarsest level: diagonal.c, dense.c */

/* Smoothers of multigrid: a polynomial in D^-1 A, which needs its largest eigenvalue, or one step with a diagonal. */
typedef enum kcl_smoother {
  KCL_CHEBYSHEV, /* D^-1 over the largest eigenvalue; A Hermitian */
  KCL_L1_JACOBI, /* kcl_l1_weight / sum_j |a_ij| (Baker, Falgout, Kolev & Yang 2011); A Hermitian */
  KCL_SPAI0      /* a_ii / sum_j a_ij^2 (Broker & Grote 2002) */
} kcl_smoother;
/* With the l1 diagonal D all eigenvalues of D^-1 A are in (0, 1]; one step multiplies errors of eigenvalues above a quarter by 0.6
 * or less. */
static const double kcl_l1_weight = 1.6;
/* d [rows] of the last two, to free(). l1: 0 where a diagonal entry is not positive. */
int kcl_amg_diagonal(kcl_context *ctx, const kcl_csr *A, kcl_smoother kind, double **d);
/* A^-1, dense, by rows, [n, n]; what a singular A has no inverse for is zero. hermitian: so is the inverse. */
int kcl_dense_inverse(kcl_context *ctx, const kcl_csr *A, bool hermitian, kcl_csr **out);

#endif
