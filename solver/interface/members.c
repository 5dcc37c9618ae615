/* Members of public structs by name, so that new ones break no program: for kcl_matrix_number, kcl_solver_number and their like. */
#include "solver/interface/handles.h"

#define KIND(f)                                                                                    \
  _Generic((f), double: KCL_IS_DOUBLE, int64_t: KCL_IS_INT64, uint64_t: KCL_IS_UINT64, int: KCL_IS_INT, \
      kcl_reason: KCL_IS_INT, bool: KCL_IS_BOOL, const char *: KCL_IS_TEXT, char *: KCL_IS_CHARS)
#define MEMBER(s, f)                                                                               \
  { #f, KIND(((s *)0)->f), offsetof(s, f) }

#define STATS(f) MEMBER(kcl_stats, f)
const kcl_named kcl_stats_members[] = {STATS(rows),
                                       STATS(cols),
                                       STATS(nnz),
                                       STATS(stored),
                                       STATS(row_min),
                                       STATS(row_max),
                                       STATS(row_mean),
                                       STATS(row_deviation),
                                       STATS(empty_rows),
                                       STATS(explicit_zeros),
                                       STATS(zero_diagonal),
                                       STATS(diagonal_entries),
                                       STATS(bandwidth),
                                       STATS(diagonals),
                                       STATS(hermitian),
                                       STATS(symmetric),
                                       STATS(shifted_skew),
                                       STATS(asymmetry),
                                       STATS(positive_diagonal),
                                       STATS(diagonal_ratio),
                                       STATS(dominant_rows),
                                       STATS(norm_inf),
                                       STATS(row_ratio),
                                       STATS(sell_padded),
                                       STATS(sell_padded2),
                                       STATS(sell_padded4),
                                       STATS(sell_sorted_padded),
                                       STATS(hyb_width),
                                       STATS(hyb_overflow),
                                       STATS(row_patterns),
                                       STATS(pattern_entries),
                                       STATS(pattern_runs),
                                       STATS(distinct_pairs),
                                       STATS(distinct_values),
                                       STATS(values_fit_float),
                                       STATS(slice_span),
                                       STATS(zero_rows),
                                       STATS(first_zero_row),
                                       STATS(zero_cols),
                                       STATS(first_zero_col),
                                       {0}};

#define SETUP(f) MEMBER(kcl_setup_info, f)
const kcl_named kcl_setup_members[] = {SETUP(solver),
                                       SETUP(solver_reason),
                                       SETUP(solver_remembered),
                                       SETUP(precond),
                                       SETUP(format),
                                       SETUP(format_reason),
                                       SETUP(scaled),
                                       SETUP(scale_reason),
                                       SETUP(put_aside),
                                       SETUP(kernel),
                                       SETUP(bytes_stored),
                                       SETUP(seconds_check),
                                       SETUP(seconds_stats),
                                       SETUP(seconds_convert),
                                       SETUP(seconds_upload),
                                       SETUP(seconds_compile),
                                       SETUP(mixed),
                                       SETUP(bytes_float),
                                       SETUP(stages),
                                       SETUP(programs_compiled),
                                       SETUP(programs_cached),
                                       SETUP(nrhs),
                                       SETUP(seconds_measure),
                                       SETUP(expected_iterations),
                                       SETUP(timings),
                                       SETUP(seconds_predicted),
                                       SETUP(seconds_precond),
                                       SETUP(bytes_precond),
                                       SETUP(precond_levels),
                                       SETUP(precond_rows),
                                       SETUP(precond_nonzeros),
                                       SETUP(precond_complexity),
                                       SETUP(precond_note),
                                       SETUP(zero_rows),
                                       SETUP(first_zero_row),
                                       SETUP(zero_cols),
                                       SETUP(first_zero_col),
                                       {0}};

#define REPORT(f) MEMBER(kcl_report, f)
const kcl_named kcl_report_members[] = {REPORT(reason),
                                        REPORT(converged),
                                        REPORT(iterations),
                                        REPORT(x_iteration),
                                        REPORT(residual_restarts),
                                        REPORT(mixed),
                                        REPORT(inner_iterations),
                                        REPORT(outer_iterations),
                                        REPORT(mixed_end),
                                        REPORT(relative_residual),
                                        REPORT(tested_residual),
                                        REPORT(true_relative_residual),
                                        REPORT(normal_residual),
                                        REPORT(least_squares),
                                        REPORT(backward_error),
                                        REPORT(rowwise_error),
                                        REPORT(componentwise_error),
                                        REPORT(condition_estimate),
                                        REPORT(ritz_min),
                                        REPORT(ritz_max),
                                        REPORT(seconds_upload),
                                        REPORT(seconds_solve),
                                        REPORT(seconds_download),
                                        REPORT(seconds_certify),
                                        REPORT(seconds_per_iteration),
                                        REPORT(bytes_per_iteration),
                                        REPORT(changes),
                                        REPORT(checkpoints),
                                        REPORT(bytes_checkpoint),
                                        REPORT(seconds_checkpoint),
                                        REPORT(resumed_at),
                                        REPORT(guard_checks),
                                        REPORT(guard_errors),
                                        REPORT(guard_rollbacks),
                                        REPORT(fell_back),
                                        REPORT(lost_at),
                                        REPORT(lost_why),
                                        REPORT(x_sum),
                                        REPORT(not_unique),
                                        REPORT(least_norm),
                                        {0}};

const kcl_named *kcl_named_find(const kcl_named *table, const char *name, size_t length) {
  for (const kcl_named *m = table; m->name; m++)
    if (strlen(m->name) == length && !memcmp(m->name, name, length)) return m;
  return NULL;
}

double kcl_named_number(const kcl_named *m, const void *of) {
  const void *at = (const char *)of + m->offset;
  switch (m->kind) {
  case KCL_IS_DOUBLE: return *(const double *)at;
  case KCL_IS_INT64: return (double)*(const int64_t *)at;
  case KCL_IS_INT: return *(const int *)at;
  case KCL_IS_BOOL: return *(const bool *)at;
  default: return NAN;
  }
}

const char *kcl_named_text(const kcl_named *m, const void *of) {
  const char *at = (const char *)of + m->offset;
  if (m->kind == KCL_IS_CHARS) return at;
  return m->kind == KCL_IS_TEXT ? *(const char *const *)(const void *)at : NULL;
}

int kcl_named_refuse(kcl_context *ctx, const kcl_named *table, const char *name) {
  enum { MOST = 64 };
  const char *names[MOST];
  int count = 0;
  for (const kcl_named *m = table; m->name && count < MOST; m++)
    if (m->kind <= KCL_IS_BOOL && m->kind != KCL_IS_UINT64) names[count++] = m->name;
  return kcl_refuse_name(ctx, "number", name, names, count);
}
