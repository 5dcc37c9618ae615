/* CG on the native executor and on an OpenCL device, the same system in the same format, interleaved in one
 * process: make build/bench/executors && build/bench/executors DEVICE FORMAT[,FORMAT...] SYSTEM...
 * SYSTEM is a file or a generated system (poisson3d:100). Every product is validated before it is timed.
 * Prints the median and minimum time per iteration of both, in microseconds, and their ratios.
 */
#include "krylocl.h"
#include "krylocl/bench.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, ITERATIONS = 20 };

static int ascending(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return d < 0 ? -1 : d > 0;
}

static int fail(void) { return fprintf(stderr, "executors: %s\n", kcl_error()), 1; }

static int sample_solver(kcl_solver *s, double *seconds) {
  const kcl_bench_plan plan = {.iterations = ITERATIONS, .samples = 1, .noise = -1};
  kcl_bench_row row;
  if (kcl_bench_solver(s, &plan, &row)) return fail();
  const bool valid = row.validated;
  if (valid) *seconds = row.iteration.seconds[0];
  kcl_bench_free(&row);
  return valid ? 0 : (fprintf(stderr, "executors: wrong product\n"), 1);
}

static int set_up(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_solver **s) {
  kcl_matrix *M = NULL;
  int rc = kcl_matrix_lend(ctx, A, &M);
  if (!rc) rc = kcl_solver_create(M, NULL, o, s);
  kcl_matrix_free(&M);
  return rc ? fail() : 0;
}

static int compare_executors(kcl_context *ctx[2], const kcl_csr *A, const char *system,
                             const char *format) {
  kcl_solver *s[2] = {NULL, NULL};
  kcl_options o;
  kcl_options_init(&o);
  o.precond = "none";
  double sample[2][ROUNDS];
  int rc = 0;
  o.format = format, o.precision = A->type;
  for (int e = 0; e < 2 && !rc; e++) rc = set_up(ctx[e], A, &o, &s[e]);
  for (int i = 0; i < ROUNDS && !rc; i++)
    for (int e = 0; e < 2 && !rc; e++) rc = sample_solver(s[e], &sample[e][i]);
  if (!rc) {
    for (int e = 0; e < 2; e++) qsort(sample[e], ROUNDS, sizeof **sample, ascending);
    const double *a = sample[0], *b = sample[1];
    printf("%-20s %-11s %10.1f %10.1f %10.1f %10.1f %8.2f %8.2f\n", system, format,
           a[ROUNDS / 2] * 1e6, a[0] * 1e6, b[ROUNDS / 2] * 1e6, b[0] * 1e6,
           b[ROUNDS / 2] / a[ROUNDS / 2], b[0] / a[0]);
    fflush(stdout);
  }
  for (int e = 0; e < 2; e++) kcl_solver_free(&s[e]);
  return rc;
}

int main(int argc, char **argv) {
  kcl_context *ctx[2] = {NULL, NULL};
  if (argc < 4) return fprintf(stderr, "usage: executors DEVICE FORMAT[,FORMAT...] SYSTEM...\n"), 2;
  if (kcl_context_create(NULL, 0, &ctx[0]) || kcl_context_create(NULL, 0, &ctx[1])) return 5;
  if (kcl_select(ctx[0], "cpu", 0)) return fail();
  if (kcl_select(ctx[1], argv[1], 0)) return fail();
  printf("%-20s %-11s %21s %21s %17s\n", "system", "format", "native us (min)", "opencl us (min)",
         "ratio (of min)");
  int rc = 0;
  for (int i = 3; i < argc && !rc; i++) {
    kcl_csr *A = NULL;
    char list[256];
    bool file = strstr(argv[i], ".mtx") != NULL;
    if (file ? kcl_csr_read(ctx[0], argv[i], &A) : kcl_generate(ctx[0], argv[i], &A, NULL))
      return fail();
    snprintf(list, sizeof list, "%s", argv[2]);
    const char *slash = strrchr(argv[i], '/');
    for (char *f = strtok(list, ","); f && !rc; f = strtok(NULL, ","))
      rc = compare_executors(ctx, A, slash ? slash + 1 : argv[i], f);
    kcl_csr_free(&A);
  }
  kcl_context_free(&ctx[0]), kcl_context_free(&ctx[1]);
  return rc;
}
