/* Reading and writing on several ranks: what kcl_mpi_read, kcl_mpi_generate and kcl_mpi_dense_read give a rank is, bit for
 * bit, its rows of what one process reads; rows are cut where KCL_MPI_ROOT cuts them, and the answer has the same bits; files of
 * kcl_mpi_dense_write are those of kcl_dense_write; errors are those of one process, on every rank.
 * usage: read_mpi FOLDER */
#include "krylocl_mpi.h"
#include "tests/calls.h"
#include "tests/mpi/totals.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static const char *folder;
static kcl_context *ctx, *one;

static const char *path_of(const char *name) {
  static char path[2][512];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static void put(const char *name, const char *text) {
  if (!rank) CHECKF(!kcl_file_write(one, path_of(name), text, strlen(text)), "%s", kcl_error());
  MPI_Barrier(MPI_COMM_WORLD);
}

/* NAME.gz beside the file, which rank 0 unpacks for all; NULL: there is no gzip. */
static const char *packed(const char *name) {
  static char text[600];
  int rc = 0;
  snprintf(text, sizeof text, "gzip -kf '%s'", path_of(name));
  if (!rank) rc = system(text);
  MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(text, sizeof text, "%s.gz", name);
  if (rc && !rank) skip("%s: no gzip", text);
  return rc ? NULL : text;
}

/* ---------------------------------------------------------------- matrices */

static bool same_rows(const kcl_csr *A, int64_t first, const kcl_csr *own) {
  const size_t size = kcl_type_size(A->type);
  const int64_t from = A->row_ptr[first], n = A->row_ptr[first + own->rows] - from;
  if (own->type != A->type || own->cols != A->cols || own->nnz != n) return false;
  if (own->symmetry != A->symmetry || own->field != A->field) return false;
  for (int64_t i = 0; i <= own->rows; i++)
    if (own->row_ptr[i] != A->row_ptr[first + i] - from) return false;
  return !n || (!memcmp(own->col, A->col + from, (size_t)n * sizeof *A->col) &&
                !memcmp(own->val, (char *)A->val + (size_t)from * size, (size_t)n * size));
}

static bool same_columns(const kcl_dense *B, int64_t first, const kcl_dense *own) {
  if (!B || !own) return B == NULL && own == NULL;
  const size_t size = kcl_type_size(B->type);
  bool same = B->type == own->type && B->cols == own->cols;
  for (int64_t j = 0; j < B->cols && same; j++)
    same = !memcmp((char *)own->val + (size_t)(j * own->rows) * size,
                   (char *)B->val + (size_t)(j * B->rows + first) * size, (size_t)own->rows * size);
  return same;
}

/* Where KCL_MPI_ROOT cuts, and its x. */
static void check_root(const char *what, const kcl_csr *A, const kcl_dense *b,
                       const kcl_mpi_part *part) {
  kcl_options o = kcl_defaults;
  kcl_solver *root = NULL, *rows = NULL;
  kcl_mpi_share *list = NULL;
  int count;
  double *x = calloc((size_t)A->rows * 2, sizeof *x), *own = calloc((size_t)A->rows * 2, sizeof *x);
  const size_t size = kcl_type_size(A->type);
  o.solver = "gmres", o.precond = "none", o.max_iter = 20;
  o.precision = A->type;
  CHECKF(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &root) &&
             !kcl_mpi_shares(root, &list, &count),
         "%s: %s", what, kcl_error());
  if (list)
    CHECKF(list[rank].first_row == part->first_row && list[rank].rows == part->A->rows,
           "%s: rank %d begins at row %lld, with KCL_MPI_ROOT at %lld", what, rank,
           (long long)part->first_row, (long long)list[rank].first_row);
  CHECKF(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, part->A, KCL_MPI_ROWS, &o, &rows), "%s: %s", what,
         kcl_error());
  CHECK(!kcl_solve_one(root, rank ? NULL : b->val, rank ? NULL : x, NULL));
  CHECK(!kcl_solve_one(rows, part->b->val, own, NULL));
  MPI_Bcast(x, (int)((size_t)A->rows * size), MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECKF(!memcmp(own, (char *)x + (size_t)part->first_row * size, (size_t)part->A->rows * size),
         "%s: bits of x", what);
  kcl_solver_free(&root), kcl_solver_free(&rows);
  free(list), free(x), free(own);
}

/* cuts: the file has no duplicates, so rows are cut where KCL_MPI_ROOT cuts them. */
static void check_part(const char *what, int rc, const kcl_csr *A, const kcl_dense *b,
                       const kcl_dense *x0, kcl_mpi_part *part, bool cuts) {
  if (!CHECKF(!rc && A, "%s: %s", what, kcl_error())) return;
  CHECKF(part->rows == A->rows && part->nonzeros == A->nnz && part->stored == A->stored,
         "%s: %lld rows, %lld nonzeros of %lld", what, (long long)part->rows,
         (long long)part->nonzeros, (long long)part->stored);
  CHECKF(same_rows(A, part->first_row, part->A), "%s: rows of rank %d", what, rank);
  CHECKF(same_columns(b, part->first_row, part->b), "%s: b of rank %d", what, rank);
  CHECKF(same_columns(x0, part->first_row, part->x0), "%s: x0 of rank %d", what, rank);
  if (cuts && b && ranks > 1) check_root(what, A, b, part);
}

static void file(const char *name, bool cuts) {
  kcl_mpi_part part;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL, *x0 = NULL;
  CHECKF(!kcl_csr_read_system(one, path_of(name), &A, &b, &x0), "%s", kcl_error());
  const int rc = kcl_mpi_read(ctx, MPI_COMM_WORLD, path_of(name), &part);
  check_part(name, rc, A, b, x0, &part, cuts);
  kcl_csr_free(&A), kcl_dense_free(&b), kcl_dense_free(&x0), kcl_mpi_part_free(&part);
}

static void generated(const char *name) {
  kcl_mpi_part part;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  CHECKF(!kcl_generate(one, name, &A, &b), "%s", kcl_error());
  check_part(name, kcl_mpi_generate(ctx, MPI_COMM_WORLD, name, &part), A, b, NULL, &part, true);
  kcl_csr_free(&A), kcl_dense_free(&b), kcl_mpi_part_free(&part);
}

/* A system in other files; the matrix market file of a symmetric one is its lower half. */
static void written(const char *kind, const char *const *names) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  CHECK(!kcl_generate(one, kind, &A, &b));
  for (int i = 0; names[i]; i++) {
    if (!rank) CHECKF(!kcl_csr_write_system(one, path_of(names[i]), A, b, b), "%s", kcl_error());
    MPI_Barrier(MPI_COMM_WORLD);
    file(names[i], true);
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
}

static const char general[] =
    "%%MatrixMarket matrix coordinate real general\n% a comment\n\n5 5 9\n"
    "5 1 1e-3\n1 1 4\n% between\n2 2 .1\n2 2 .2\n4 4 1\n2 2 .3\n"
    "3 3 -2\n5 5 7\n1 5 2.5";
static const char skew[] = "%%MatrixMarket matrix coordinate real skew-symmetric\n6 6 7\n"
                           "2 1 0\n6 1 .1\n3 2 1\n4 3 2\n6 1 .7\n6 1 .3\n6 5 1\n";
static const char hermitian[] = "%%MatrixMarket matrix coordinate complex hermitian\n4 4 5\n"
                                "1 1 2 0\n4 1 1 -1\n2 2 3 0\n4 1 .3 .1\n3 3 1 0\n";
static const char pattern[] = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n"
                              "1 1\n4 4\n4 2\n3 3\n";
static const char plain[] = "# sizes\n4 4 5\n1 1 1\n2 2 2\n4 1 3\n3 3 3\n4 4 4\n";
static const char array[] =
    "%%MatrixMarket matrix array integer general\n4 4\n1\n2\n3\n4\n5\n6\n7\n8\n"
    "9\n10\n11\n12\n13\n14\n15\n16\n";
static const char lists[] = "4 4 4\nrow 1: (1, 2) \nrow 2: (2, 3)\nrow 3: (3,4)\nrow 4: (4,5)\n";

/* Lines that end where pages and blocks of the parser do: none is lost when unpacked text is released. */
static void aligned(void) {
  enum { HEAD = 4096, LINE = 16, LINES = 200000 };
  char *text = malloc(HEAD + LINE * LINES + 1), *p = text;
  p += sprintf(p, "%%%%MatrixMarket matrix coordinate real general\n%%");
  memset(p, '-', HEAD), p = text + HEAD - 22;
  sprintf(p, "\n%6d %6d %6d\n", LINES, LINES, LINES);
  p = text + HEAD;
  for (int i = 1; i <= LINES; i++) p += sprintf(p, "%6d %6d 1\n", i, i);
  put("aligned.mtx", text), file("aligned.mtx", true);
  const char *gz = packed("aligned.mtx");
  if (gz) file(gz, true);
  free(text);
}

static void matrices(void) {
  static const struct {
    const char *name, *text;
    bool duplicates;
  } small[] = {{"general.mtx", general, true},     {"skew.mtx", skew, true},
               {"hermitian.mtx", hermitian, true}, {"pattern.mtx", pattern, false},
               {"plain.coo", plain, false},        {"array.mtx", array, false},
               {"lists.rows", lists, false}};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
    put(small[i].name, small[i].text);
    file(small[i].name, !small[i].duplicates);
    const char *gz = packed(small[i].name);
    if (gz) file(gz, !small[i].duplicates);
  }
  written("poisson2d:30", (const char *const[]){"p.mtx", "p.kcl", "p.rb", "p.mtx.gz", NULL});
  written("magnetic:12", (const char *const[]){"m.mtx", "m.kcl", NULL});
  /* Several blocks on each rank. */
  written("convection:180", (const char *const[]){"c.mtx", "c.mtx.gz", NULL});
  aligned();
  static const char *const kinds[] = {"poisson2d:9",  "poisson3d:5",      "hpcg:5",
                                      "jump2d:20",    "jump3d:9",         "aniso2d:8",
                                      "aniso3d:4",    "convection:7x9",   "convection:5x4x3",
                                      "magnetic:6x5", "helmholtz:7",      "random-normal:300x5x2",
                                      "powerlaw:200", "poisson2d:300x301"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) generated(kinds[i]);
}

/* ---------------------------------------------------------------- vectors */

static bool same_files(const char *a, const char *b) {
  FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
  int c = f && g ? 0 : -2;
  while (c >= 0 && (c = getc(f)) == getc(g)) continue;
  const bool same = c == EOF && feof(f) && feof(g);
  if (f) fclose(f);
  if (g) fclose(g);
  return same;
}

static void vector(const char *name, int64_t first, int64_t rows) {
  kcl_dense *whole = NULL, *own = NULL;
  CHECKF(!kcl_dense_read(one, path_of(name), &whole), "%s", kcl_error());
  const int rc = kcl_mpi_dense_read(ctx, MPI_COMM_WORLD, path_of(name), rows, &own);
  if (CHECKF(!rc && whole, "%s: %s", name, kcl_error())) {
    CHECKF(same_columns(whole, first, own), "%s: rows of rank %d", name, rank);
    CHECKF(!kcl_mpi_dense_write(ctx, MPI_COMM_WORLD, path_of("x.mtx"), own), "%s", kcl_error());
    if (!rank) CHECK(!kcl_dense_write(one, path_of("y.mtx"), whole));
    if (!rank) CHECKF(same_files(path_of("x.mtx"), path_of("y.mtx")), "%s: written", name);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  kcl_dense_free(&whole), kcl_dense_free(&own);
}

static void vectors(void) {
  const int64_t n = 16, first = n * rank / ranks, rows = n * (rank + 1) / ranks - first;
  static const char header[] = "%%MatrixMarket matrix array real general\n16 3\n";
  char text[4096];
  size_t at = (size_t)snprintf(text, sizeof text, "%s", header);
  for (int i = 0; i < 48; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%.17g\n", i % 5 ? "" : "-", i / 7.0);
  put("v.mtx", text), vector("v.mtx", first, rows);
  put("v.rhs", "1 2 3\n# between\n4\n\n5 6 7 8 9\n10 11 12\n13\n14 -0\n16"),
      vector("v.rhs", first, rows);
  put("w.mtx", "%%MatrixMarket matrix coordinate complex general\n16 2 4\n"
               "16 1 1 2\n3 2 .1 .2\n3 2 .2 .3\n1 1 5 6\n");
  vector("w.mtx", first, rows);
  const char *const names[] = {"v.mtx", "v.rhs", "w.mtx"};
  for (int i = 0; i < 3; i++) {
    const char *gz = packed(names[i]);
    if (gz) vector(gz, first, rows);
  }
}

/* ---------------------------------------------------------------- errors */

/* The message of one process, on every rank. */
static void refused(const char *name, const char *text) {
  kcl_mpi_part part;
  kcl_csr *A = NULL;
  char message[4096];
  if (text) put(name, text);
  const int alone = kcl_csr_read(one, path_of(name), &A);
  snprintf(message, sizeof message, "%s", kcl_error());
  const int rc = kcl_mpi_read(ctx, MPI_COMM_WORLD, path_of(name), &part);
  CHECKF(rc && rc == alone && !strcmp(kcl_error(), message) && !part.A,
         "%s: %d, %s; one process: %d, %s", name, rc, kcl_error(), alone, message);
  kcl_csr_free(&A);
}

static void errors(void) {
  char text[4096];
  size_t at = (size_t)snprintf(text, sizeof text,
                               "%%%%MatrixMarket matrix coordinate real general\n99 99 99\n");
  for (int i = 1; i <= 99; i++)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           i == 40 || i == 80 ? "%d x 1\n" : "%d 1 2\n", i);
  refused("bad.mtx", text);
  if (packed("bad.mtx")) refused("bad.mtx.gz", NULL);
  *strstr(text, "40 x") = '%', *strstr(text, "80 x") = '%';
  refused("few.mtx", text);
  refused("none.mtx", NULL);
  refused("head.mtx", "%%MatrixMarket matrix coordinate real\n");
  refused("size.mtx", "%%MatrixMarket matrix coordinate real general\n3 x 3\n");
  refused("words", "no matrix at all\n");
  MPI_Barrier(MPI_COMM_WORLD); /* the file is mapped */
  if (!rank) CHECK(!truncate(path_of("p.kcl"), 5000));
  MPI_Barrier(MPI_COMM_WORLD);
  refused("p.kcl", NULL);
  if (ranks == 1) return;
  kcl_mpi_part part;
  put("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  const int rc = kcl_mpi_read(ctx, MPI_COMM_WORLD, path_of("one.mtx"), &part);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), "1 rows on"), "%s", kcl_error());
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  folder = argc > 1 ? argv[1] : ".";
  kcl_context_create(NULL, 0, &ctx), kcl_context_create(NULL, 0, &one);
  CHECKF(!kcl_mpi_select(ctx, MPI_COMM_WORLD, "cpu"), "%s", kcl_error());
  matrices(), vectors();
  CHECK(!kcl_mpi_set_weight(ctx, 1 + 2 * rank));
  file("p.mtx", true), file("p.kcl", true), generated("poisson3d:6");
  errors();
  kcl_context_free(&ctx), kcl_context_free(&one);
  return report_of_ranks();
}
