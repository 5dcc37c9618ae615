/* Timing of one prepared system: the product is validated first, then the loop runs with its tests
 * off (Dongarra & Heroux 2013, HPCG: fixed iterations, validated before timed).
 *
 * The bound: |y_i - y_ref_i| <= (k_i + 2) c u (|A| |x|)_i for any order of summation, k_i the
 * length of row i, u the unit roundoff of the precision, c = 1 or 2 sqrt 2 for complex (Higham 2002, 3.1, 3.6),
 * and 2 u more where the matrix was rounded to single.
 */
#include "core/context.h"
#include "solver/solver.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A repeatable vector without zeros or symmetry, in [1/2, 3/2): values that float holds exactly. */
static void fill(double *v, int64_t n, int column) {
  uint64_t state = 88172645463325252u + (uint64_t)column * 7046029254386353131u;
  for (int64_t i = 0; i < n; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia 2003 */
    v[i] = 0.5 + (double)(state >> 44) / (double)(1 << 20);
  }
}

/* The state at the beginning: no column stopped, tests off. */
static int begin(kcl_executor *ex) {
  kcl_head head[KCL_MOST_COLUMNS];
  const double target[KCL_MOST_COLUMNS] = {0};
  for (int c = 0; c < KCL_MOST_COLUMNS; c++)
    head[c] = (kcl_head){.limit = INT32_MAX, .untested = 1};
  return ex->set_state(ex, head, target);
}

/* A program of one product, to time and to validate. */
static int product_program(kcl_solver *s, kcl_program **k, kcl_executor *ex, kcl_vec *y) {
  int rc = kcl_program_create(s->ctx, s->program->type, s->A->rows, s->A->cols, k);
  if (rc) return rc;
  (*k)->A = s->matrix, (*k)->columns = s->program->columns;
  *y = kcl_vector(*k);
  kcl_begin(*k, KCL_START);
  kcl_apply(*k, *y, s->matrix, kcl_x(*k));
  rc = kcl_program_end(*k);
  return rc ? rc : kcl_executor_open(*k, ex);
}

static bool row_agrees(const kcl_solver *s, int64_t i, const double *x, const double *y,
                       const double *ref) {
  const kcl_csr *A = s->A;
  kcl_type type = s->program->type, wide = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  bool single = type == KCL_S || type == KCL_C;
  double sum = 0, u = single ? FLT_EPSILON / 2 : DBL_EPSILON / 2,
         c = kcl_type_complex(type) ? 2 * sqrt(2) : 1;
  int64_t k0 = A->row_ptr[i], k1 = A->row_ptr[i + 1];
  for (int64_t k = k0; k < k1; k++)
    sum += kcl_abs(A->type, A->val, k) * kcl_abs(wide, x, A->col[k]);
  int w = wide == KCL_Z ? 2 : 1;
  double error =
      w == 2 ? hypot(y[2 * i] - ref[2 * i], y[2 * i + 1] - ref[2 * i + 1]) : fabs(y[i] - ref[i]);
  return error <= (double)(k1 - k0 + 4) * c * u * sum;
}

static int validate(kcl_solver *s, kcl_executor *ex, const kcl_program *k, kcl_vec y_vec,
                    bool *good) {
  const kcl_csr *A = s->A;
  kcl_type wide = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  int64_t w = wide == KCL_Z ? 2 : 1;
  double *x = NULL, *y = NULL, *ref = NULL;
  int rc;
  KCL_TRY(kcl_alloc(s->ctx, A->cols * w, sizeof *x, "a vector", (void **)&x));
  KCL_TRY(kcl_alloc(s->ctx, A->rows * w, sizeof *y, "a vector", (void **)&y));
  KCL_TRY(kcl_alloc(s->ctx, A->rows * w, sizeof *ref, "a vector", (void **)&ref));
  for (int c = 0; c < k->columns; c++) {
    fill(x, A->cols * w, c);
    KCL_TRY(ex->put(ex, k->x, c, wide, x, 1.0));
  }
  KCL_TRY(begin(ex));
  KCL_TRY(ex->run(ex, KCL_START, 1));
  *good = true;
  for (int c = 0; c < k->columns; c++) {
    fill(x, A->cols * w, c);
    KCL_TRY(ex->get(ex, y_vec, c, wide, y, 1.0));
    kcl_csr_product(A, x, NULL, ref);
    for (int64_t i = 0; i < A->rows && *good; i++) *good = row_agrees(s, i, x, y, ref);
  }
done:
  free(x), free(y), free(ref);
  return rc;
}

/* In batches that the history holds. */
static int time_product(kcl_executor *ex, int times, double *seconds) {
  int rc = ex->finish(ex);
  if (rc) return rc;
  double t = kcl_now();
  for (int done = 0, batch; done < times && !rc; done += batch) {
    batch = times - done < KCL_HISTORY / 4 ? times - done : KCL_HISTORY / 4;
    rc = ex->run(ex, KCL_START, batch);
  }
  if (!rc) rc = ex->finish(ex);
  *seconds = (kcl_now() - t) / times;
  return rc;
}

/* Seconds an iteration, over at least so many: a pass over LOOP may stand for several. */
static int time_iterations(kcl_solver *s, int iterations, double *seconds) {
  int steps = s->program->steps, passes = (iterations + steps - 1) / steps;
  int64_t since = 0, most = KCL_HISTORY / 4 / steps;
  int rc = s->executor.finish(&s->executor);
  if (rc) return rc;
  double t = kcl_now();
  for (int64_t left = passes; left > 0 && !rc; left -= most)
    rc = kcl_advance(s, left < most ? left : most, &since);
  if (!rc) rc = s->executor.finish(&s->executor);
  *seconds = (kcl_now() - t) / passes / steps;
  return rc;
}

/* Every repetition starts the method afresh, so that no residual runs into underflow. */
int kcl_time_loop(kcl_solver *s, int iterations, int repeats, double *seconds) {
  kcl_executor *ex = &s->executor;
  kcl_type wide = kcl_type_complex(s->A->type) ? KCL_Z : KCL_D;
  int64_t w = wide == KCL_Z ? 2 : 1;
  double *b = NULL, *x = NULL, warm;
  int rc;
  KCL_TRY(kcl_alloc(s->ctx, w * s->A->rows, sizeof *b, "a vector", (void **)&b));
  KCL_TRY(kcl_alloc(s->ctx, w * s->A->cols, sizeof *x, "a vector", (void **)&x));
  for (int c = 0; c < s->program->columns; c++) {
    fill(b, w * s->A->rows, c);
    KCL_TRY(ex->put(ex, s->program->b, c, wide, b, 1.0));
  }
  for (int i = -1; i < repeats; i++) {
    for (int c = 0; c < s->program->columns; c++)
      KCL_TRY(ex->put(ex, s->program->x, c, wide, x, 1.0));
    KCL_TRY(begin(ex));
    KCL_TRY(ex->run(ex, KCL_START, 1));
    KCL_TRY(time_iterations(s, iterations, i < 0 ? &warm : &seconds[i]));
  }
done:
  free(b), free(x);
  return rc;
}

int kcl_bench(kcl_solver *s, int iterations, int repeats, double *seconds_iteration,
              double *seconds_product, bool *validated) {
  kcl_program *k = NULL;
  kcl_executor ex = {0};
  kcl_vec y;
  int rc;
  *validated = false;
  KCL_TRY(product_program(s, &k, &ex, &y));
  KCL_TRY(validate(s, &ex, k, y, validated));
  if (!*validated) goto done;
  KCL_TRY(begin(&ex));
  for (int i = 0; i < repeats; i++) KCL_TRY(time_product(&ex, iterations, &seconds_product[i]));
  KCL_TRY(kcl_time_loop(s, iterations, repeats, seconds_iteration));
done:
  if (ex.close) ex.close(&ex);
  kcl_program_free(&k);
  return rc;
}
