/* The contract of a matrix generator: one file data/generators/NAME.c that exports one kcl_generator, and one
 * line in list.def. It computes row i; kcl_rows_matrix counts, sums and fills in parallel:
 *
 *   row(self, i, NULL, NULL) -> length      row(self, i, col, val) -> the entries, columns ascending
 *
 * Where a row needs little beside its number, any range of rows can be made, so that several processes make one each: real
 * symmetric systems on a grid with b = 1 have a `grid_row`, whose self is the kcl_grid; others are described by `describe`.
 * Otherwise `make` makes all.
 */
#ifndef KCL_GENERATE_H
#define KCL_GENERATE_H
#include "core/base/base.h"

/* ---------------------------------------------------------------- a matrix, row by row */

typedef int kcl_row(const void *self, int64_t i, int32_t *col,
                    double *val); /* val: pairs when complex */
typedef struct kcl_rows {
  int64_t rows;
  kcl_type type; /* D or Z */
  kcl_symmetry symmetry;
  kcl_field field;
  kcl_row *row;
  const void *self;
} kcl_rows;
/* A system any rows of which can be made. */
typedef struct kcl_formula {
  kcl_rows rows;                                       /* square */
  void (*rhs)(const void *self, int64_t i, double *b); /* b_i, b of type D or Z; NULL: b = A 1 */
} kcl_formula;
static inline void kcl_formula_free(kcl_formula *f) { free((void *)(uintptr_t)f->rows.self); }

/* size[n_sizes]: the numbers of SIZE, each >= 1, at most 3. b may be NULL. After a failure the caller
 * frees *A and *b, or *out. One of grid_row, describe and make is given, the others are NULL. */
typedef struct kcl_generator {
  const char *name, *summary, *example; /* example: NAME:SIZE, a small system */
  kcl_row *grid_row;
  int grid_dims; /* 2 or 3 */
  int (*make)(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A, kcl_dense **b);
  int (*describe)(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_formula *out);
} kcl_generator;
extern const kcl_generator *const kcl_generators[]; /* [kcl_generator_count] */
extern const int kcl_generator_count;
/* The formula of a name such as poisson2d:300; rows.self is NULL where its generator has none. */
int kcl_generate_describe(kcl_context *ctx, const char *kind_size, kcl_formula *out);
/* Rows [from, to) of a system, with columns of all. */
int kcl_formula_rows(kcl_context *ctx, const kcl_formula *f, int64_t from, int64_t to, kcl_csr **A,
                     kcl_dense **b);
int kcl_formula_self(kcl_context *ctx, const void *self, size_t size,
                     kcl_formula *out);                   /* a copy of self */
void kcl_rhs_one(const void *self, int64_t i, double *b); /* b_i = 1 */

/* ---------------------------------------------------------------- matrices and right-hand sides of generators */

int kcl_rows_matrix(kcl_context *ctx, const kcl_rows *r, kcl_csr **out); /* square */
int kcl_rows_rectangle(kcl_context *ctx, const kcl_rows *r, int64_t cols, kcl_csr **out);
/* Rows [from, to) of it. */
int kcl_rows_part(kcl_context *ctx, const kcl_rows *r, int64_t cols, int64_t from, int64_t to,
                  kcl_csr **out);

/* Right-hand sides of A's type; no-ops when b is NULL. */
int kcl_rhs_zero(kcl_context *ctx, const kcl_csr *A, kcl_dense **b);
int kcl_rhs_image(kcl_context *ctx, const kcl_csr *A, kcl_dense **b); /* b = A 1 */

/* ---------------------------------------------------------------- regular grids */

/* Cell (x, y, z) has index x + n[0] (y + n[1] z); 2D grids have n[2] = 1. */
typedef struct kcl_grid {
  int64_t n[3];
  int dims; /* 2 or 3 */
} kcl_grid;
/* SIZE of `kind`: one number for all axes, or one per axis (dims is 2 or 3). */
int kcl_grid_set(kcl_context *ctx, const char *kind, int dims, const int64_t *size, int n_sizes,
                 kcl_grid *g);
int64_t kcl_grid_cells(const kcl_grid *g);
void kcl_grid_cell(const kcl_grid *g, int64_t i, int64_t c[3]);

/* The 7-point stencil (5-point in 2D), in ascending order of index. */
enum { KCL_DOWN, KCL_SOUTH, KCL_WEST, KCL_CENTRE, KCL_EAST, KCL_NORTH, KCL_UP };
/* Index of the neighbour of cell i = c in direction d, or -1 outside the grid. */
int64_t kcl_grid_neighbour(const kcl_grid *g, int64_t i, const int64_t c[3], int d);
/* A row from its 7 weights; neighbours outside the grid are dropped. w, val: `parts` doubles per entry. */
int kcl_grid_cross(const kcl_grid *g, int64_t i, int parts, const double *w, int32_t *col,
                   double *val);
/* The real symmetric system of all cells of a grid of SIZE, `row` with the grid as self; b = 1. */
int kcl_grid_formula(kcl_context *ctx, const char *kind, int dims, const int64_t *size, int n_sizes,
                     kcl_row *row, kcl_formula *out);

/* 64 pseudo-random bits from a counter: SplitMix64 (Steele, Lea & Flood 2014). */
static inline uint64_t kcl_splitmix64(uint64_t k) {
  k = (k + 1) * 0x9e3779b97f4a7c15u;
  k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
  k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
  return k ^ (k >> 31);
}
/* Uniform in [0, 1). */
static inline double kcl_uniform(uint64_t k) { return (double)(kcl_splitmix64(k) >> 11) * 0x1p-53; }
#endif
