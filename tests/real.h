/* The matrices of the folder KRYLOCL_MATRICES (default ../shared/matrices; its INDEX.tsv says what there
 * is), for the programs real*:
 *
 *   real            those with up to 21,000 nonzeros, 60,000 with KRYLOCL_THOROUGH=1, 6,000 with sanitizers: a part of make check
 *   real N | all    up to N nonzeros; every one
 *   real NAME       that one
 */
#ifndef KCL_REAL_H
#define KCL_REAL_H
#include "tests/conform.h"
#include <math.h>

static bool everything; /* asked for by an argument */

typedef struct entry {
  char name[64], rhs[80];
  int64_t rows, cols, nnz;
  bool definite;
} entry;

static inline const char *folder(void) {
  const char *f = getenv("KRYLOCL_MATRICES");
  return f && *f ? f : "../shared/matrices";
}

static inline const char *path_of(const char *file, const char *suffix) {
  static char path[600];
  snprintf(path, sizeof path, "%s/%s%s", folder(), file, suffix);
  return path;
}

/* The fields of INDEX.tsv that matter here; false at the heading. */
static inline bool parse(char *line, entry *e) {
  char *field[16] = {0};
  for (int i = 0; i < 13 && line; i++) field[i] = strsep(&line, "\t\n");
  if (!field[10] || !strcmp(field[0], "name")) return false;
  snprintf(e->name, sizeof e->name, "%s", field[0]);
  snprintf(e->rhs, sizeof e->rhs, "%s", strcmp(field[10], "-") ? field[10] : "");
  e->rows = atoll(field[1]), e->cols = atoll(field[2]), e->nnz = atoll(field[4]);
  e->definite = !strcmp(field[7], "yes");
  return true;
}

/* b from its own file, in A's type. */
static inline bool given_side(kcl_context *ctx, const entry *e, const kcl_csr *A, double *b) {
  kcl_dense *B = NULL, *C = NULL;
  bool good = CHECKF(!kcl_dense_read(ctx, path_of(e->rhs, ""), &B) &&
                         !kcl_dense_convert(ctx, B, A->type, &C) && C->rows == A->rows,
                     "%s: %s", e->rhs, kcl_error());
  if (good) memcpy(b, C->val, (size_t)A->rows * kcl_type_size(A->type));
  kcl_dense_free(&B), kcl_dense_free(&C);
  return good;
}

/* conf5 is the hopping matrix D of a fermion; its system is I - k D (Frommer et al. 1995), k below critical. */
static inline void fermion(kcl_csr **matrix) {
  kcl_csr *D = *matrix, *A = NULL;
  const double k = 0.15;
  if (!CHECK(!kcl_csr_create(places[0].ctx, D->rows, D->cols, D->nnz + D->rows, KCL_Z, &A))) return;
  number *to = A->val, *from = D->val;
  int64_t q = 0;
  for (int64_t i = 0; i < D->rows; i++) {
    bool placed = false; /* D has no diagonal */
    for (int64_t j = D->row_ptr[i]; j < D->row_ptr[i + 1]; j++) {
      if (!placed && D->col[j] > i) to[q] = 1, A->col[q++] = (int32_t)i, placed = true;
      to[q] = -k * from[j], A->col[q++] = D->col[j];
    }
    if (!placed) to[q] = 1, A->col[q++] = (int32_t)i;
    A->row_ptr[i + 1] = q;
  }
  kcl_csr_free(&D);
  *matrix = A;
}

static inline int for_each_matrix(int argc, char **argv, void (*test)(const entry *e)) {
  const int64_t some = sanitized() ? 6000 : thorough() ? 60000 : 21000;
  int64_t most = argc < 2 ? some : atoll(argv[1]), larger = 0;
  if (argc > 1 && !most) most = INT64_MAX;
  const char *only = argc > 1 && most == INT64_MAX && strcmp(argv[1], "all") ? argv[1] : NULL;
  char line[4096];
  entry e;
  everything = argc > 1;
  FILE *f = fopen(path_of("INDEX.tsv", ""), "r");
  if (!f) {
    skip("real matrices: no folder %s (set KRYLOCL_MATRICES)", folder());
    return check_report();
  }
  open_places();
  while (fgets(line, sizeof line, f)) {
    if (!parse(line, &e) || (only && strcmp(only, e.name))) continue;
    if (e.nnz <= most)
      test(&e);
    else
      larger++;
  }
  fclose(f), close_places();
  if (larger)
    skip("%lld matrices with more than %lld nonzeros", (long long)larger, (long long)most);
  return check_report();
}
#endif
