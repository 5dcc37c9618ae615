/* Time to read a Matrix Market file: an fscanf loop as in NIST's examples against kcl_csr_read, on one
 * thread, on all, and from two kinds of .gz: several members, as krylocl writes, and one, as gzip does.
 * The file (27-point stencil, random values of 17 digits, about 200 MB; `read 20`: 20 MB) is in the page
 * cache. Each reader runs RUNS times in its own process. The table shows the first time (which
 * may include page faults of a virtual machine), the median, the minimum, and the peak memory relative
 * to the size of the CSR arrays.
 *
 *   read [megabytes] [general|symmetric]
 */
#include "krylocl.h"
#include "krylocl/io.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 7 };
typedef struct result {
  double first, median, min; /* seconds */
  double peak, csr;          /* bytes */
} result;
typedef int way(kcl_context *ctx, const char *path, double *csr_bytes);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The 27-point stencil on a cube of n^3 cells with random values in (-1, 1). */
static int make_matrix(kcl_context *ctx, int n, bool symmetric, kcl_csr **out) {
  int64_t rows = (int64_t)n * n * n, k = 0;
  int rc = kcl_csr_create(ctx, rows, rows, 27 * rows, KCL_D, out);
  if (rc) return rc;
  kcl_csr *A = *out;
  for (int64_t i = 0; i < rows; i++) {
    int z = (int)(i / n / n), y = (int)(i / n % n), x = (int)(i % n);
    for (int s = 0; s < 27; s++) {
      int a = z + s / 9 - 1, b = y + s / 3 % 3 - 1, c = x + s % 3 - 1;
      if (a < 0 || b < 0 || c < 0 || a >= n || b >= n || c >= n) continue;
      A->col[k] = (int32_t)(((int64_t)a * n + b) * n + c);
      ((double *)A->val)[k++] = 2 * drand48() - 1;
    }
    A->row_ptr[i + 1] = k;
  }
  A->nnz = k, A->symmetry = symmetric ? KCL_SYMMETRIC : KCL_GENERAL;
  return KCL_OK;
}

/* The usual loop: three arrays of coordinates, without conversion to CSR. */
static int by_fscanf(kcl_context *ctx, const char *path, double *csr_bytes) {
  (void)ctx, (void)csr_bytes;
  char line[1024];
  long rows, cols, n;
  FILE *f = fopen(path, "r");
  if (!f) return 1;
  do
    if (!fgets(line, sizeof line, f)) return 1;
  while (line[0] == '%');
  if (sscanf(line, "%ld %ld %ld", &rows, &cols, &n) != 3) return 1;
  int *row = malloc((size_t)n * sizeof *row), *col = malloc((size_t)n * sizeof *col);
  double *val = malloc((size_t)n * sizeof *val);
  for (long k = 0; k < n; k++, row[k - 1]--, col[k - 1]--)
    if (fscanf(f, "%d %d %lg\n", &row[k], &col[k], &val[k]) != 3) return 1;
  free(row), free(col), free(val);
  return fclose(f);
}

static int by_krylocl(kcl_context *ctx, const char *path, double *csr_bytes) {
  kcl_csr *A = NULL;
  int rc = kcl_csr_read(ctx, path, &A);
  if (rc) return fprintf(stderr, "%s\n", kcl_error()), rc;
  *csr_bytes = 8.0 * (double)(A->rows + 1) + 12.0 * (double)A->nnz;
  kcl_csr_free(&A);
  return KCL_OK;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int measure(way *one, const char *path, int threads, result *r) {
  kcl_context *ctx = NULL;
  int rc = kcl_context_create(NULL, 0, &ctx);
  if (threads) setenv("OMP_NUM_THREADS", "1", 1);
  double seconds[RUNS] = {0};
  for (int i = 0; i < RUNS && !rc; i++) {
    double t = now();
    rc = one(ctx, path, &r->csr);
    seconds[i] = now() - t;
  }
  r->first = seconds[0];
  qsort(seconds, RUNS, sizeof *seconds, compare);
  r->min = seconds[0], r->median = seconds[RUNS / 2];
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  r->peak = 1024.0 * (double)use.ru_maxrss;
  kcl_context_free(&ctx);
  return rc;
}

/* In a child process, for its own peak memory. The parent has not counted its threads yet. */
static int in_child(way *one, const char *path, int threads, result *r) {
  int ends[2], state;
  if (pipe(ends)) return 1;
  pid_t child = fork();
  if (child == 0) {
    int rc = measure(one, path, threads, r);
    _exit(write(ends[1], r, sizeof *r) == sizeof *r ? rc : 1);
  }
  close(ends[1]);
  bool good = read(ends[0], r, sizeof *r) == sizeof *r;
  close(ends[0]);
  waitpid(child, &state, 0);
  return good && state == 0 ? 0 : 1;
}

/* Writes the files in a child process, so that the threads of this one are not counted yet. */
static int make_files(const char *plain, const char *packed, int n, bool symmetric) {
  int state;
  pid_t child = fork();
  if (child == 0) {
    kcl_context *ctx = NULL;
    kcl_csr *A = NULL;
    int rc = kcl_context_create(NULL, 0, &ctx);
    if (!rc) rc = make_matrix(ctx, n, symmetric, &A);
    double t = now();
    if (!rc) rc = kcl_csr_write(ctx, plain, A);
    printf("written in %.2f s", now() - t), t = now();
    if (!rc) rc = kcl_csr_write(ctx, packed, A);
    printf(", as .gz in %.2f s\n", now() - t);
    if (rc) printf("%s\n", kcl_error());
    fflush(stdout);
    _exit(rc);
  }
  waitpid(child, &state, 0);
  return state;
}

static int gzip(const char *plain, const char *single) {
  char command[160];
  snprintf(command, sizeof command, "gzip -c %s > %s", plain, single);
  return system(command);
}

static void show(const char *name, const result *r, double bytes, double slowest, double csr) {
  printf("| %-26s | %6.3f | %6.3f | %6.3f | %6.0f | %5.1f | %5.2f |\n", name, r->first, r->median,
         r->min, bytes / r->min * 1e-6, slowest / r->min, r->peak / csr);
}

static int run(const char *plain, const char *packed, const char *single, int n, bool symmetric) {
  result scan = {0}, one = {0}, all = {0}, gz = {0}, gz_one = {0}, gz_single = {0};
  struct stat text, small;
  if (make_files(plain, packed, n, symmetric) || stat(plain, &text) || stat(packed, &small) ||
      in_child(by_fscanf, plain, 1, &scan) || in_child(by_krylocl, plain, 1, &one) ||
      in_child(by_krylocl, plain, 0, &all) || in_child(by_krylocl, packed, 1, &gz_one) ||
      in_child(by_krylocl, packed, 0, &gz) || gzip(plain, single) ||
      in_child(by_krylocl, single, 0, &gz_single))
    return 1;
  double bytes = (double)text.st_size;
  printf("%.0f MB (.gz %.0f MB), %s, CSR %.0f MB\n\n", bytes * 1e-6, (double)small.st_size * 1e-6,
         symmetric ? "symmetric" : "general", one.csr * 1e-6);
  printf("| reader                     | first  | median |  min s |   MB/s | ratio | peak/CSR |\n");
  printf("| --- | --- | --- | --- | --- | --- | --- |\n");
  show("fscanf to coordinates", &scan, bytes, scan.min, one.csr);
  show("krylocl to CSR, 1 thread", &one, bytes, scan.min, one.csr);
  show("krylocl to CSR, all", &all, bytes, scan.min, one.csr);
  show("krylocl .gz to CSR, 1", &gz_one, bytes, scan.min, one.csr);
  show("krylocl .gz to CSR, all", &gz, bytes, scan.min, one.csr);
  show("gzip's .gz to CSR, all", &gz_single, bytes, scan.min, one.csr);
  return 0;
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/krylocl-bench-XXXXXX", plain[64], packed[64], single[64];
  double megabytes = argc > 1 ? atof(argv[1]) : 200;
  bool symmetric = !(argc > 2 && strcmp(argv[2], "general") == 0);
  int n = 5;
  while (27.0 * n * n * n * 34e-6 * (symmetric ? 0.52 : 1) < megabytes) n++;
  if (!mkdtemp(folder)) return 1;
  snprintf(plain, sizeof plain, "%s/A.mtx", folder);
  snprintf(packed, sizeof packed, "%s/A.mtx.gz", folder);
  snprintf(single, sizeof single, "%s/B.mtx.gz", folder);
  int rc = run(plain, packed, single, n, symmetric);
  unlink(plain), unlink(packed), unlink(single), rmdir(folder);
  return rc ? 1 : 0;
}
