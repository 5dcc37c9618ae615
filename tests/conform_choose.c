/* The decisions of `auto`: a solve that continues in another format loses no step; the fastest of what was timed is
 * taken; it is remembered, and a damaged memory does no harm; a method that gives up is followed by the next.
 */
#include "core/base/cache.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"
#include <sys/stat.h>
#include <unistd.h>

static double apart(kcl_type t, const void *x, const void *y, int64_t n) {
  double worst = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    double a[2], b[2];
    kcl_element(t, x, i, a), kcl_element(t, y, i, b);
    worst = fmax(worst, hypot(a[0] - b[0], a[1] - b[1])), size = fmax(size, hypot(a[0], a[1]));
  }
  return worst / size;
}

/* ---------------------------------------------------------------- carrying a solve to another format */

/* b: [columns, n] of A's type; x = 0. */
static int begin(kcl_engine *e, kcl_type type, const char *b) {
  kcl_control head[KCL_MAX_NRHS];
  double rr[KCL_MAX_NRHS], target[KCL_MAX_NRHS] = {0};
  kcl_executor *ex = &e->executor;
  size_t size = (size_t)e->program->n * kcl_type_size(type);
  int rc = KCL_OK;
  for (int c = 0; c < e->program->nrhs && !rc; c++) {
    head[c] = (kcl_control){.limit = 1000, .tests_off = 1};
    rc = ex->put(ex, e->program->b, c, type, b + (size_t)c * size, 1.0);
    if (!rc) rc = ex->put(ex, e->program->x, c, type, b, 0.0);
  }
  if (!rc) rc = ex->set_state(ex, head, target);
  if (!rc) rc = ex->run(ex, KCL_START, 1);
  return rc ? rc : ex->poll(ex, head, rr);
}

static int passes(kcl_engine *e, int64_t n, kcl_control *head) {
  double rr[KCL_MAX_NRHS];
  int rc = e->executor.run(&e->executor, KCL_LOOP, n);
  return rc ? rc : e->executor.poll(&e->executor, head, rr);
}

static int x_of(kcl_engine *e, int c, kcl_type type, void *x) {
  return e->executor.get(&e->executor, e->program->x, c, type, x, 1.0);
}

/* 20 passes, and 9 in one format with 11 in another that adds in the same order: the same vectors but for rounding, which 20 steps on a
 * matrix of condition 180 raise from 2^-53 to 1e-12 and less (measured), from 2^-24 to 1e-4. */
static void test_carry(const place *p, const char *kind, const char *method, kcl_type t,
                       int columns) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL, *u = NULL; /* u: without a change */
  kcl_engine *first = NULL, *other = NULL;
  kcl_options o = cg_options();
  kcl_control head[KCL_MAX_NRHS] = {{0}}, alone[KCL_MAX_NRHS] = {{0}};
  const kcl_format *f;
  o.solver = method, o.format = "ell", o.precision = t, o.restart = 4, o.nrhs = columns;
  if (!CHECK(!kcl_generate(p->ctx, kind, &A, NULL))) return;
  if (kcl_type_complex(A->type) && !kcl_type_complex(t)) return kcl_csr_free(&A);
  size_t size = (size_t)A->rows * kcl_type_size(A->type);
  double *b = malloc(size * (size_t)columns), *y = calloc(1, size), *z = calloc(1, size);
  for (size_t i = 0; i < size * (size_t)columns / sizeof *b; i++) b[i] = random_number();
  int rc = kcl_setup(p->ctx, A, &o, &s);
  if (!rc) rc = kcl_setup(p->ctx, A, &o, &u);
  if (!rc) rc = kcl_format_find(p->ctx, "sell", t, &f);
  const int groups = p->ctx->tune.groups;
  if (columns == 1)
    p->ctx->tune.groups = 16; /* formats may differ in how many groups there may be */
  if (!rc)
    rc = kcl_engine_build(&s->system, s->selection.way.method, s->selection.way.precond, f, &other);
  p->ctx->tune.groups = groups;
  if (!rc) first = s->selection.engine;
  if (!rc)
    rc = begin(u->selection.engine, A->type, (char *)b) || passes(u->selection.engine, 20, alone);
  if (!rc) rc = begin(first, A->type, (char *)b) || passes(first, 9, head);
  CHECK(rc || kcl_engine_same_program(first, other));
  if (!rc) rc = kcl_engine_carry(other, first) || passes(other, 11, head);
  for (int c = 0; c < columns; c++) {
    if (!rc) rc = x_of(u->selection.engine, c, A->type, y) || x_of(other, c, A->type, z);
    if (!CHECKF(!rc, "%s, %s, %c: %s", method, p->name, kcl_type_letter(t), kcl_error())) break;
    double bound = t == KCL_S || t == KCL_C ? 1e-4 : 1e-12, far = apart(A->type, y, z, A->rows);
    CHECKF(far <= bound, "%s, %s, %c: carried, column %d of x is %g off", method, p->name,
           kcl_type_letter(t), c, far);
    CHECK(head[c].iteration == alone[c].iteration &&
          head[c].iteration == 20 * first->program->iterations);
  }
  free(b), free(y), free(z);
  kcl_engine_free(&other), kcl_solver_free(&u), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- timing, and what is remembered */

/* b = A*1 */
static double *ones_image(const kcl_csr *A) {
  int w = kcl_type_complex(A->type) ? 2 : 1;
  double *one = calloc((size_t)(A->cols * w), sizeof *one),
         *b = calloc((size_t)(A->rows * w), sizeof *b);
  for (int64_t i = 0; i < A->cols; i++) one[i * w] = 1;
  kcl_csr_product(A, one, NULL, b);
  free(one);
  return b;
}

static void check_fastest(const kcl_solver *s, const char *what) {
  const kcl_choice *c = &s->selection.remembered;
  double mine = INFINITY, least = INFINITY;
  for (int i = 0; i < c->count; i++) {
    const kcl_timing *t = &c->timing[i];
    if (!strcmp(t->format, kcl_engine_format(s->selection.engine)) &&
        !strcmp(t->method, s->selection.engine->method->name))
      mine = t->iteration;
    least = fmin(least, t->iteration);
  }
  CHECKF(c->count > 1 && mine <= least, "%s: %d timed, %s takes %g, the least is %g", what,
         c->count, kcl_engine_format(s->selection.engine), mine, least);
}

/* A wathen matrix: its values do not repeat, so several formats are near each other. */
static void test_under_way(const place *p) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  double doubt;
  if (!CHECK(!kcl_generate(p->ctx, "wathen:12", &A, NULL))) return;
  double *b = ones_image(A), *x = calloc((size_t)A->rows, sizeof *x);
  o.tol = 1e-12;
  if (!CHECK(!kcl_setup(p->ctx, A, &o, &s))) goto done;
  CHECK(!s->selection.recalled && s->selection.candidates > 0 &&
        s->selection.remembered.count == 0);
  s->selection.cost = -1; /* so that it pays at once */
  if (!CHECKF(!kcl_solve_one(s, b, x, &r), "%s", kcl_error())) goto done;
  CHECKF(r.converged && residual(A, b, x, &doubt) <= 1e-11, "%s", kcl_reason_text(r.reason));
  CHECK(r.history_size == r.iterations + 1 && s->selection.decided);
  check_fastest(s, "under way");
  CHECK((r.changes[0] != 0) == (strcmp(kcl_engine_format(s->selection.engine),
                                       s->selection.remembered.timing[0].format) != 0));
  for (int64_t i = 1; i < r.history_size; i++)
    if (!CHECK(r.history[i] > 0 && r.history[i] < 1e3)) break;
done:
  free(b), free(x), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Solves a system again, in a context of its own: what was timed decides, with set-up counted. */
static void test_remembered(const place *p) {
  const kcl_options o = cg_options();
  kcl_context *ctx = NULL;
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, p->name, 0));
  if (!CHECK(!kcl_generate(ctx, "wathen:12", &A, NULL) && !kcl_setup(ctx, A, &o, &s))) goto done;
  const kcl_choice *c = &s->selection.remembered;
  double least = INFINITY, mine = INFINITY;
  CHECK(s->selection.recalled && c->count > 1 && c->iterations > 0);
  for (int i = 0; i < c->count; i++) {
    double cost = c->timing[i].setup + (double)c->iterations * c->timing[i].iteration;
    if (!strcmp(c->timing[i].format, kcl_engine_format(s->selection.engine))) mine = cost;
    least = fmin(least, cost);
  }
  CHECKF(mine <= least, "%s costs %g, the least is %g", kcl_engine_format(s->selection.engine),
         mine, least);
  CHECKF(!strncmp(s->selection.why_format, "remembered", 10), "%s", s->selection.why_format);
done:
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_context_free(&ctx);
}

/* A choice that takes much longer than remembered is forgotten; one that does not is kept. */
static void test_disappointment(const place *p) {
  const kcl_options o = cg_options();
  kcl_csr *A = NULL;
  kcl_choice known;
  kcl_solver *first = NULL;
  if (!CHECK(!kcl_generate(p->ctx, "wathen:12", &A, NULL))) return;
  /* A solve remembered as this short is not worth timing anything at set-up, however slow the machine was. */
  if (CHECK(!kcl_setup(p->ctx, A, &o, &first))) {
    first->selection.remembered.iterations = 1;
    kcl_choice_remember(first->selection.key, &first->selection.remembered);
  }
  kcl_solver_free(&first);
  for (int slow = 0; slow < 2; slow++) {
    kcl_solver *s = NULL;
    if (!CHECK(!kcl_setup(p->ctx, A, &o, &s))) continue;
    kcl_selection *c = &s->selection;
    const kcl_timing *t = kcl_choice_timing(&c->remembered, c->engine->method->name,
                                            c->engine->precond->name, kcl_engine_format(c->engine));
    int64_t iterations = (int64_t)ceil(1 / t->iteration); /* in one second */
    CHECK(c->recalled && !c->dirty);
    c->remembered.iterations = iterations;
    kcl_adapt_remember(c, iterations, slow ? 2.5 : 1.5);
    bool there = kcl_choice_recall(c->key, &known) && known.count > 0;
    CHECKF(there != slow, "%s, %s: %d remembered", p->name, slow ? "slow" : "as expected",
           known.count);
    kcl_solver_free(&s);
  }
  kcl_csr_free(&A);
}

static const char *choice_of(kcl_context *ctx, const kcl_csr *A, const char *format,
                             bool *recalled) {
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  o.format = format;
  if (kcl_setup(ctx, A, &o, &s)) return kcl_error();
  const char *name = kcl_engine_format(s->selection.engine);
  *recalled = s->selection.recalled;
  if (!strcmp(format, "measure")) check_fastest(s, "measured");
  kcl_solver_free(&s);
  return name;
}

static void spoil(const char *path, const char *text, size_t size) {
  FILE *f = fopen(path, "w");
  if (CHECK(f != NULL)) fwrite(text, 1, size, f), fclose(f);
}

/* Whatever stands in the file: as if nothing were known; and what is measured then is known again. */
static void test_damage(const place *p) {
  static const char *const damage[] = {"",
                                       "\n\n",
                                       "nonsense\n",
                                       " | | | | | |\n",
                                       "a | b | c | d | e | f | g | h\n",
                                       "\xff\xfe\x01 | \x80 | 1 | 2 | 3 |"};
  char path[4096], line[4096];
  kcl_csr *A = NULL;
  bool recalled = false;
  size_t n = 0;
  if (!CHECK(!kcl_cache_path("tune", "choices.txt", path, sizeof path))) return;
  if (!CHECK(!kcl_generate(p->ctx, "wathen:8", &A, NULL))) return;
  choice_of(p->ctx, A, "measure", &recalled);
  FILE *f = fopen(path, "r");
  if (CHECK(f && fgets(line, sizeof line, f))) n = strlen(line);
  if (f) fclose(f);
  choice_of(p->ctx, A, "auto", &recalled), CHECK(recalled);
  for (size_t cut = 2; cut < n;
       cut += n / 23 + 1) { /* its own line cut short, and continued wrongly */
    spoil(path, line, n - cut);
    choice_of(p->ctx, A, "auto", &recalled), CHECKF(!recalled, "cut by %zu", cut);
    char wrong[4096];
    memcpy(wrong, line, n), memset(wrong + n - cut, 'x', cut - 1);
    spoil(path, wrong, n);
    choice_of(p->ctx, A, "auto", &recalled), CHECKF(!recalled, "%zu characters wrong", cut);
  }
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    spoil(path, damage[i], strlen(damage[i]));
    CHECK(strcmp(choice_of(p->ctx, A, "auto", &recalled), kcl_error()) && !recalled);
  }
  choice_of(p->ctx, A, "measure", &recalled);
  choice_of(p->ctx, A, "auto", &recalled), CHECK(recalled);
  choice_of(p->ctx, A, "model", &recalled), CHECK(!recalled);
  CHECK(!unlink(path) && !mkdir(path, 0700)); /* cannot be read, cannot be written */
  CHECK(strcmp(choice_of(p->ctx, A, "measure", &recalled), kcl_error()));
  CHECK(!rmdir(path));
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- methods */

/* Solves with "auto"; the name of the method that ended it. */
static const char *solved_by(const place *p, const kcl_csr *A, kcl_report *r, bool *changed) {
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  double doubt;
  o.solver = "auto", o.no_direct = true, o.format = "csr-scalar", o.precision = A->type;
  if (kcl_setup(p->ctx, A, &o, &s)) return kcl_error();
  const char *name = s->selection.engine->method->name;
  double *b = ones_image(A), *x = calloc((size_t)A->cols, kcl_type_size(A->type));
  if (CHECKF(!kcl_solve_one(s, b, x, r), "%s", kcl_error())) {
    CHECKF(r->converged && residual(A, b, x, &doubt) <= 1e-8, "%s: %s", name,
           kcl_reason_text(r->reason));
    CHECK(r->history_size == r->iterations + 1);
    *changed = r->changes[0] != 0, name = s->selection.engine->method->name;
  }
  free(b), free(x), kcl_solver_free(&s);
  return name;
}

/* Blocks (1 2; 2 1 + i / n): a positive diagonal, eigenvalues of both signs. */
static kcl_csr *indefinite(kcl_context *ctx, int64_t blocks) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, 2 * blocks, 2 * blocks, 4 * blocks, KCL_D, &A)) return NULL;
  for (int64_t i = 0; i < 2 * blocks; i++) {
    A->row_ptr[i + 1] = 2 * i + 2;
    for (int64_t k = 0; k < 2; k++) {
      int64_t j = i / 2 * 2 + k;
      A->col[2 * i + k] = (int32_t)j;
      ((double *)A->val)[2 * i + k] = i == j ? 1 + (double)(i % 2 * i) / (double)blocks : 2;
    }
  }
  return A;
}

static void test_methods(const place *p) {
  static const struct {
    const char *kind, *method;
  } known[] = {{"poisson2d:12", "cg"},
               {"magnetic:8", "cg"},
               {"helmholtz:10", "cocg"},
               {"convection:10", "idr"}};
  kcl_csr *A = NULL;
  kcl_report r;
  bool changed = false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!CHECK(!kcl_generate(p->ctx, known[i].kind, &A, NULL))) continue;
    const char *name = solved_by(p, A, &r, &changed);
    CHECKF(!strcmp(family(name), known[i].method) && !changed, "%s, %s: %s", known[i].kind, p->name,
           name);
    kcl_csr_free(&A);
  }
  if (!CHECK((A = indefinite(p->ctx, 40)) != NULL)) return;
  const char *name = solved_by(p, A, &r, &changed);
  CHECKF(!strcmp(name, "minres") && changed, "indefinite, %s: %s, %s", p->name, name, r.changes);
  name = solved_by(p, A, &r, &changed);
  CHECKF(!strcmp(name, "minres") && !changed, "indefinite again, %s: %s", p->name, name);
  for (int64_t i = 0; i < A->nnz; i++) /* the diagonal negative */
    ((double *)A->val)[i] *= -1;
  name = solved_by(p, A, &r, &changed);
  CHECKF(!strcmp(name, "minres") && !changed, "a negative diagonal, %s: %s", p->name, name);
  kcl_csr_free(&A);
}

/* (A - A^T) / 2 + c I; with the non-zero structure of A. */
static kcl_csr *skew_part(kcl_context *ctx, const char *kind, double c) {
  kcl_csr *A = NULL, *B = NULL;
  if (kcl_generate(ctx, kind, &A, NULL)) return NULL;
  if (kcl_csr_adjoint(ctx, A, &B)) return kcl_csr_free(&A), NULL;
  double *a = A->val, *b = B->val; /* of the same pattern */
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      a[k] = A->col[k] == i ? c : (a[k] - b[k]) / 2;
  A->symmetry = KCL_GENERAL;
  kcl_csr_free(&B);
  return A;
}

static bool skew(const place *p, const kcl_csr *A) {
  kcl_stats s;
  CHECK(!kcl_csr_stats(p->ctx, A, &s));
  return s.shifted_skew;
}

/* lsqr at once where A = c I + S. */
static void test_skew(const place *p) {
  kcl_csr *A, *Z = NULL;
  kcl_report r;
  bool changed = false;
  for (int i = 0; i < 2; i++) {
    if (!CHECK((A = skew_part(p->ctx, "convection:10", i ? 0.05 : 0)) != NULL)) return;
    const char *name = solved_by(p, A, &r, &changed);
    CHECKF(skew(p, A) && !strcmp(name, "lsqr") && !changed, "skew, %s: %s", p->name, name);
    if (CHECK(!kcl_csr_convert(p->ctx, A, KCL_Z, &Z))) {
      number *z = Z->val;
      CHECK(skew(p, Z));
      for (int64_t k = 0; k < Z->nnz; k++) z[k] *= CMPLX(0, 1); /* S times i is Hermitian */
      CHECK(!skew(p, Z));
      kcl_csr_free(&Z);
    }
    ((double *)A->val)[A->row_ptr[7]] += 1; /* one off the diagonal */
    CHECK(!skew(p, A));
    kcl_csr_free(&A);
    if (!CHECK((A = skew_part(p->ctx, "convection:10", i)) != NULL)) return;
    for (int64_t k = A->row_ptr[3]; k < A->row_ptr[4]; k++) /* one on it */
      if (A->col[k] == 3) ((double *)A->val)[k] += 1;
    CHECK(!skew(p, A));
    kcl_csr_free(&A);
  }
}

/* The cyclic shift, b = e_1: gmres gets nowhere in fewer than n steps (Nachtigal, Reddy & Trefethen 1992), the
 * shadow of bicgstab-l breaks down at once, and rounding stops idr. A^H A = I. */
static void test_last_resort(const place *p) {
  enum { N = 1000 };
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  double b[N] = {1}, x[N] = {0}, doubt;
  if (!CHECK(!kcl_csr_create(p->ctx, N, N, N, KCL_D, &A))) return;
  for (int64_t i = 0; i < N; i++)
    A->row_ptr[i + 1] = i + 1, A->col[i] = (int32_t)((i + 1) % N), ((double *)A->val)[i] = 1;
  o.solver = "auto", o.format = "csr-scalar", o.max_iter = 100000, o.restart = 5;
  if (CHECK(!kcl_setup(p->ctx, A, &o, &s)) &&
      CHECK(!strcmp(s->selection.engine->method->name, "idr")) &&
      CHECK(!kcl_solve_one(s, b, x, &r))) {
    CHECKF(r.converged && !r.least_squares && residual(A, b, x, &doubt) <= 1e-8, "%s",
           kcl_reason_text(r.reason));
    CHECKF(!strcmp(s->selection.engine->method->name, "lsqr") && strstr(r.changes, "gmres gave up"),
           "%s: %s", s->selection.engine->method->name, r.changes);
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* lsqr stagnates, and gmres cannot be had: zeros on the diagonal. */
static void test_no_next(const place *p) {
  kcl_csr *A = skew_part(p->ctx, "convection:10", 0);
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.solver = "auto", o.precond = "jacobi", o.format = "csr-scalar", o.tol = 1e-17;
  o.no_direct = true;
  if (!CHECK(A != NULL)) return;
  double *b = ones_image(A), x[100] = {0};
  if (CHECK(!kcl_setup(p->ctx, A, &o, &s)) && CHECK(!kcl_solve_one(s, b, x, &r)))
    CHECKF(r.reason == KCL_STAGNATED && r.true_relative_residual < 1e-8 && !r.changes[0], "%s: %s",
           kcl_reason_text(r.reason), r.changes);
  free(b), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* A method that did not solve a system is not chosen for it again; a solve that fails leaves nothing behind. */
static void test_failures_remembered(const place *p) {
  kcl_csr *A = indefinite(p->ctx, 30);
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  kcl_choice known;
  o.solver = "auto", o.no_direct = true, o.format = "csr-scalar";
  if (!CHECK(A != NULL)) return;
  double *b = ones_image(A), x[60] = {0};
  for (int run = 0; run < 2; run++) { /* cg gives up, minres does not; then minres begins */
    memset(x, 0, sizeof x);
    if (CHECK(!kcl_setup(p->ctx, A, &o, &s)) && CHECK(!kcl_solve_one(s, b, x, &r) && r.converged)) {
      const kcl_choice *c = &s->selection.remembered;
      bool marked = false;
      for (int i = 0; i < c->count; i++)
        marked =
            marked || (!strcmp(family(c->timing[i].method), "cg") && isinf(c->timing[i].iteration));
      CHECKF(marked && !strcmp(s->selection.engine->method->name, "minres") &&
                 (r.changes[0] != 0) == (run == 0),
             "%s, run %d: %s, %s", p->name, run, s->selection.engine->method->name, r.changes);
    }
    kcl_solver_free(&s);
  }
  o.tol = 1e-30; /* of the same key */
  if (CHECK(!kcl_setup(p->ctx, A, &o, &s)) && CHECK(!kcl_solve_one(s, b, x, &r) && !r.converged)) {
    kcl_choice_recall(s->selection.key, &known);
    CHECKF(known.count == 0 && known.iterations == 0, "%s: %d remembered", p->name, known.count);
  }
  free(b), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Rectangular; out of iterations, which is no reason for another method. */
static void test_ends(const place *p) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  double x[400] = {0};
  o.solver = "auto", o.max_iter = 5, o.format = "auto";
  if (CHECK(!kcl_generate(p->ctx, "convection:20", &A, NULL))) {
    double *b = ones_image(A);
    if (CHECK(!kcl_setup(p->ctx, A, &o, &s)))
      CHECK(!kcl_solve_one(s, b, x, &r) && r.reason == KCL_ITERATION_LIMIT && !r.changes[0]);
    free(b), kcl_solver_free(&s);
    A->rows = 300, A->nnz = A->row_ptr[300], A->symmetry = KCL_GENERAL;
    if (CHECK(!kcl_setup(p->ctx, A, &o, &s)))
      CHECK(!strcmp(s->selection.engine->method->name, "cgls"));
    kcl_solver_free(&s);
    o.restart = 1001;
    CHECK(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE);
  }
  kcl_csr_free(&A);
}

int main(void) {
  char folder[] = "/tmp/krylocl-choose-XXXXXX", command[64];
  static const char *const methods[] = {"cg",   "cg-single", "cg-pipelined", "minres",
                                        "bicg", "bicgstab",  "bicgstab-l",   "cgs",
                                        "idr",  "gmres"};
  if (!mkdtemp(folder) || setenv("KRYLOCL_CACHE", folder, 1)) return 1;
  /* As cli/main.c does: of a program that is kept, PoCL compiles the general form, which then runs as well. */
  setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0);
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
      for (kcl_type t = KCL_S; t <= KCL_Z; t++)
        /* on a device some: what is carried are vectors and scalars, whatever the method */
        if (can(p, t) && (!by_turns(p) || (turn_of(t, (int)m) && m % (quick(p) ? 5 : 3) == 0)))
          test_carry(p, "poisson2d:20", methods[m], t, 1 + 2 * (int)(m % 2));
    for (int columns = 1; columns <= 3; columns += 2)
      test_carry(p, "helmholtz:10", "cocg", quick(p) ? KCL_C : KCL_Z, columns);
    setenv("KRYLOCL_PERSISTENT", "0",
           1); /* with 96 iterations per launch the solve ends before anything is timed */
    test_under_way(p), test_remembered(p), test_disappointment(p);
    unsetenv("KRYLOCL_PERSISTENT");
    if (quick(p)) continue; /* the host decides, for either executor by the same code */
    test_damage(p), test_methods(p), test_ends(p);
    test_skew(p), test_no_next(p), test_failures_remembered(p);
    test_last_resort(p);
  }
  close_places();
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
  return check_report();
}
