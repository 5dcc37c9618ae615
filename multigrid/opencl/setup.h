/* Sparse matrices in the memory of an OpenCL device, computed there from others: the functions of sparse/sparse.h and multigrid/coarsen.h,
 * which define the results. Integers are equal, and so are sums, which are made in the same order, where the compiler
 * contracts nothing. Matrices are real, in double, with 32-bit row pointers.
 *
 *   setup.c      programs, memory, launches
 *   transfer.c   matrices from the host and back
 *   rows.c       prefix sums, transposes, truncation
 *   product.c    A B
 *   coarsen.c    strength, split, interpolation
 *   aggregate.c  nodes and their aggregates
 *   tentative.c  near-null vectors, smoothed prolongation
 *   limit.c      estimated entries of P^T A P
 *   smooth.c     diagonals, the largest eigenvalue
 *   formats.c    storage formats
 */
#ifndef KCL_SETUP_H
#define KCL_SETUP_H

#include "core/matrix/stored.h"
#include "multigrid/coarsen.h"

/* Results beside KCL_OK. KCL_UNSUITED: the device cannot do it (rows too long for its local memory, too many entries for 32
 * bits), but the host can. KCL_NOT_POSITIVE: a diagonal entry is not. */
enum { KCL_UNSUITED = -1, KCL_NOT_POSITIVE = -2 };

typedef struct kcl_device_setup kcl_device_setup;
typedef struct kcl_device_csr {
  int64_t rows, cols, nnz, longest; /* entries of the longest row */
  void *ptr, *col, *val;            /* cl_mem: int [rows + 1], int [nnz], double [nnz] */
  void *end;                        /* cl_mem: int [rows]; NULL: a row ends where the next begins */
  int64_t filled; /* about so many entries, where nnz is the room for them; or 0 */
  int note;       /* 0, or: nnz is only a bound, longest not known */
  void *slice;    /* of kcl_amg_device_slices: cl_mem int [slices + 1], or NULL */
  int slice_note;
  int block; /* above 1: columns come in blocks of so many, side by side, and a row has all of a block or none */
} kcl_device_csr;

/* Can set-ups of this matrix be computed on the context's device? */
bool kcl_amg_device_possible(const kcl_context *ctx, const kcl_csr *A);
/* Are its kernels compiled, by this process or an earlier one? Then most of a cycle's are, too. */
bool kcl_amg_device_compiled(kcl_context *ctx, kcl_type type, bool aggregation);
/* type: of the matrices in formats, KCL_S or KCL_D; aggregation: kcl_amg_device_aggregation is called, or kcl_amg_device_interpolation. To
 * be closed also after a failure. */
int kcl_amg_device_open(kcl_context *ctx, kcl_type type, bool aggregation, kcl_device_setup **out);
void kcl_amg_device_close(kcl_device_setup **s);
/* Begins to load what kcl_amg_device_open will need for A, in the background. */
void kcl_amg_device_ahead(kcl_context *ctx, const kcl_csr *A, kcl_type type, bool aggregation);
/* Gives the matrix's memory back for reuse, even before the commands enqueued so far have run. The rest follows at the end of s. */
void kcl_amg_device_drop_matrix(kcl_device_setup *s, const kcl_device_csr *A);

int kcl_amg_device_measure(kcl_device_setup *s, kcl_device_csr *A); /* nnz, longest; may wait */

/* Facts about A: its statistics, its distinct rows (core/matrix/repeats.h); or NULL. */
int kcl_amg_device_upload(kcl_device_setup *s, const kcl_csr *A, const kcl_stats *known,
                          struct kcl_distinct_rows *distinct, kcl_device_csr *out);
int kcl_amg_device_download(kcl_device_setup *s, kcl_device_csr *A, kcl_csr **out);
int kcl_amg_device_transpose(kcl_device_setup *s, const kcl_device_csr *A, kcl_device_csr *out);
int kcl_amg_device_product(kcl_device_setup *s, const kcl_device_csr *A, const kcl_device_csr *B,
                           kcl_device_csr *out);
/* The shape of a product R A P, with which it can be made again from other values without reading sizes from the device. */
enum { KCL_GALERKIN_CLASSES = 8 };
typedef struct kcl_galerkin_shape {
  bool known;
  int between;                      /* room that suits every row of A P; 0: rows differ too much */
  int longest;                      /* entries of a row of R A P */
  int blocks[KCL_GALERKIN_CLASSES]; /* of its rows, by their length (product.c) */
} kcl_galerkin_shape;
/* R A P. pattern: its entries, with the shape that came of them, whose arrays *out takes: that they suit R, A and P is expected
 * (below); or NULL, the shape is found. */
int kcl_amg_device_galerkin(kcl_device_setup *s, const kcl_device_csr *R, const kcl_device_csr *A,
                            const kcl_device_csr *P, const kcl_device_csr *pattern,
                            kcl_galerkin_shape *shape, kcl_device_csr *out);
/* The `most` largest moduli of each row, row sums kept. */
int kcl_amg_device_truncate(kcl_device_setup *s, const kcl_device_csr *A, int most,
                            kcl_device_csr *out);
int kcl_amg_device_round(kcl_device_setup *s,
                         const kcl_device_csr *A); /* its values become floats */
/* kcl_amg_strong, _split and _interpolation. More than `enough` coarse points, or none: no P is made, *made is false. */
typedef struct kcl_coarsening_rule {
  double theta;
  int most;
  double enough;
} kcl_coarsening_rule;
int kcl_amg_device_interpolation(kcl_device_setup *s, const kcl_device_csr *A,
                                 const kcl_coarsening_rule *rule, kcl_device_csr *P, bool *made);
/* kcl_amg_nodes, _aggregates, _tentative and _smoothed. KCL_UNSUITED where kcl_amg_limit might change P. */
typedef struct kcl_aggregation_rule {
  double theta;
  int block, vectors, least;          /* rows per node, near-null vectors; nodes per aggregate */
  double enough;                      /* columns of P, at most, or none is made */
  double largest;                     /* eigenvalue of D^-1 A; 0: P is not smoothed */
  double most_products, most_entries; /* of P^T A P */
} kcl_aggregation_rule;
/* *B: cl_mem double [rows, vectors], by rows, the near-null vectors; with P they become the next level's. */
int kcl_amg_device_aggregation(kcl_device_setup *s, const kcl_device_csr *A,
                               const kcl_aggregation_rule *rule, void **B, kcl_device_csr *P,
                               bool *made);
int kcl_amg_device_send_vectors(kcl_device_setup *s, const double *from, int64_t count, void **out);
int kcl_amg_device_ones(kcl_device_setup *s, int64_t count, void **out); /* double */
int kcl_amg_device_read_vectors(kcl_device_setup *s, const void *from, int64_t count, double *to);
typedef struct kcl_device_smoother {
  void *
      d; /* cl_mem [rows] of float if narrow, else of the formats' type; to be freed with kcl_amg_device_free */
  double largest; /* of a polynomial: the largest eigenvalue of D^-1 A */
  int doubt;      /* 0, or for kcl_amg_device_doubted */
} kcl_device_smoother;
/* KCL_NOT_POSITIVE: a diagonal entry is not positive. */
int kcl_amg_device_smoother(kcl_device_setup *s, const kcl_device_csr *A, kcl_smoother kind,
                            bool narrow, kcl_device_smoother *out);
/* *rows: of A, if a diagonal entry was not positive where it has to be; else 0. May wait. */
int kcl_amg_device_doubted(kcl_device_setup *s, int doubt, int64_t *rows);
void kcl_amg_device_free(kcl_context *ctx, void *buffer); /* or NULL */
/* Starts to count A's slices for the format "sell", ahead of kcl_amg_device_matrix, which waits for nothing if there was a wait in
 * between. */
int kcl_amg_device_slices(kcl_device_setup *s, kcl_device_csr *A);
/* In a format: "sell", not sorted, or one of the CSR formats. narrow: as kcl_stored_narrow, where the type is double. */
int kcl_amg_device_matrix(kcl_device_setup *s, kcl_device_csr *A, const kcl_format *f, bool narrow,
                          kcl_stored **out);
/* The matrix of a format again as kcl_device_csr, in memory of s or of m, which is not changed; with values, rows may have room
 * behind them. No wait. */
int kcl_amg_device_view(kcl_device_setup *s, const kcl_stored *m, bool values, kcl_device_csr *out);
/* Expectations in place of waits: kcl_amg_device_expect_none expects that a doubt proves unfounded; kcl_amg_device_as_expected, which may
 * wait, tells whether all expectations were met. */
int kcl_amg_device_expect_none(kcl_device_setup *s, int doubt);
int kcl_amg_device_as_expected(kcl_device_setup *s, bool *out);

#endif
