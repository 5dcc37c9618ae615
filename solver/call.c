/* kcl_solve_vectors: the settings of a call, and its right-hand sides, as many at a
 * time as the engine takes (solver/solve.c). Arrays without gaps between the numbers of a column are used in place, others are
 * copied; columns in OpenCL buffers stay there. */
#include "solver/engine/given.h"
#include "solver/readback.h"
#include "solver/vectors.h"

/* ---------------------------------------------------------------- columns */

typedef struct columns {
  kcl_solver *s;
  kcl_vectors B, X; /* the caller's; on several ranks own parts */
  int64_t k;
  size_t size; /* of a number */
  char *b,
      *x; /* [as many as are solved at once, rows], owned: copies of columns with gaps; or NULL */
} columns;

static int allocate_copies(columns *c) {
  const kcl_system *s = &c->s->system;
  const int64_t at_once = c->s->selection.engine->program->nrhs;
  int rc = KCL_OK;
  if (s->distribution || c->B.place == KCL_OPENCL) return KCL_OK;
  if (c->B.inc != 1) rc = kcl_alloc(s->ctx, at_once * s->A->rows, c->size, "b", (void **)&c->b);
  if (!rc && c->X.inc != 1)
    rc = kcl_alloc(s->ctx, at_once * s->A->cols, c->size, "x", (void **)&c->x);
  return rc;
}

/* Column j of an array, or a copy of it at place i of `copies`. */
static char *column_in_place(const kcl_vectors *v, int64_t j, size_t size, char *copies, int i) {
  if (!copies) return kcl_vectors_at(v, j, size);
  char *copy = copies + (size_t)(i * v->rows) * size;
  kcl_vectors_gather(v, j, size, copy);
  return copy;
}

static int column_norm(const columns *c, int64_t j, double *norm) {
  const kcl_csr *A = c->s->system.A;
  if (c->B.place == KCL_HOST) {
    *norm = kcl_norm2(A->type, column_in_place(&c->B, j, c->size, c->b, 0), A->rows);
    return KCL_OK;
  }
  const kcl_column b = kcl_vectors_column(&c->B, j, A->type);
  kcl_column_size size;
  int rc = kcl_measure_column(c->s->system.ctx, &b, A->rows, &size);
  *norm = rc ? 0 : size.norm;
  return rc;
}

/* One column in a buffer is looked at when its solve begins; and all where their numbers come to the host. */
static int check_finite(const columns *c) {
  kcl_context *ctx = c->s->system.ctx;
  if (c->B.place == KCL_OPENCL && (c->k == 1 || !kcl_given_on_device(&c->s->system))) return KCL_OK;
  for (int64_t j = 0; j < c->k; j++) {
    double norm;
    KCL_CALL(column_norm(c, j, &norm));
    if (norm < INFINITY) continue;
    if (c->k == 1) return kcl_fail(ctx, KCL_INPUT, "the right-hand side is not finite");
    return kcl_fail(ctx, KCL_INPUT, "column %lld of the right-hand side is not finite",
                    (long long)j + 1);
  }
  return KCL_OK;
}

static int take_buffers(const columns *c, int64_t j, kcl_rhs *v) {
  const kcl_system *s = &c->s->system;
  v->b_column = kcl_vectors_column(&c->B, j, s->A->type);
  v->x_column = kcl_vectors_column(&c->X, j, s->A->type);
  if (!c->s->call.zero_guess) return KCL_OK;
  return kcl_copy_column(s->ctx, &v->x_column, &v->x_column, s->A->cols, 0);
}

static void take_arrays(const columns *c, int64_t j, int i, kcl_rhs *v) {
  const size_t bytes = (size_t)c->s->system.A->cols * c->size;
  v->b = column_in_place(&c->B, j, c->size, c->b, i);
  if (c->s->call.zero_guess && c->x)
    v->x = memset(c->x + (size_t)i * bytes, 0, bytes);
  else
    v->x = column_in_place(&c->X, j, c->size, c->x, i);
}

/* Columns [from, from + nrhs). */
static int take_columns(const columns *c, int64_t from, int nrhs, kcl_rhs *list) {
  const kcl_csr *A = c->s->system.A;
  kcl_distribution *d = c->s->system.distribution;
  int rc = d ? d->take(d, from, nrhs, c->B.data, c->X.data, list) : KCL_OK;
  for (int i = 0; i < nrhs && !rc; i++) {
    if (!d && c->B.place == KCL_OPENCL)
      rc = take_buffers(c, from + i, &list[i]);
    else if (!d)
      take_arrays(c, from + i, i, &list[i]);
    if (c->s->call.zero_guess && list[i].x) memset(list[i].x, 0, (size_t)A->cols * c->size);
  }
  return rc;
}

static int return_columns(const columns *c, int64_t from, int nrhs, const kcl_rhs *list) {
  kcl_distribution *d = c->s->system.distribution;
  if (d) return d->give_back(d, from, nrhs, list, c->X.data);
  for (int i = 0; i < nrhs && c->x; i++) kcl_vectors_scatter(&c->X, from + i, c->size, list[i].x);
  return KCL_OK;
}

static int new_histories(kcl_solver *s, int64_t count) {
  kcl_histories_free(&s->history, s->histories);
  s->histories = 0;
  int rc =
      kcl_alloc(s->system.ctx, count, sizeof *s->history, "the histories", (void **)&s->history);
  if (!rc) s->histories = count;
  return rc;
}

/* On the device, or where its solver was continued. */
static int solve_group(kcl_solver *s, int nrhs, const kcl_rhs *list) {
  if (s->standby) return kcl_fall_back(s, nrhs, list, KCL_OK);
  const int rc = kcl_solve_some(s, nrhs, list);
  const bool continues = kcl_device_lost(s, list, rc) && kcl_may_fall_back(s);
  if (continues) return kcl_fall_back(s, nrhs, list, rc);
  kcl_readback_forget(s);
  return rc;
}

static int solve_all_columns(columns *c, kcl_report *reports) {
  kcl_solver *s = c->s;
  int at_once = s->selection.engine->program->nrhs;
  int rc = allocate_copies(c);
  if (!rc && !s->system.distribution) rc = check_finite(c);
  if (!rc) rc = kcl_ranks_agree(kcl_system_ranks(&s->system), new_histories(s, c->k));
  s->selection.changes[0] = 0, s->seconds_solve = 0;
  if (s->standby) s->standby->selection.changes[0] = 0;
  for (int64_t j = 0; j < c->k && !rc; j += at_once) {
    kcl_rhs list[KCL_MAX_NRHS] = {{0}};
    kcl_report unasked[KCL_MAX_NRHS];
    int nrhs = c->k - j < at_once ? (int)(c->k - j) : at_once;
    rc = take_columns(c, j, nrhs, list);
    for (int i = 0; i < nrhs; i++) {
      list[i].report = reports ? &reports[j + i] : &unasked[i];
      list[i].history = &s->history[j + i];
    }
    if (!rc) rc = solve_group(s, nrhs, list);
    if (!rc) rc = return_columns(c, j, nrhs, list);
  }
  free(c->b), free(c->x);
  return rc;
}

/* ---------------------------------------------------------------- settings of one call */

static int check_call(kcl_context *ctx, const kcl_call *given, int32_t place, kcl_call *out) {
  const kcl_call none = {.size = sizeof none};
  KCL_CALL(kcl_read_sized(ctx, "kcl_call", given ? given : &none, offsetof(kcl_call, zero_guess),
                          sizeof *out, out));
  if (!(out->tol >= 0) || !(out->atol >= 0) || out->max_iter < 0)
    return kcl_fail(ctx, KCL_USAGE, "tol %g, atol %g and max_iter %lld of a call: 0 or more",
                    out->tol, out->atol, (long long)out->max_iter);
  if (out->certify < KCL_CERTIFY_DEFAULT || out->certify > KCL_CERTIFY_NOTHING)
    return kcl_fail(ctx, KCL_USAGE, "certify %d: no such certificate", (int)out->certify);
  if (out->zero_guess != 0 && out->zero_guess != 1)
    return kcl_fail(ctx, KCL_USAGE, "zero_guess %d: 0 or 1", (int)out->zero_guess);
  if (!out->certify) out->certify = place == KCL_OPENCL ? KCL_CERTIFY_NOTHING : KCL_CERTIFY_FULL;
  return KCL_OK;
}

/* x is shown of one right-hand side, whose x on the device is the caller's but for scaling. */
static int check_every(const kcl_solver *s, int64_t k, const kcl_call *c) {
  const bool at_once = k > 1 && s->selection.engine->program->nrhs > 1;
  if (!c->every) return KCL_OK;
  if (c->every > 0 && c->progress && !at_once && !kcl_mixed_used(s->mixed) &&
      !s->system.distribution)
    return KCL_OK;
  return kcl_fail(s->system.ctx, KCL_USAGE,
                  "every %lld of a call: 0, or a positive number with a function `progress`, where "
                  "one right-hand side is solved at a time, not in mixed precision and not on "
                  "several ranks",
                  (long long)c->every);
}

static int check_buffers(const kcl_solver *s, const columns *c) {
  if (c->B.place == KCL_HOST || s->system.options.fallback == KCL_FALLBACK_NONE) return KCL_OK;
  return kcl_fail(
      s->system.ctx, KCL_USAGE,
      "the option fallback: not with vectors in OpenCL buffers, which are lost with the "
      "device: give arrays");
}

static void use_call(kcl_options *o, const kcl_call *c) {
  if (c->tol > 0) o->tol = c->tol;
  if (c->atol > 0) o->atol = c->atol;
  if (c->max_iter) o->max_iter = c->max_iter;
  if (c->progress) o->progress = c->progress, o->user = c->user;
}

/* Columns that b and x could have in memory, and reports. */
static int64_t most_columns(const kcl_solver *s) {
  const int64_t n = s ? kcl_system_size(&s->system) : 1,
                size = s ? (int64_t)kcl_type_size(s->system.A->type) : 1;
  const int64_t bytes = n * size;
  return PTRDIFF_MAX / (bytes > (int64_t)sizeof(kcl_report) ? bytes : (int64_t)sizeof(kcl_report));
}

static void zero_reports(int64_t k, kcl_report *reports) {
  if (reports) memset(reports, 0, (size_t)k * sizeof *reports);
}

static int read_columns(columns *c, const kcl_vectors *B, const kcl_vectors *X) {
  static const char *const names[] = {"b", "x"};
  const kcl_system *s = &c->s->system;
  kcl_distribution *d = s->distribution;
  const kcl_type t = s->A->type;
  const bool shared = d, absent = d && d->without_vectors;
  const kcl_vectors_need b = {names[0], t, s->A->rows, true, false, shared, absent},
                         x = {names[1], t, s->A->cols, true, true, shared, absent};
  if (c->k < 1 || c->k > most_columns(c->s))
    return kcl_fail(s->ctx, KCL_USAGE,
                    "%lld right-hand sides: at least 1, and as many as memory can hold",
                    (long long)c->k);
  KCL_CALL(kcl_vectors_read(s->ctx, B, &b, &c->B));
  KCL_CALL(kcl_vectors_read(s->ctx, X, &x, &c->X));
  if (!shared) return kcl_vectors_check_pair(s->ctx, &c->B, &c->X, names);
  if (!absent && c->B.data == c->X.data)
    return kcl_fail(s->ctx, KCL_USAGE, "b and x overlap: each needs memory of its own");
  return KCL_OK;
}

/* Callbacks see the context as it is during a solve; a solver that one of them freed is freed at the end. */
static int solve_columns(kcl_solver *s, const kcl_call *call, int64_t k, const kcl_vectors *B,
                         const kcl_vectors *X, kcl_report *reports) {
  if (k > 0 && k <= most_columns(s)) zero_reports(k, reports);
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  kcl_distribution *d = s->system.distribution;
  columns c = {.s = s, .k = k, .size = kcl_type_size(s->system.A->type)};
  int rc = read_columns(&c, B, X);
  if (!rc) rc = check_call(ctx, call, c.B.place, &s->call);
  if (!rc) rc = check_every(s, k, &s->call);
  if (!rc) rc = check_buffers(s, &c);
  if (!rc) rc = kcl_checkpoints_check(s, k);
  if ((rc = d ? d->agree(d, rc, k) : rc)) return rc;
  const kcl_options given = s->system.options;
  use_call(&s->system.options, &s->call);
  ctx->stop = false;
  s->running++, ctx->solving = true;
  rc = solve_all_columns(&c, reports);
  s->running--, ctx->solving = false;
  s->system.options = given;
  if (d) rc = d->agree(d, rc, k);
  if (rc) zero_reports(k, reports);
  if (s->freed && !s->running) kcl_solver_free(&s);
  return rc;
}

/* ---------------------------------------------------------------- public */

/* The number of columns, as far as it can be read. */
static int64_t count_right_hand_sides(const kcl_vectors *v) {
  return v && v->size >= sizeof *v && v->cols ? v->cols : 1;
}

int64_t kcl_count_columns(kcl_solver *s, const kcl_vectors *B, const kcl_vectors *X) {
  columns c = {.s = s, .k = count_right_hand_sides(B)};
  return read_columns(&c, B, X) ? 0 : c.k;
}

int kcl_solve_vectors(kcl_solver *s, const kcl_call *call, const kcl_vectors *B, kcl_vectors *X,
                      kcl_report *reports) {
  return solve_columns(s, call, count_right_hand_sides(B), B, X, reports);
}

void kcl_solver_stop(kcl_solver *s) {
  if (s) s->system.ctx->stop = true;
}
