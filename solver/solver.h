/* A solver: what kcl_setup makes and kcl_solve runs.
 *
 *   solver/setup.c    set-up, told on one page       solver/solve.c    right-hand sides in, answers out
 *   solver/engine     what runs                      solver/loop       the correction loop around it
 *   solver/auto       the choice around both         solver/mixed      a second engine, in float
 */
#ifndef KCL_SOLVER_H
#define KCL_SOLVER_H

#include "solver/mixed/mixed.h"

typedef struct kcl_sums { /* checksums of A's arrays */
  uint64_t row_ptr, col, val;
} kcl_sums;

/* The caller's structs may go once the set-up returns; their arrays stay. */
typedef struct kcl_given {
  kcl_csr A;
  kcl_dense near_null;
} kcl_given;

struct kcl_solver {
  kcl_given *given;        /* owned: what system.A and its options point to */
  bool running, freed;     /* a solve is running; kcl_solver_free was called meanwhile */
  kcl_system system;       /* to solve, as given */
  kcl_sums sums;           /* of its A at set-up */
  kcl_selection selection; /* the method, and the engine in use */
  kcl_mixed *mixed;        /* NULL: not asked for */
  kcl_history *history;    /* [histories] of the last solve */
  int64_t histories;
  bool factored;      /* a direct solution was tried in the last solve */
  double refused;     /* operations that were too few for one */
  const char *direct; /* what finished it, where no method did; NULL */
};

/* kcl_setup by a system of which A, options and perhaps statistics and matrices on the device are known; A has the sums.
 * before: a solver of other values in A's pattern, to go on with its choices and with what its preconditioners can keep; or
 * NULL. */
int kcl_setup_system(const kcl_system *s, kcl_sums sums, const kcl_solver *before,
                     kcl_solver **out);

/* Direct solutions of the right-hand sides that are not solved, where that is allowed, affordable, and predicted to take
 * about so many seconds at most (solver/rescue.c). owner: a kcl_solver. */
int kcl_rescue(void *owner, kcl_loop *l, double seconds);

/* Checks of what was asked for, before anything is computed; and of A for this method (solver/check.c). */
int kcl_check_options(kcl_system *s);
int kcl_check_device(kcl *ctx,
                     kcl_type type); /* selects one if none is; can it compute in this type? */
/* KCL_INPUT: an entry of A is not finite. A's statistics are known. */
int kcl_check_entries(const kcl_system *s);
int kcl_check_fit(const kcl_system *s, const kcl_method *m);

/* The scaling of A, after its statistics, where one is needed: statistics are then those of the scaled matrix (solver/scale.c).
 * And A as the device has it, if that is not A itself. */
int kcl_system_scale(kcl_system *s);
int kcl_system_convert(kcl_system *s);
/* Its steps, that distributed/ shares. Is it to be equilibrated? Else s->scaling.unit. Are moduli symmetric? Does the format that
 * was named refuse the scaled matrix? s->scale_reason, where it was to be; on several ranks of all. */
bool kcl_scale_wanted(kcl_system *s);
bool kcl_scale_mirrored(const kcl_system *s);
bool kcl_scale_refused(const kcl_system *s, const kcl_stats *scaled);
void kcl_scale_explain(kcl_system *s, double ratio, bool refused);

/* From the device into the callers' x, and report.x_iteration (solver/answer.c). */
int kcl_answer(kcl_loop *l, int rhs);
/* Not solved, and not ended by the caller or the caller's limit. */
bool kcl_solve_failed(const kcl_system *s, kcl_reason reason);
/* The certificate of an answer into its report; the reason becomes what the certificate says. least: of least squares. */
int kcl_certify_rhs(const kcl_system *s, bool least, const kcl_rhs *v);

/* How far row i of the product A x may be from the exact one by rounding in this arithmetic (solver/product_check.c). x: of
 * type D or Z, as A. */
double kcl_product_bound(const kcl_csr *A, kcl_type arithmetic, const double *x, int64_t i);

/* Steps of a set-up and of a solve that distributed/ shares: names that were not given; symmetry by the rule of the options;
 * iterations at most where the caller set no limit; Ritz values into the reports; the reason as the certificate has it. */
kcl_options kcl_options_of(const kcl_options *o); /* kcl_defaults where it is NULL or all zero */
void kcl_read_options(kcl_system *s);
void kcl_apply_symmetry(kcl_system *s);
int64_t kcl_default_limit(int64_t n);
void kcl_report_spectrum(const kcl_loop *l);
/* Right-hand sides and guesses to the device. */
int kcl_loop_put_system(kcl_loop *l);
/* Writes into the reports of right-hand sides that were solved side by side, in equal parts: seconds of upload, iterations and
 * download; bytes per iteration, those of A and those of vectors. Seconds per iteration are the mean over all of them. */
void kcl_loop_share(kcl_loop *l, double matrix, double vectors, const double seconds[3]);
/* The engine in use, and why it was chosen (solver/info.c). */
void kcl_selection_describe(const kcl_selection *c, kcl_setup_info *out);
void kcl_judge(kcl_report *report, const kcl_certificate *c, bool least, double allowed);
/* report.not_unique and least_norm, after the certificate. */
void kcl_report_uniqueness(const kcl_system *s, const kcl_engine *e, const kcl_rhs *v);
/* A certificate from norms, those of 2^shift times b, x and r = b - A x. All residuals are infinite where x is not finite: A x does
 * not depend on the elements of x that belong to columns of zeros. */
typedef struct kcl_norms {
  double b, x, r, b_inf, x_inf, r_inf;
  int shift;
} kcl_norms;
void kcl_certificate_of(const kcl_norms *n, const kcl_row_errors *worst, kcl_certificate *out);
/* max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)); infinite where a number is not finite, or may have vanished. */
typedef struct kcl_adjoint_norms {
  double s, h, F, r; /* |A^H r| 2^s_power, |A^H b| 2^h_power, |A|_F, |r| */
  int s_power, h_power;
  bool s_lost; /* products of A^H r may be below the least number */
} kcl_adjoint_norms;
double kcl_normal_residual(const kcl_adjoint_norms *n);
/* The power of two for A^H w, whose largest product then is near 1: from its exponent, and from |w|_inf, which stays finite. */
int kcl_adjoint_exponent(double product, double w_inf);
/* The largest exponent of |a_ij| |w_i|, w of type D or Z; row: as in kcl_split_product, or NULL; -INFINITY: all are 0. */
double kcl_product_exponent(const kcl_csr *A, const int32_t *row, kcl_type t, const double *w);

/* KCL_MEMORY: A is no longer what it was at set-up (solver/sums.c). */
kcl_sums kcl_sums_of(const kcl_csr *A);
int kcl_sums_check(kcl *ctx, const kcl_csr *A, const kcl_sums *then);

#endif
