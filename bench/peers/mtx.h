/* A tiny Matrix Market loader for the peers: coordinate; real, integer or pattern; general or
 * symmetric; square; no .gz. Result: CSR with both triangles, columns ascending, duplicates summed.
 * mtx_load takes rectangular and complex general ones too, of these the real parts: for timing.
 * Any failure prints one line and ends the program with code 3. Reads with fscanf: the peers
 * time iterations, not reading. Format: Boisvert, Pozo & Remington (1996).
 */
#ifndef MTX_H
#define MTX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct mtx {
  int rows, cols, nnz, symmetric, complex;
  int *ptr, *col; /* [rows + 1], [nnz] */
  double *val;    /* [nnz] */
} mtx;

typedef struct mtx_entries {
  int count, *row, *col; /* [count] */
  double *val;           /* [count] */
} mtx_entries;

static inline void mtx_fail(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  exit(3);
}

static inline void *mtx_alloc(size_t count, size_t size) {
  void *p = calloc(count + 1, size);
  if (!p) mtx_fail("mtx", "out of memory");
  return p;
}

static inline mtx_entries mtx_entries_new(size_t count) {
  mtx_entries e = {0, NULL, NULL, NULL};
  e.row = (int *)mtx_alloc(count, sizeof(int));
  e.col = (int *)mtx_alloc(count, sizeof(int));
  e.val = (double *)mtx_alloc(count, sizeof(double));
  return e;
}

static inline void mtx_entries_free(mtx_entries *e) {
  free(e->row);
  free(e->col);
  free(e->val);
}

/* Sorts the entries by key (their row or column array), stably. */
static inline mtx_entries mtx_sorted(const mtx_entries *e, const int *key, int keys) {
  mtx_entries out = mtx_entries_new((size_t)e->count);
  int *next = (int *)mtx_alloc((size_t)keys + 1, sizeof(int));
  out.count = e->count;
  for (int k = 0; k < e->count; k++) next[key[k] + 1]++;
  for (int i = 0; i < keys; i++) next[i + 1] += next[i];
  for (int k = 0; k < e->count; k++) {
    int to = next[key[k]]++;
    out.row[to] = e->row[k];
    out.col[to] = e->col[k];
    out.val[to] = e->val[k];
  }
  free(next);
  return out;
}

static inline mtx mtx_from_sorted(const mtx_entries *e, int rows) {
  mtx A = {rows, rows, 0, 0, 0, NULL, NULL, NULL};
  A.ptr = (int *)mtx_alloc((size_t)rows + 1, sizeof(int));
  A.col = (int *)mtx_alloc((size_t)e->count, sizeof(int));
  A.val = (double *)mtx_alloc((size_t)e->count, sizeof(double));
  for (int k = 0; k < e->count; k++) {
    int same = k > 0 && e->row[k] == e->row[k - 1] && e->col[k] == e->col[k - 1];
    if (!same) {
      A.ptr[e->row[k] + 1]++;
      A.col[A.nnz++] = e->col[k];
    }
    A.val[A.nnz - 1] += e->val[k];
  }
  for (int i = 0; i < rows; i++) A.ptr[i + 1] += A.ptr[i];
  return A;
}

static inline void mtx_header(FILE *f, const char *path, int *pattern, int *symmetric,
                              int *complex_parts) {
  char line[1024], object[64], layout[64], field[64], symmetry[64];
  if (!fgets(line, sizeof line, f) ||
      sscanf(line, "%%%%MatrixMarket %63s %63s %63s %63s", object, layout, field, symmetry) != 4)
    mtx_fail(path, "not a Matrix Market file");
  *pattern = !strcasecmp(field, "pattern");
  *symmetric = !strcasecmp(symmetry, "symmetric");
  if (strcasecmp(layout, "coordinate")) mtx_fail(path, "only coordinate files");
  *complex_parts = !strcasecmp(field, "complex");
  if (!*pattern && !*complex_parts && strcasecmp(field, "real") && strcasecmp(field, "integer"))
    mtx_fail(path, "only real, complex, integer or pattern files");
  if (!*symmetric && strcasecmp(symmetry, "general"))
    mtx_fail(path, "only general or symmetric files");
}

static inline mtx mtx_load(const char *path) {
  FILE *f = fopen(path, "r");
  char line[1024] = "%";
  int pattern, symmetric, parts, rows, cols, stored;
  if (!f) mtx_fail(path, "cannot be opened");
  mtx_header(f, path, &pattern, &symmetric, &parts);
  while (line[0] == '%' || line[strspn(line, " \t\r\n")] == 0)
    if (!fgets(line, sizeof line, f)) mtx_fail(path, "no size line");
  if (sscanf(line, "%d %d %d", &rows, &cols, &stored) != 3 || stored < 0 ||
      (symmetric && rows != cols))
    mtx_fail(path, "a wrong size line");

  mtx_entries e = mtx_entries_new((size_t)stored * (symmetric ? 2 : 1));
  for (int k = 0; k < stored; k++) {
    int i, j;
    double v = 1, im;
    if (fscanf(f, "%d %d", &i, &j) != 2 || (!pattern && fscanf(f, "%lf", &v) != 1) ||
        (parts && fscanf(f, "%lf", &im) != 1) || i < 1 || j < 1 || i > rows || j > cols)
      mtx_fail(path, "an entry is missing or out of range");
    for (int half = 0; half < 1 + (symmetric && i != j); half++) {
      e.row[e.count] = (half ? j : i) - 1;
      e.col[e.count] = (half ? i : j) - 1;
      e.val[e.count++] = v;
    }
  }
  fclose(f);
  mtx_entries by_col = mtx_sorted(&e, e.col, cols);
  mtx_entries_free(&e);
  mtx_entries by_row = mtx_sorted(&by_col, by_col.row, rows);
  mtx_entries_free(&by_col);
  mtx A = mtx_from_sorted(&by_row, rows);
  mtx_entries_free(&by_row);
  A.cols = cols;
  A.symmetric = symmetric;
  A.complex = parts;
  return A;
}

static inline mtx mtx_read(const char *path) {
  mtx A = mtx_load(path);
  if (A.rows != A.cols || A.complex) mtx_fail(path, "not a square matrix of real numbers");
  return A;
}

static inline void mtx_free(mtx *A) {
  free(A->ptr);
  free(A->col);
  free(A->val);
}

#endif
