/* Executors: every verb of core/program/program.h on every executor, in all four types, against long double.
 * The sizes lie around the widths of registers and groups, one is below all and one above 65,536.
 */
#include "tests/conform.h"

/* a[i] is near the reference a x[i] + b z[i]? One count for a whole vector. */
static void same_lincomb(const box *b, kcl_vec v, const number *got, exact a, const number *x,
                         exact c, const number *z, const char *what) {
  kcl_type t = b->k->type;
  int64_t bad = -1;
  for (int64_t i = 0; i < b->k->vector[v].n && bad < 0; i++) {
    exact want = a * x[i] + c * z[i];
    long double size = modulus(a * x[i]) + modulus(c * z[i]);
    if (!(modulus(got[i] - want) <= tol_lincomb(t, (double)size))) bad = i;
  }
  CHECKF(bad < 0, "%s, %s, type %c, n %lld: element %lld is %g %+gi", what, b->k->ctx->device.kind,
         kcl_type_letter(t), (long long)b->k->vector[v].n, (long long)bad,
         bad < 0 ? 0 : creal(got[bad]), bad < 0 ? 0 : cimag(got[bad]));
}

/* ---------------------------------------------------------------- linear combinations */

typedef struct kind {
  const char *name;
  kcl_coef coef;
  number value;
} kind;
enum { KINDS = 8 };

static void all_kinds(box *b, kind *out) {
  number v = kcl_type_complex(b->k->type) ? CMPLX(0.75, -1.25) : 0.75;
  kcl_slot s = slot_of(b, v);
  const kind kinds[KINDS] = {{"0", KCL_ZERO, 0},
                             {"1", KCL_ONE, 1},
                             {"-1", KCL_MINUS, -1},
                             {"2.5", {.constant = 2.5, .slot = -1}, 2.5},
                             {"s", plus(s), v},
                             {"-s", minus(s), -v},
                             {"conj s", conjugate(plus(s)), conj(v)},
                             {"-conj s", conjugate(minus(s)), -conj(v)}};
  memcpy(out, kinds, sizeof kinds);
}

/* y = a x + b z for every pair of kinds, with operands apart. */
static void test_lincomb(const place *p, kcl_type t, int64_t n) {
  box *b = box_new(p, t, n);
  kcl_vec x = kcl_vector(b->k, "y"), z = kcl_vector(b->k, "y"), y[KINDS][KINDS];
  number *xv = random_vector(t, n), *zv = random_vector(t, n);
  kind k[KINDS];
  all_kinds(b, k);
  for (int i = 0; i < KINDS; i++, cut(b))
    for (int j = 0; j < KINDS; j++)
      y[i][j] = kcl_vector(b->k, "y"), kcl_lincomb(b->k, y[i][j], k[i].coef, x, k[j].coef, z);
  if (box_ready(b)) {
    give(b, x, xv), give(b, z, zv), go_start(b);
    for (int i = 0; i < KINDS; i++)
      for (int j = 0; j < KINDS; j++) {
        char what[64];
        number *got = take(b, y[i][j]);
        snprintf(what, sizeof what, "%s x + %s z", k[i].name, k[j].name);
        same_lincomb(b, y[i][j], got, k[i].value, xv, k[j].value, zv, what);
        free(got);
      }
  }
  box_free(b), free(xv), free(zv);
}

/* y = x, y = z, x = z and all three the same vector. */
static void test_alias(const place *p, kcl_type t, int64_t n) {
  enum { FIRST = 3, USED = 3, WAYS = 4 };
  box *b = box_new(p, t, n);
  kind k[KINDS];
  kcl_vec v[USED][USED][WAYS], x = kcl_vector(b->k, "y");
  number *xv = random_vector(t, n), *yv = random_vector(t, n);
  all_kinds(b, k);
  for (int i = 0; i < USED; i++, cut(b))
    for (int j = 0; j < USED; j++) {
      kcl_coef a = k[FIRST + i - 1].coef, c = k[FIRST + j - 1].coef;
      for (int w = 0; w < WAYS; w++) v[i][j][w] = kcl_vector(b->k, "y");
      kcl_lincomb(b->k, v[i][j][0], a, v[i][j][0], c, x);
      kcl_lincomb(b->k, v[i][j][1], a, x, c, v[i][j][1]);
      kcl_lincomb(b->k, v[i][j][2], a, x, c, x);
      kcl_lincomb(b->k, v[i][j][3], a, v[i][j][3], c, v[i][j][3]);
    }
  if (box_ready(b)) {
    give(b, x, xv);
    for (int i = 0; i < USED * USED * WAYS; i++) give(b, (&v[0][0][0])[i], yv);
    go_start(b);
    for (int i = 0; i < USED * USED * WAYS; i++) {
      int way = i % WAYS;
      number a = k[FIRST - 1 + i / WAYS / USED].value, c = k[FIRST - 1 + i / WAYS % USED].value;
      const number *first = way == 0 || way == 3 ? yv : xv, *second = way % 2 ? yv : xv;
      number *got = take(b, (&v[0][0][0])[i]);
      same_lincomb(b, x, got, a, first, c, second, "aliased operands");
      free(got);
    }
  }
  box_free(b), free(xv), free(yv);
}

/* The constant 0 means: not read. NaN behind it does not spread. */
static void test_zero(const place *p, kcl_type t, int64_t n) {
  box *b = box_new(p, t, n);
  kcl_slot s = slot_of(b, -1.5);
  kcl_vec bad = kcl_vector(b->k, "y"), x = kcl_vector(b->k, "y"), y[4];
  number *nan = filled(n, NAN), *xv = random_vector(t, n);
  for (int i = 0; i < 4; i++) y[i] = kcl_vector(b->k, "y");
  kcl_lincomb(b->k, y[0], plus(s), x, KCL_ZERO, bad);
  kcl_lincomb(b->k, y[1], KCL_ZERO, bad, plus(s), x);
  kcl_lincomb(b->k, y[2], KCL_ZERO, bad, KCL_ONE, x);
  kcl_lincomb(b->k, y[3], KCL_ZERO, bad, KCL_ZERO, bad);
  if (box_ready(b)) {
    static const double factor[] = {-1.5, -1.5, 1, 0};
    static const char *const what[] = {"b x + 0 NaN", "0 NaN + b x", "0 NaN + x", "0 NaN + 0 NaN"};
    give(b, bad, nan), give(b, x, xv), go_start(b);
    for (int i = 0; i < 4; i++) {
      number *got = take(b, y[i]);
      same_lincomb(b, x, got, factor[i], xv, 0, xv, what[i]);
      free(got);
    }
  }
  box_free(b), free(nan), free(xv);
}

/* ---------------------------------------------------------------- elementwise products */

static void test_times(const place *p, kcl_type t, int64_t n) {
  box *b = box_new(p, t, n);
  kcl_vec d = kcl_vector(b->k, "y"), x = kcl_vector(b->k, "y"), y[4];
  number *dv = random_vector(t, n), *xv = random_vector(t, n);
  kcl_vec fixed = kcl_constant(b->k, n, KCL_Z, dv, "d");
  for (int i = 0; i < 4; i++) y[i] = kcl_vector(b->k, "y");
  kcl_times(b->k, y[0], d, x, false);
  kcl_times(b->k, y[1], d, x, true);
  kcl_times(b->k, y[2], y[2], x, true); /* the diagonal overwritten */
  kcl_times(b->k, y[3], fixed, y[3], true);
  if (box_ready(b)) {
    give(b, d, dv), give(b, x, xv), give(b, y[2], dv), give(b, y[3], xv), go_start(b);
    for (int i = 0; i < 4; i++) {
      number *got = take(b, y[i]);
      int64_t bad = -1;
      for (int64_t q = 0; q < n && bad < 0; q++) {
        exact want = (i ? conj(dv[q]) : dv[q]) * (exact)xv[q];
        if (!(modulus(got[q] - want) <= tol_c(t) * tol_u(t) * modulus(want))) bad = q;
      }
      CHECKF(bad < 0, "times, way %d, %s, type %c, n %lld: element %lld", i, p->name,
             kcl_type_letter(t), (long long)n, (long long)bad);
      free(got);
    }
  }
  box_free(b), free(dv), free(xv);
}

/* ---------------------------------------------------------------- dot products */

static void same_dot(const box *b, number got, const number *x, const number *y, const char *what) {
  exact want = 0;
  long double size = 0;
  int64_t n = b->k->n;
  for (int64_t i = 0; i < n; i++)
    want += conjl(x[i]) * (exact)y[i], size += modulus(x[i]) * modulus(y[i]);
  CHECKF(modulus(got - want) <= tol_dot(b->k->type, (double)n, (double)size),
         "%s, %s, type %c, n %lld: %.17g %+.17gi, not %.17Lg %+.17Lgi", what,
         b->k->ctx->device.kind, kcl_type_letter(b->k->type), (long long)n, creal(got), cimag(got),
         creall(want), cimagl(want));
}

static void test_dot(const place *p, kcl_type t, int64_t n) {
  box *b = box_new(p, t, n);
  kcl_vec x = kcl_vector(b->k, "y"), y = kcl_vector(b->k, "y"), w = kcl_vector(b->k, "y"), seen[6];
  kcl_slot s[6];
  number *xv = random_vector(t, n), *yv = random_vector(t, n);
  for (int i = 0; i < 6; i++) s[i] = kcl_scalar(b->k, "s");
  kcl_dot(b->k, s[0], x, y);
  kcl_dot(b->k, s[1], y, x);
  kcl_copy_vector(b->k, w, x);
  kcl_dot(b->k, s[2], w, y); /* of what this stage has just made */
  kcl_lincomb(b->k, w, KCL_MINUS, y, KCL_ZERO, y);
  kcl_dot(b->k, s[3], w, y); /* not what was summed before */
  kcl_dot(b->k, s[4], y, y);
  kcl_dot(b->k, s[5], x, y); /* summed already */
  for (int i = 0; i < 6; i++) seen[i] = show(b, s[i]);
  if (box_ready(b)) {
    give(b, x, xv), give(b, y, yv), go_start(b);
    same_dot(b, take_one(b, seen[0]), xv, yv, "x^H y");
    same_dot(b, take_one(b, seen[1]), yv, xv, "y^H x");
    same_dot(b, take_one(b, seen[2]), xv, yv, "x^H y, x made in the stage");
    same_dot(b, -take_one(b, seen[3]), yv, yv, "-y^H y");
    same_dot(b, take_one(b, seen[4]), yv, yv, "y^H y");
    CHECK(take_one(b, seen[5]) == take_one(b, seen[0]));
    CHECKF(cimag(take_one(b, seen[4])) == 0, "y^H y is real");
  }
  box_free(b), free(xv), free(yv);
}

/* ---------------------------------------------------------------- a program as a method has it */

/* All bits that matter of a few steps of a power iteration on vectors of n elements. */
static void signature(const place *p, kcl_type t, int64_t n, const number *xv, number out[4]) {
  box *b = box_new(p, t, n);
  kcl_vec x = kcl_vector(b->k, "y"), y = kcl_vector(b->k, "y"), seen[2];
  kcl_slot s = kcl_scalar(b->k, "s"), q = kcl_scalar(b->k, "s");
  for (int i = 0; i < 3; i++) {
    kcl_times(b->k, y, x, x, true);
    kcl_dot(b->k, s, x, y), kcl_dot(b->k, q, y, y);
    kcl_divide(b->k, s, plus(s), plus(q));
    kcl_lincomb(b->k, x, plus(s), x, KCL_ONE, y);
  }
  seen[0] = show(b, s), seen[1] = show(b, q);
  if (box_ready(b)) {
    give(b, x, xv), go_start(b);
    number *end = take(b, x);
    out[0] = take_one(b, seen[0]), out[1] = take_one(b, seen[1]), out[2] = end[0],
    out[3] = end[n - 1];
    free(end);
  }
  box_free(b);
}

static void test_repeat(const place *p, kcl_type t, int64_t n) {
  number *xv = random_vector(t, n), first[4] = {0}, again[4] = {0};
  signature(p, t, n, xv, first), signature(p, t, n, xv, again);
  CHECKF(!memcmp(first, again, sizeof first), "the same bits twice, %s, type %c, n %lld", p->name,
         kcl_type_letter(t), (long long)n);
  CHECK(first[0] != 0 && first[2] != xv[0]);
  static const int threads[] = {1, 2, 5};
  for (int i = 0; i < 3 && !p->ctx->opencl; i++) {
    CHECK(kcl_select(p->ctx, "cpu", threads[i]) == KCL_OK);
    signature(p, t, n, xv, again);
    CHECKF(!memcmp(first, again, sizeof first), "the same bits with %d threads, type %c, n %lld",
           threads[i], kcl_type_letter(t), (long long)n);
  }
  free(xv);
}

typedef void (*test)(const place *p, kcl_type t, int64_t n);

int main(void) {
  static const test tests[] = {test_lincomb, test_alias, test_zero,
                               test_times,   test_dot,   test_repeat};
  static const int64_t sizes[] = {1, 31, 33, 1000, 70001};
  open_places();
  for (int p = 0; p < place_count; p++)
    for (kcl_type t = KCL_S; t <= KCL_Z; t++)
      for (int s = 0; can(&places[p], t) && s < (small() ? 3 : 5); s++)
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
          if (half_of(&places[p], t, (int)i)) tests[i](&places[p], t, sizes[s]);
  close_places();
  return check_report();
}
