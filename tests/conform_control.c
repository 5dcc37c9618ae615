/* Executors: scalars, tests that stop the loop, logs, and the rules of fusion, on every executor.
 *
 * The loop under test counts down, so that everything it leaves behind is known in closed form:
 *   stage 0   s = s - 1, test of s, w = w - e, d = e_1^H w
 *   stage 1   log (d, s), step with d, v = v + e
 */
#include "tests/conform.h"
#include "solver/solver.h"
#include "tests/options.h"

static const number tiny[] = {1e-30, 1e-200, 1e-30, 1e-200}, huge[] = {1e30, 1e300, 1e30, 1e300};

/* ---------------------------------------------------------------- scalar operations */

static void same_scalar(const box *b, kcl_vec v, exact want, double bound, const char *what) {
  number got = take_one((box *)b, v);
  CHECKF(modulus(got - want) <= bound, "%s, %s, type %c: %.17g %+.17gi, not %.17Lg %+.17Lgi", what,
         b->k->ctx->device.kind, kcl_type_letter(b->k->type), creal(got), cimag(got), creall(want),
         cimagl(want));
}

/* A product or sum is rounded like one term of a linear combination. */
static double once(kcl_type t, exact a) { return tol_lincomb(t, (double)modulus(a)); }

static void test_arithmetic(const place *p, kcl_type t) {
  box *b = box_new(p, t, 5);
  kcl_program *k = b->k;
  bool pairs = kcl_type_complex(t);
  number av = pairs ? CMPLX(0.75, -1.25) : 0.75, cv = pairs ? CMPLX(-1.5, 0.5) : -1.5;
  kcl_slot a = slot_of(b, av), c = slot_of(b, cv), s = kcl_scalar(k, "s");
  kcl_vec seen[10];
  kcl_assign(k, s, conjugate(minus(a))), seen[0] = show(b, s);
  kcl_multiply(k, s, plus(a), conjugate(plus(c))), seen[1] = show(b, s);
  kcl_add(k, s, plus(a), minus(c)), seen[2] = show(b, s);
  kcl_divide(k, s, plus(a), plus(c)), seen[3] = show(b, s);
  kcl_divide(k, s, KCL_ONE, conjugate(plus(a))), seen[4] = show(b, s);
  kcl_multiply(k, s, plus(s), plus(s)), seen[5] = show(b, s); /* its own operand */
  kcl_add(k, s, (kcl_coef){.constant = -2.5, .slot = -1}, plus(a)), seen[6] = show(b, s);
  kcl_multiply(k, s, (kcl_coef){.constant = 0.1, .slot = -1}, plus(a)), seen[7] = show(b, s);
  kcl_least(k, s, plus(a), plus(c)), seen[8] = show(b, s);
  kcl_least(k, s, plus(c), KCL_ONE), seen[9] = show(b, s);
  if (box_ready(b)) {
    exact q = av / (exact)cv, r = 1 / conjl(av);
    go_start(b);
    same_scalar(b, seen[0], -conj(av), 0, "s = -conj a");
    same_scalar(b, seen[1], av * (exact)conj(cv), once(t, av * cv), "a conj c");
    same_scalar(b, seen[2], av - cv, once(t, av - cv), "a - c");
    same_scalar(b, seen[3], q, tol_quotient(t, (double)modulus(q)), "a / c");
    same_scalar(b, seen[4], r, tol_quotient(t, (double)modulus(r)), "1 / conj a");
    same_scalar(b, seen[5], r * r, 2 * tol_quotient(t, (double)modulus(r * r)) + once(t, r * r),
                "s s");
    same_scalar(b, seen[6], av - 2.5, once(t, modulus(av) + 2.5), "-2.5 + a");
    same_scalar(b, seen[7], 0.1L * av, 2 * once(t, 0.1L * av), "0.1 a"); /* 0.1 is rounded too */
    same_scalar(b, seen[8], cv, 0, "least of a, c");
    same_scalar(b, seen[9], cv, 0, "least of c, 1");
  }
  box_free(b);
}

/* A quotient by zero is zero; one by a number whose square vanishes or overflows is a quotient. */
static void test_quotients(const place *p, kcl_type t) {
  box *b = box_new(p, t, 5);
  kcl_program *k = b->k;
  double least = creal(tiny[t]), most = creal(huge[t]);
  number turn = kcl_type_complex(t) ? I : 1;
  kcl_slot zero = slot_of(b, 0), a = slot_of(b, 3), low = slot_of(b, least),
           high = slot_of(b, most);
  kcl_slot low_i = slot_of(b, turn * least), s = kcl_scalar(k, "s");
  kcl_vec seen[6];
  kcl_divide(k, s, plus(a), plus(zero)), seen[0] = show(b, s);
  kcl_divide(k, s, plus(a), KCL_ZERO), seen[1] = show(b, s);
  kcl_divide(k, s, plus(low), plus(low)), seen[2] = show(b, s);
  kcl_divide(k, s, plus(high), plus(high)), seen[3] = show(b, s);
  kcl_divide(k, s, plus(low), plus(low_i)), seen[4] = show(b, s);
  kcl_divide(k, s, plus(zero), plus(zero)), seen[5] = show(b, s);
  if (box_ready(b)) {
    double bound = tol_quotient(t, 1);
    go_start(b);
    same_scalar(b, seen[0], 0, 0, "3 / 0");
    same_scalar(b, seen[1], 0, 0, "3 / constant 0");
    same_scalar(b, seen[2], 1, bound, "tiny / tiny");
    same_scalar(b, seen[3], 1, bound, "huge / huge");
    same_scalar(b, seen[4], 1 / (exact)turn, bound, "tiny / tiny i");
    same_scalar(b, seen[5], 0, 0, "0 / 0");
  }
  box_free(b);
}

/* ---------------------------------------------------------------- tests and logs */

typedef struct countdown {
  number s, w;   /* at the start; both lose 1 per iteration */
  double target; /* squared: d is taken for a squared norm */
  int limit, untested;
  bool positive;           /* else nonzero */
  int stop, iterations, v; /* expected: 1 + reason; steps counted; v */
  double last_w;           /* NaN: not compared */
} countdown;

static box *countdown_box(const place *p, kcl_type t, bool positive, number s0, kcl_vec vec[4]) {
  box *b = box_new(p, t, 33);
  kcl_program *k = b->k;
  kcl_slot s = slot_of(b, s0), d = kcl_scalar(k, "s");
  for (int i = 0; i < 4; i++) vec[i] = kcl_vector(k, "v");
  kcl_vec w = vec[0], v = vec[1], e = vec[2], first = vec[3];
  k->rr = d;
  kcl_begin(k, KCL_LOOP);
  kcl_add(k, s, plus(s), KCL_MINUS);
  if (positive)
    kcl_need_positive(k, s, KCL_INDEFINITE);
  else
    kcl_need_nonzero(k, s, KCL_BREAKDOWN_SIGMA);
  kcl_lincomb(k, w, KCL_ONE, w, KCL_MINUS, e);
  kcl_dot(k, d, first, w);
  kcl_history_ritz(k, d, s);
  kcl_end_iteration(k, d);
  kcl_need_positive(k, s, KCL_BREAKDOWN_RHO); /* never the first to complain */
  kcl_lincomb(k, v, KCL_ONE, v, KCL_ONE, e);
  return b;
}

static void give_countdown(box *b, const kcl_vec vec[4], number w0) {
  int64_t n = b->k->n;
  number *w = filled(n, w0), *e = filled(n, 1), *first = filled(n, 0);
  first[0] = 1;
  give(b, vec[0], w), give(b, vec[2], e), give(b, vec[3], first);
  free(w), free(e), free(first);
}

static void run_countdown(const place *p, kcl_type t, const countdown *c, int number_of) {
  kcl_vec vec[4];
  box *b = countdown_box(p, t, c->positive, c->s, vec);
  if (box_ready(b)) {
    kcl_control head = {.limit = c->limit, .tests_off = c->untested}, end;
    give_countdown(b, vec, c->w);
    CHECK(b->ex.set_state(&b->ex, &head, &c->target) == KCL_OK);
    go(b, KCL_START, 1);
    end = go(b, KCL_LOOP, 3);
    for (int i = 0; i < 2; i++) end = go(b, KCL_LOOP, 4); /* after a stop these change nothing */
    number *w = take(b, vec[0]), *v = take(b, vec[1]);
    bool good = end.stop == c->stop && end.iteration == c->iterations && creal(v[32]) == c->v &&
                (isnan(c->last_w) || creal(w[32]) == c->last_w);
    CHECKF(good, "countdown %d, %s, type %c: stop %d after %d, v %g, w %g", number_of, p->name,
           kcl_type_letter(t), end.stop, end.iteration, creal(v[32]), creal(w[32]));
    double log[11 * KCL_HISTORY_FIELDS];
    CHECK(b->ex.history(&b->ex, 0, 0, end.iteration, log) == KCL_OK);
    for (int i = 0; i < end.iteration && !isnan(c->last_w); i++)
      CHECK(log[i * KCL_HISTORY_FIELDS] == creal(c->w) - 1 - i &&
            log[i * KCL_HISTORY_FIELDS + 1] == creal(c->w) - 1 - i &&
            log[i * KCL_HISTORY_FIELDS + 2] == creal(c->s) - 1 - i);
    free(w), free(v);
  }
  box_free(b);
}

/* The stage a failed test stands in is carried out (w in stage 0, v in stage 1), those after it are not. */
static void test_stops(const place *p, kcl_type t) {
  const countdown all[] = {
      {3.5, 50, 0, 99, 0, true, 1 + KCL_INDEFINITE, 3, 3, 46},
      {3, 50, 0, 99, 0, true, 1 + KCL_INDEFINITE, 2, 2, 47},
      {3, 50, 0, 99, 0, false, 1 + KCL_BREAKDOWN_SIGMA, 2, 2, 47},
      {90, 50, 45, 99, 0, true, 1 + KCL_CONVERGED, 5, 5, 45},
      {90, 50, 44.5, 99, 0, false, 1 + KCL_CONVERGED, 6, 6, 44},
      {90, 50, 0, 7, 0, true, 1 + KCL_ITERATION_LIMIT, 7, 7, 43},
      {90, 50, 43, 7, 0, true, 1 + KCL_CONVERGED, 7, 7, 43}, /* good counts before the limit */
      {90, 50, 0, 99, 0, true, 0, 11, 11, 39},
      {3, 50, 45, 5, 1, true, 0, 11, 11, 39}, /* tests off */
      {NAN, 50, 0, 99, 0, true, 1 + KCL_NOT_FINITE, 0, 0, 49},
      {-INFINITY, 50, 0, 99, 0, true, 1 + KCL_INDEFINITE, 0, 0, 49},
      {90, NAN, 0, 99, 0, true, 1 + KCL_NOT_FINITE, 1, 1, NAN},
      {90, INFINITY, 0, 99, 0, false, 1 + KCL_NOT_FINITE, 1, 1, NAN},
  };
  for (int i = 0; i < (small() && thorough() < 2 ? 3 : (int)(sizeof all / sizeof *all)); i++)
    run_countdown(p, t, &all[i], i);
  if (!kcl_type_complex(t)) return;
  /* An imaginary part alone is not zero, and does not make a number positive. */
  const countdown sides[] = {{CMPLX(3, 1), 50, 48, 99, 0, false, 1 + KCL_CONVERGED, 2, 2, 48},
                             {CMPLX(2, 1), 50, 0, 99, 0, true, 1 + KCL_INDEFINITE, 1, 1, 48}};
  for (int i = 0; i < 2; i++) run_countdown(p, t, &sides[i], 100 + i);
}

/* A number whose square vanishes is not zero; neither is its imaginary part. */
static void test_tiny(const place *p, kcl_type t) {
  for (int imaginary = 0; imaginary < 1 + kcl_type_complex(t); imaginary++)
    for (int zero = 0; zero < 2; zero++) {
      box *b = box_new(p, t, 5);
      kcl_slot s = slot_of(b, zero ? 0 : imaginary ? tiny[t] * I : tiny[t]);
      kcl_need_nonzero(b->k, s, KCL_BREAKDOWN_RHO);
      if (box_ready(b)) {
        kcl_control head = go_start(b);
        CHECKF(head.stop == (zero ? 1 + KCL_BREAKDOWN_RHO : 0), "%s, %s, type %c: stop %d",
               zero ? "zero" : "tiny is not zero", p->name, kcl_type_letter(t), head.stop);
      }
      box_free(b);
    }
}

/* Beyond the length of the ring the last iterations are remembered. */
static void test_ring(const place *p, kcl_type t) {
  enum { BATCH = 1000, BATCHES = 6 };
  kcl_vec vec[4];
  box *b = countdown_box(p, t, true, 20000, vec);
  double *log = malloc(BATCH * KCL_HISTORY_FIELDS * sizeof *log);
  if (box_ready(b)) {
    kcl_control head = {.limit = 100000};
    give_countdown(b, vec, 10000);
    CHECK(b->ex.set_state(&b->ex, &head, &(double){0}) == KCL_OK);
    go(b, KCL_START, 1);
    for (int i = 0; i < BATCHES; i++) {
      bool good = go(b, KCL_LOOP, BATCH).iteration == (i + 1) * BATCH;
      CHECK(b->ex.history(&b->ex, 0, i * BATCH, (i + 1) * BATCH, log) == KCL_OK);
      for (int q = 0; q < BATCH; q++)
        good = good && log[q * KCL_HISTORY_FIELDS] == 9999 - i * BATCH - q &&
               log[q * KCL_HISTORY_FIELDS + 2] == 19999 - i * BATCH - q;
      CHECKF(good, "history of iterations %d to %d, %s, type %c", i * BATCH, (i + 1) * BATCH,
             p->name, kcl_type_letter(t));
    }
  }
  free(log), box_free(b);
}

/* A program runs again after it met NaN: nothing of that remains, not even in padding. */
static void test_again(const place *p, kcl_type t) {
  box *b = box_new(p, t, 33);
  kcl_vec x = kcl_vector(b->k, "y"), y = kcl_vector(b->k, "y"), z = kcl_vector(b->k, "y"), seen;
  kcl_slot s = kcl_scalar(b->k, "s"), d = kcl_scalar(b->k, "s");
  kcl_dot(b->k, s, x, x);
  kcl_lincomb(b->k, y, KCL_ONE, y, plus(s), x);
  kcl_times(b->k, z, y, x, true);
  kcl_lincomb(b->k, z, plus(s), z, KCL_ONE, x);
  kcl_dot(b->k, d, z, y);
  seen = show(b, d);
  if (box_ready(b)) {
    number *one = filled(33, 1), *nan = filled(33, NAN);
    for (int round = 0; round < 2; round++) {
      give(b, x, round ? one : nan), give(b, y, one), go_start(b);
      number got = take_one(b, seen),
             want = 33 * (33 * 34 + 1) * 34; /* s = 33, y = 34, z = s y + 1 */
      CHECKF(round ? got == want : isnan(creal(got)), "round %d, %s, type %c: %g", round, p->name,
             kcl_type_letter(t), creal(got));
    }
    free(one), free(nan);
  }
  box_free(b);
}

/* ---------------------------------------------------------------- fusion */

/* 0 where the format is refused. */
static int stages_of(const place *p, const char *solver, const char *precond, const char *format) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_setup_info info = {.stages = -1};
  kcl_options o = cg_options();
  o.solver = solver, o.precond = precond, o.format = format, o.precision = KCL_S;
  if (CHECK(kcl_generate(p->ctx, "poisson2d:5", &A, NULL) == KCL_OK)) {
    int rc = kcl_setup(p->ctx, A, &o, &s);
    if (rc == KCL_REFUSED)
      info.stages = 0, skip("%s on %s: %s", format, p->name, kcl_error());
    else if (CHECKF(!rc, "%s", kcl_error()))
      kcl_solver_info(s, &info);
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
  return info.stages;
}

/* Three stages per iteration; a product that scatters is a stage of its own. */
static void test_fusion(const place *p) {
  static const char *const precond[] = {"none", "jacobi"};
  for (int i = 0; i < 2; i++)
    for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
      const char *name = kcl_list(KCL_FORMATS, f).name;
      int more = scatters(p->ctx, name);
      if (f && strcmp(name, "coo") && by_turns(p))
        continue; /* stages come from the recorder: the same on every executor, but compiled there */
      int cg = stages_of(p, "cg", precond[i], name), bicg = stages_of(p, "bicg", precond[i], name);
      if (!cg && !bicg) continue;
      CHECKF(cg == 3 + more, "cg, %s, %s on %s: %d stages", precond[i], name, p->name, cg);
      CHECKF(bicg <= 4 + more && bicg >= 3, "bicg, %s, %s on %s: %d stages", precond[i], name,
             p->name, bicg);
    }
}

/* CG to its end. lost: as if groups of the persistent kernel had timed out; one launch per stage continues. */
static kcl_control cg_to_end(kcl_solver *s, const void *b, int lost, double *rr) {
  kcl_executor *ex = &s->selection.engine->executor;
  const kcl_program *k = s->selection.engine->program;
  kcl_control head = {.limit = 100, .group_missing = lost};
  double target = 1e-6, zeros[50] = {0};
  CHECK(ex->put(ex, k->b, 0, KCL_D, b, 1.0) == KCL_OK);
  CHECK(ex->put(ex, k->x, 0, KCL_D, zeros, 1.0) == KCL_OK);
  CHECK(ex->set_state(ex, &head, &target) == KCL_OK);
  CHECK(ex->run(ex, KCL_START, 1) == KCL_OK && ex->poll(ex, &head, rr) == KCL_OK);
  CHECK(ex->run(ex, KCL_LOOP, 60) == KCL_OK && ex->poll(ex, &head, rr) == KCL_OK);
  const kcl_control seen = head;
  CHECK(ex->poll(ex, &head, rr) == KCL_OK && !memcmp(&seen, &head, sizeof head)); /* nothing new */
  CHECK(ex->finish(ex) == KCL_OK);
  return head;
}

static void test_lost(const place *p) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  double rr[2] = {0};
  o.format = "csr-scalar", o.precision = KCL_S;
  if (CHECK(kcl_generate(p->ctx, "poisson2d:7", &A, &b) == KCL_OK) &&
      CHECKF(kcl_setup(p->ctx, A, &o, &s) == KCL_OK, "%s", kcl_error())) {
    kcl_control met = cg_to_end(s, b->val, 0, &rr[0]), lost = cg_to_end(s, b->val, 1, &rr[1]);
    CHECKF(met.stop == 1 + KCL_CONVERGED && lost.stop == met.stop &&
               abs(lost.iteration - met.iteration) <= 1 && rr[0] <= 1e-6 && rr[1] <= 1e-6,
           "%s: stop %d and %d, after %d and %d, at %g and %g", p->name, met.stop, lost.stop,
           met.iteration, lost.iteration, rr[0], rr[1]);
  }
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

typedef void (*test)(const place *p, kcl_type t);

int main(void) {
  static const test tests[] = {test_arithmetic, test_quotients, test_stops,
                               test_tiny,       test_again,     test_ring};
  open_places();
  for (int p = 0; p < place_count; p++) {
    for (kcl_type t = KCL_S; t <= KCL_Z; t++)
      for (size_t i = 0; can(&places[p], t) && i < sizeof tests / sizeof *tests - small(); i++)
        if (half_of(&places[p], t, (int)i)) tests[i](&places[p], t);
    if (!small()) test_fusion(&places[p]); /* nothing runs in it */
    test_lost(&places[p]);
  }
  close_places();
  return check_report();
}
