/* kcl_solver: from a kcl_matrix; solves for vectors anywhere; what the last one was. */
#include "solver/interface/handles.h"

/* ---------------------------------------------------------------- set-up */

kcl_options kcl_options_for(const kcl_options *o, const kcl_csr *A) {
  kcl_options out = kcl_options_of(o);
  out.precision = kcl_precision_for(out.precision, A->type);
  return out;
}

/* Has A been prepared in a format and precision that the solver may have, too? */
static bool may_share(const kcl_matrix *A, const kcl_options *o) {
  if (!A->product || A->about.precision != o->precision) return false;
  return !o->format || !strcmp(o->format, "auto") || !strcmp(o->format, A->about.format);
}

static int create_on_ranks(kcl_matrix *A, kcl_precond *M, const kcl_options *o, kcl_solver **out) {
  const kcl_own_system own = {
      .A = A->A, .shell = A->shell.apply ? &A->shell : NULL, .M = M, .options = o};
  return A->ctx->world->setup(A->ctx, &own, out);
}

/* With the values of s until the new solver is there. */
static int update_on_ranks(kcl_solver *s, const kcl_matrix *A, int keep) {
  const kcl_system *t = &s->system;
  kcl_options o = t->options;
  const kcl_own_system own = {.A = A->A, .M = t->object, .options = &o, .before = s, .keep = keep};
  kcl_solver *fresh = NULL;
  int rc = kcl_check_keep(t->ctx, keep);
  if (!rc && keep != KCL_KEEP_NOTHING) rc = kcl_matrix_check_pattern(t->ctx, s->kept, A->A);
  if ((rc = t->distribution->agree(t->distribution, rc, 0))) return rc;
  o.near_null = A->near_null;
  rc = t->ctx->world->setup(t->ctx, &own, &fresh);
  if (!rc) kcl_solver_replace(s, &fresh);
  return rc;
}

int kcl_solver_create(kcl_matrix *A, kcl_precond *M, const kcl_options *options, kcl_solver **out) {
  int rc;
  if (out) *out = NULL;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(kcl_need(A->ctx, "out", out));
  kcl_options o = kcl_options_for(options, A->A);
  o.near_null = A->near_null;
  if (kcl_on_ranks(A->ctx))
    rc = create_on_ranks(A, M, A->shell.apply ? options : &o, out);
  else if (A->shell.apply)
    rc = kcl_setup_shell(A->ctx, &A->shell, M, options, out);
  else if (M)
    rc = kcl_setup_with(A->ctx, A->A, M, &o, out);
  else if (may_share(A, &o))
    rc = kcl_operator_setup(A->product, &o, out);
  else
    rc = kcl_setup(A->ctx, A->A, &o, out);
  if (!rc) (*out)->kept = kcl_csr_share(A->A);
  return rc;
}

int kcl_solver_update(kcl_solver *s, kcl_matrix *A, int keep) {
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "A", A));
  if (A->ctx != ctx)
    return kcl_fail(ctx, KCL_USAGE, "the solver and the matrix are of different contexts");
  KCL_CALL(kcl_matrix_need_entries(A));
  if (s->system.shared[0] && !s->system.distribution) keep = KCL_KEEP_NOTHING;
  KCL_CALL(s->system.distribution && kcl_on_ranks(ctx) ? update_on_ranks(s, A, keep)
                                                       : kcl_update(s, A->A, keep));
  kcl_csr_free(&s->kept);
  s->kept = kcl_csr_share(A->A);
  return KCL_OK;
}

/* ---------------------------------------------------------------- solves */

static int keep_reports(kcl_solver *s, int64_t count) {
  free(s->report), s->report = NULL, s->reports = 0;
  if (!count) return KCL_OK;
  int rc = kcl_alloc(s->system.ctx, count, sizeof *s->report, "reports", (void **)&s->report);
  if (!rc) s->reports = count;
  return rc;
}

static kcl_result result_of(const kcl_report *r) {
  return (kcl_result){.iterations = r->iterations,
                      .reason = (int32_t)r->reason,
                      .converged = r->converged,
                      .relative_residual = r->relative_residual,
                      .true_relative_residual = r->true_relative_residual,
                      .backward_error = r->backward_error,
                      .seconds = r->seconds_upload + r->seconds_solve + r->seconds_download +
                                 r->seconds_certify};
}

/* Writes as many fields as the caller knows; those that the library does not know become zero. */
static void put_result(kcl_result result, int64_t column, kcl_result *results) {
  result.size = results->size;
  char *to = (char *)results + (size_t)column * result.size;
  memset(to, 0, result.size);
  memcpy(to, &result, result.size < sizeof result ? result.size : sizeof result);
}

/* A struct of another version has the fields up to `converged`, and not many more than this one. */
static int check_result(kcl_context *ctx, const kcl_result *results) {
  enum { LEAST = offsetof(kcl_result, relative_residual), MOST = 16 * sizeof(kcl_result) };
  const size_t size = results ? results->size : LEAST;
  if (size >= LEAST && size <= MOST && size % sizeof(int64_t) == 0) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "kcl_result.size is %zu: sizeof(kcl_result) is needed, %zu here",
                  size, sizeof *results);
}

int kcl_solve(kcl_solver *s, const kcl_vectors *b, kcl_vectors *x, const kcl_call *call,
              kcl_result *results) {
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  KCL_CALL(check_result(ctx, results));
  const int64_t cols = kcl_count_columns(s, b, x);
  for (int64_t j = 0; j < cols && results; j++) put_result((kcl_result){0}, j, results);
  KCL_CALL(keep_reports(s, cols));
  s->running++;
  int rc = kcl_solve_vectors(s, call, b, x, s->report);
  if (rc) s->reports = 0;
  for (int64_t j = 0; j < s->reports && results; j++)
    put_result(result_of(&s->report[j]), j, results);
  s->running--;
  if (s->freed && !s->running) kcl_solver_free(&s);
  return rc;
}

int kcl_solve_array(kcl_solver *s, const void *b, void *x, kcl_result *result) {
  const kcl_vectors B = {.size = sizeof B, .data = (void *)(uintptr_t)b};
  kcl_vectors X = {.size = sizeof X, .data = x};
  return kcl_solve(s, &B, &X, NULL, result);
}

void kcl_solver_report(const kcl_solver *s, int64_t column, kcl_report *out) {
  if (!out) return;
  *out = (kcl_report){0};
  if (s && column >= 0 && column < s->reports) *out = s->report[column];
}

/* ---------------------------------------------------------------- numbers and texts */

/* The member of the set-up or of a column's report that `name`, or `name[column]`, means; *of: that struct. */
static const kcl_named *find_result(const kcl_solver *s, const char *name, kcl_setup_info *info,
                                    const void **of) {
  const size_t length = strcspn(name, "[");
  char *end = NULL;
  const long long column = name[length] ? strtoll(name + length + 1, &end, 10) : 0;
  const bool whole = !name[length] || (end > name + length + 1 && !strcmp(end, "]"));
  const kcl_named *m = kcl_named_find(kcl_setup_members, name, strlen(name));
  *of = info;
  if (m) return kcl_solver_info(s, info), m;
  m = whole ? kcl_named_find(kcl_report_members, name, length) : NULL;
  if (!m || column < 0 || column >= s->reports) return NULL;
  *of = &s->report[column];
  return m;
}

int kcl_solver_number(kcl_solver *s, const char *name, double *out) {
  kcl_setup_info info;
  const void *of;
  if (out) *out = 0;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "name", name));
  KCL_CALL(kcl_need(ctx, "out", out));
  const kcl_named *m = find_result(s, name, &info, &of);
  if (m && !kcl_named_text(m, of) && m->kind != KCL_IS_UINT64)
    return *out = kcl_named_number(m, of), KCL_OK;
  if (kcl_named_find(kcl_report_members, name, strcspn(name, "[")))
    return kcl_fail(ctx, KCL_USAGE, "number %s: the last solve had %lld columns, from 0", name,
                    (long long)s->reports);
  return kcl_named_refuse(ctx, s->reports ? kcl_report_members : kcl_setup_members, name);
}

const char *kcl_solver_text(kcl_solver *s, const char *name) {
  kcl_setup_info info;
  const void *of;
  if (!s || !name) return "";
  KCL_HOLD(s->system.ctx);
  const kcl_named *m = find_result(s, name, &info, &of);
  const char *text = m ? kcl_named_text(m, of) : NULL;
  return text ? text : "";
}

int kcl_solver_history(kcl_solver *s, int64_t column, const double **values, int64_t *count) {
  if (values) *values = NULL;
  if (count) *count = 0;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "values", values));
  KCL_CALL(kcl_need(ctx, "count", count));
  if (column < 0 || column >= s->reports)
    return kcl_fail(ctx, KCL_USAGE, "column %lld: the last solve had %lld, from 0",
                    (long long)column, (long long)s->reports);
  *values = s->report[column].history, *count = s->report[column].history_size;
  return KCL_OK;
}
