/* Updates beside set-ups, by turns in one process: the 5-point Laplacian on m x m points whose couplings grow by random factors of up to
 * a tenth, other ones in each round. One solver is freed and created, another one updated, and both iterate a few times. Prints a row of the
 * table of bench/update.sh: rows, preconditioner, medians over the rounds of milliseconds of processor time for set-up, update
 * and their ratio, and of page faults. The status is 1 where x has other bits after an update than after a set-up, unless interpolations
 * of earlier values are kept.
 *
 *   update POINTS ROUNDS OPTIONS [KEEP]    KEEP: a KCL_KEEP_..., 2 by default; OMP_NUM_THREADS=1 for comparable times
 */
#define _POSIX_C_SOURCE 200809L
#include "processor.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_ROUNDS = 1000 };

typedef struct sample {
  double seconds[MOST_ROUNDS], faults[MOST_ROUNDS];
} sample;

typedef struct laplacian {
  int m;
  int64_t *start; /* [m^2 + 1] */
  int32_t *col;   /* [5 m^2] */
  double *val;    /* [5 m^2] */
} laplacian;

static double page_faults(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)u.ru_minflt;
}

/* Between 1 and 1.1, of the coupling of points i and j in this round. */
static double growth(int64_t i, int64_t j, int round) {
  uint64_t h = (uint64_t)(i < j ? i : j) * 4 + (uint64_t)(i < j ? j - i == 1 : i - j == 1);
  h = (h + (uint64_t)round * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 31) * 0x94d049bb133111ebu;
  return 1 + 0.1 * (double)(h >> 11) * 0x1p-53;
}

/* The rows of one round; outside is 0, so that rows at the border dominate their diagonal. */
static void fill_system(laplacian *s, int round) {
  const int m = s->m;
  int64_t k = 0;
  for (int64_t i = 0; i < (int64_t)m * m; i++) {
    const int64_t step[5] = {-m, -1, 0, 1, m};
    const bool inside[5] = {i >= m, i % m > 0, true, i % m < m - 1, i < (int64_t)m * (m - 1)};
    int64_t diagonal = 0;
    double sum = 0;
    s->start[i] = k;
    for (int d = 0; d < 5; d++) {
      if (!inside[d]) continue;
      s->col[k] = (int32_t)(i + step[d]);
      if (d == 2)
        diagonal = k;
      else
        sum += growth(i, i + step[d], round), s->val[k] = -growth(i, i + step[d], round);
      k++;
    }
    s->val[diagonal] = sum + (k - s->start[i] < 5);
  }
  s->start[(int64_t)m * m] = k;
}

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *of, int count) {
  static double sorted[MOST_ROUNDS];
  memcpy(sorted, of, (size_t)count * sizeof *of);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Iterations stop early: pages of the solve's vectors have been touched then, as in use. */
static void solve_rhs(kcl_solver *s, const double *b, double *x, int64_t n) {
  kcl_result r = {.size = sizeof r};
  memset(x, 0, (size_t)n * sizeof *x);
  must(kcl_solve_array(s, b, x, &r));
}

/* The row of the table; the status of the program. */
static int report(const laplacian *l, kcl_solver *s, const char *options, int rounds,
                  const sample *setup, const sample *update, const double *ratio, int different) {
  const char *precond = kcl_solver_text(s, "precond");
  const bool interpolates = !strcmp(precond, "sa") || !strncmp(precond, "amg", 3);
  printf("| %d | `%s` | %s, %s | %.2f | %.2f | %.3f | %.0f | %.0f |\n", l->m * l->m, options,
         precond, kcl_solver_text(s, "format"), 1e3 * median(setup->seconds, rounds),
         1e3 * median(update->seconds, rounds), median(ratio, rounds),
         median(setup->faults, rounds), median(update->faults, rounds));
  if (different && !interpolates)
    fprintf(stderr, "other bits in %d of %d rounds\n", different, rounds);
  return different && !interpolates;
}

static double *make_rhs(int64_t n) {
  double *b = malloc((size_t)n * sizeof *b);
  for (int64_t i = 0; i < n; i++) b[i] = 1 + (double)(i % 3);
  return b;
}

static kcl_entries entries_of(const laplacian *l, int64_t n) {
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = n,
                       .cols = n,
                       .nnz = l->start[n],
                       .row = l->start,
                       .col = l->col,
                       .val = l->val,
                       .layout = KCL_CSR,
                       .row_bits = 64,
                       .col_bits = 32,
                       .type = 'd'};
}

int main(int argc, char **argv) {
  if (argc < 4) return fprintf(stderr, "usage: update POINTS ROUNDS OPTIONS [KEEP]\n"), 2;
  const int m = atoi(argv[1]), rounds = atoi(argv[2]);
  const int keep = argc > 4 ? atoi(argv[4]) : KCL_KEEP_HIERARCHY;
  const int64_t n = (int64_t)m * m;
  if (m < 1 || m > 20000 || rounds < 1 || rounds > MOST_ROUNDS) return 2;
  static sample setup, update;
  static double ratio[MOST_ROUNDS];
  int different = 0;
  laplacian l = {m, malloc((size_t)(n + 1) * 8), malloc((size_t)n * 20), malloc((size_t)n * 40)};
  double *b = make_rhs(n), *x[2] = {malloc((size_t)n * 8), malloc((size_t)n * 8)};
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *fresh = NULL, *kept = NULL;
  fill_system(&l, 0);
  const kcl_entries e = entries_of(&l, n);
  must(kcl_context_create("cpu", 0, &c));
  must(kcl_options_create(&o)), must(kcl_options_parse(o, argv[3]));
  must(kcl_matrix_create(c, &e, &A));
  must(kcl_solver_create(A, NULL, o, &kept)), must(kcl_solver_create(A, NULL, o, &fresh));
  solve_rhs(kept, b, x[0], n), solve_rhs(fresh, b, x[1], n);
  for (int r = 0; r < rounds; r++) {
    fill_system(&l, r + 1);
    must(kcl_matrix_update(A, &e));
    double faults = page_faults(), begin = processor_seconds();
    kcl_solver_free(&fresh), must(kcl_solver_create(A, NULL, o, &fresh));
    setup.seconds[r] = processor_seconds() - begin, setup.faults[r] = page_faults() - faults;
    solve_rhs(fresh, b, x[0], n);
    faults = page_faults(), begin = processor_seconds();
    must(kcl_solver_update(kept, A, keep));
    update.seconds[r] = processor_seconds() - begin, update.faults[r] = page_faults() - faults;
    ratio[r] = update.seconds[r] / setup.seconds[r];
    solve_rhs(kept, b, x[1], n);
    different += memcmp(x[0], x[1], (size_t)n * sizeof(double)) != 0;
  }
  const int status = report(&l, kept, argv[3], rounds, &setup, &update, ratio, different);
  kcl_solver_free(&fresh), kcl_solver_free(&kept), kcl_matrix_free(&A);
  kcl_options_free(&o), kcl_context_free(&c);
  free(l.start), free(l.col), free(l.val), free(b), free(x[0]), free(x[1]);
  return status;
}
