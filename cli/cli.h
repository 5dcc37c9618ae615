/* The program's own declarations. It stands on krylocl.h alone: nothing here is known to the
 * library. A subcommand is one file that exports one cli_command; main.c lists them. Functions
 * return an exit code, having printed the message when it is not 0. */
#ifndef CLI_H
#define CLI_H

#include "krylocl.h"
#include <stdarg.h>
#include <stdio.h>

enum { CLI_NOT_CONVERGED = 1, CLI_CHECK_FAILED = 6, CLI_INTERRUPTED = 130 }; /* else: kcl_status */

/* For functions that own something: rc and done: exist, done: frees on both paths. */
#define TRY(call)                                                                                  \
  do {                                                                                             \
    if ((rc = (call)) != 0) goto done;                                                             \
  } while (0)

/* ---------------------------------------------------------------- options.c */

typedef struct cli_options {
  const char *command;
  char **files; /* [count] operands after the subcommand */
  int count;
  const char *output, *rhs, *x0, *json, *csv, *history, *plot; /* NULL: not asked for */
  const char *solver, *precond, *format, *formats, *device, *precision, *check;
  int64_t max_iter, iterations, seconds, threads, restart, columns;
  double tol, atol; /* tol < 0: not given */
  bool cache, minor, mixed, quiet, verbose, help, version;
  uint64_t given; /* a bit for each option of the command line, in the order of options.c */
} cli_options;

typedef struct cli_command {
  const char *name, *operands, *summary;
  const char *options; /* long names it takes, space separated, in the order of its help */
  const char *notes;   /* the rest of its help */
  int min, max;        /* operands */
  bool lists;          /* help ends with formats, solvers, preconditioners */
  int (*run)(kcl *ctx, const cli_options *o);
} cli_command;

/* Fills o from the whole command line. operands receives [argc] pointers; o->files points in it. */
int cli_parse(int argc, char **argv, char **operands, cli_options *o);
int cli_options_belong(const cli_command *c, const cli_options *o); /* to the command */
void cli_print_options(const cli_command *c, FILE *f);

/* ---------------------------------------------------------------- validate.c: before anything is read */

int cli_validate(const cli_command *c, const cli_options *o);
int cli_writable(const char *path);

/* ---------------------------------------------------------------- words.c: errors, names, numbers */

#if defined(__GNUC__)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF(f, a)
#endif

int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3); /* prints; returns code */
int cli_lib(const kcl *ctx, int rc); /* prints the library's message when rc is not 0; returns rc */
/* An error that lists the names and the nearest one. */
int cli_unknown(const char *kind, const char *name, const char *const *names, int count);
int cli_known(const char *kind, const char *name, kcl_registry which,
              const char *const *extra); /* other words that will do, to a NULL; or NULL */
void cli_say(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3); /* unless quiet */
FILE *cli_out(const cli_options *o); /* where people read: not where JSON or x goes */

typedef struct cli_text {
  char s[40];
} cli_text;
cli_text cli_count(int64_t n);    /* 1,234,567 */
cli_text cli_bytes(double bytes); /* 12.3 MB */
cli_text cli_seconds(double s);   /* 12.3 ms */
const char *cli_type_words(kcl_type t);
const char *cli_base(const char *path); /* without folders */
const char *cli_path(const char *path); /* "-" as a name that can be opened for writing */
double cli_now(void);

/* ---------------------------------------------------------------- problem.c */

typedef struct cli_problem { /* A x = b on the host, types D or Z alike */
  kcl_csr *A;
  kcl_dense *b, *x;
  bool ones;          /* b = A*1, so x should be 1 */
  bool own;           /* b stands in the file of A */
  bool repeated;      /* x was one column, and b is several */
  kcl_type precision; /* of the solve */
  double seconds_read;
} cli_problem;

/* What a file holds: b and x0 may be NULL pointers, and are NULL when it has none. */
int cli_read(kcl *ctx, const cli_options *o, const char *path, kcl_csr **A, kcl_dense **b,
             kcl_dense **x0);
/* b NULL: that in the file of A, else A*1. x NULL: zeros, or the guess beside its own b. */
int cli_problem_load(kcl *ctx, const cli_options *o, const char *A, const char *b, const char *x,
                     cli_problem *p);
void cli_problem_free(cli_problem *p);
int cli_matrix_load(kcl *ctx, const cli_options *o, const char *path, kcl_csr **A,
                    kcl_type *precision);
double *cli_column(const kcl_dense *B, int64_t j);
double cli_error_from_ones(const kcl_dense *x, int64_t j); /* |x - 1|_inf */
int cli_device(kcl *ctx, const cli_options *o, kcl_device *d);
cli_text cli_device_place(const kcl_device *d); /* "cpu" or "P:D" */

/* ---------------------------------------------------------------- get.c */

bool cli_is_collection(const char *path); /* a name such as HB/bcsstk16, and no file */
int cli_collection(kcl *ctx, const cli_options *o, const char *name, char *path, size_t room);
bool cli_collection_rhs(const char *matrix, char *path, size_t room);

/* ---------------------------------------------------------------- compare.c */

typedef struct cli_compare {
  kcl_direct_info direct;
  kcl_certificate ours, theirs;
  bool unique;                /* x is one of a kind; else the products A x are compared */
  double difference, allowed; /* relative, and what the check grants */
  bool pass;
} cli_compare;
int cli_compare_direct(kcl *ctx, const kcl_csr *A, const double *b, const double *x, double tol,
                       cli_compare *out);
bool cli_compare_decides(const cli_compare *c); /* false: too ill-conditioned to tell */
void cli_compare_say(const cli_options *o, const cli_compare *c);

/* ---------------------------------------------------------------- solve.c, report.c, solve_json.c */

typedef struct cli_result { /* of one right-hand side */
  kcl_report report;
  double *history;      /* [report.history_size], ours */
  char *changes;        /* ours */
  double forward_error; /* < 0: not known */
  bool checked;
  cli_compare check;
} cli_result;

typedef struct cli_run { /* everything a report tells */
  const cli_options *o;
  cli_problem p;
  kcl_options asked;
  kcl_device device;
  kcl_solver *solver;
  kcl_setup_info setup;
  cli_result *results;   /* [solved] of p.b->cols, fewer when interrupted */
  int64_t solved, worst; /* worst: the first not converged, else the largest true residual */
  double stream;         /* bytes/s, 0: not known */
  double seconds_solve, seconds_total; /* seconds_solve: of all columns */
} cli_run;

void report_device(const cli_options *o, const kcl_device *d);
void report_matrix(const cli_options *o, const char *path, const kcl_csr *A, double seconds);
void report_method(const cli_run *r);
void report_results(const cli_run *r);
int solve_json(const cli_run *r);

/* ---------------------------------------------------------------- bench.c, bench_report.c, bench_mixed.c */

typedef struct cli_ending { /* of a whole solve (bench_mixed.c) */
  bool converged;
  int64_t iterations;
  int corrections, samples;
  double sample[8], seconds, residual, bytes_per_iteration;
  char note[200];
} cli_ending;

typedef struct cli_row {                    /* one format on one matrix */
  char format[32], kernel[96], status[640]; /* status: "ok", "refused: ..." or "failed: ..." */
  bool ok, validated;
  double median, min, max, product; /* seconds: an iteration, a product, of all columns */
  int columns;                      /* at once */
  double bytes_stored, bytes_per_iteration;
  bool compared;
  cli_ending ending[2]; /* in double, in mixed precision */
} cli_row;

typedef struct cli_table { /* one matrix */
  const char *file, *solver;
  kcl_type precision;
  kcl_device device;
  int64_t rows, cols, nnz;
  int64_t columns; /* right-hand sides at once */
  double stream;   /* bytes/s, 0: not known */
  int count;
  cli_row row[64];
} cli_table;

double bench_gflops(const cli_table *t, const cli_row *r); /* 2 per nonzero, 8 when complex */
void bench_say(const cli_options *o, const cli_table *t);
int bench_json(const cli_options *o, const cli_table *tables, int count);
cli_row *bench_fastest(cli_table *t); /* or NULL */
int bench_mixed(kcl *ctx, const cli_options *o, const kcl_csr *A, const cli_table *t, cli_row *r);
void bench_mixed_say(const cli_options *o, const cli_row *r);
struct cJSON;
void bench_mixed_json(struct cJSON *row, const cli_row *r);
int bench_csv(const cli_options *o, const cli_table *tables, int count);

/* ---------------------------------------------------------------- progress.c */

typedef struct cli_progress {
  bool terminal, lines;
  double next; /* seconds into the solve of the next line */
  bool shown;
} cli_progress;
cli_progress cli_progress_begin(const cli_options *o); /* catches the interrupt key as well */
int cli_progress_show(void *user, const kcl_progress *p);
void cli_progress_end(cli_progress *s);
bool cli_interrupted(void);

/* ---------------------------------------------------------------- json.c, csv.c, plot.c */

void json_number(struct cJSON *o, const char *key,
                 double v); /* every digit; null when not finite */
void json_count(struct cJSON *o, const char *key, int64_t v);
void json_text(struct cJSON *o, const char *key, const char *v);
void json_bool(struct cJSON *o, const char *key, bool v);
void json_matrix(struct cJSON *o, const char *path, const kcl_csr *A);
void json_device(struct cJSON *o, const kcl_device *d);
void json_compare(struct cJSON *o, const cli_compare *c);
int json_write(const char *path, const struct cJSON *o);

int csv_open(const char *path, FILE **f);
int csv_close(const char *path, FILE **f);
void csv_text(FILE *f, const char *v);
void csv_number(FILE *f, double v);

typedef struct cli_curve { /* one line of a convergence history */
  const double *v;
  int64_t n;
  double recomputed; /* the true residual at its end */
} cli_curve;
int plot_history(const char *path, const char *title, const cli_curve *curves, int64_t count,
                 double target);
int plot_pattern(kcl *ctx, const char *path, const char *title, const kcl_csr *A);

#endif
