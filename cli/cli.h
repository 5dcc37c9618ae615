/* Declarations of the program, which uses the library through krylocl.h alone. A subcommand is one
 * file that exports one cli_command; main.c lists them. Functions that return an exit code have
 * printed the message if it is not 0. */
#ifndef CLI_H
#define CLI_H

#include "krylocl.h"
#include <stdarg.h>
#include <stdio.h>

enum {
  CLI_NOT_CONVERGED = 1,
  CLI_SLOWER = 1,
  CLI_CHECK_FAILED = 6,
  CLI_CHECK_UNDECIDED = 7,
  CLI_INTERRUPTED = 130
}; /* else: kcl_status */

/* For functions that own resources: needs a variable rc and a label done, which frees on both
 * paths. */
#define CLI_TRY(call)                                                                              \
  do {                                                                                             \
    if ((rc = (call)) != 0) goto done;                                                             \
  } while (0)

/* ---------------------------------------------------------------- options.c */

typedef struct cli_options {
  const char *command;
  const struct cli_command *const *commands; /* all subcommands, ended by NULL */
  int argc;                                  /* the whole line */
  char **argv;
  char **files; /* [count] operands after the subcommand */
  int count;
  const char *output, *rhs, *x0, *json, *csv, *history, *plot; /* NULL: not asked for */
  const char *near_null, *coordinates, *preconds, *devices, *shares;
  const char *solver, *precond, *format, *formats, *device, *precision, *check, *check_output,
      *symmetry, *scale, *partition, *threads_list, *layout, *resume, *index_base, *figures,
      *markdown, *latex, *page;
  int64_t max_iter, iterations, seconds, threads, restart, nrhs, ranks, samples,
      rounds;                                           /* threads: the first */
  double least;                                         /* percent */
  double tol, atol, check_tol, time_limit, alpha, beta; /* tol < 0: not given */
  bool adjoint, verify, compare;                        /* verify: --check of spmv */
  bool cache, mixed, no_direct, reproducible, quiet, verbose, source, force, profile, help, brief,
      version;    /* brief: -h */
  uint64_t given; /* one bit per option on the command line, in the order of options.c */
} cli_options;

typedef struct cli_command {
  const char *name, *operands, *summary;
  const char *options; /* long names, separated by spaces; -h shows those before "|" */
  const char *notes;   /* of its help: one paragraph per line, indented if it begins with blanks */
  int min, max;        /* number of operands */
  bool lists;          /* takes names that krylocl list prints */
  bool generates;      /* its operand is a kind of generated system and its size */
  bool many;           /* takes lists of devices, numbers of threads, methods and precisions */
  bool reads;          /* its operands are files that must exist */
  int (*run)(kcl *ctx, const cli_options *o);
} cli_command;

typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_COUNT, CLI_COUNTS, CLI_REAL } cli_kind;
typedef struct cli_option {
  const char *name;
  char letter; /* 0: none */
  cli_kind kind;
  const char *arg; /* the argument's name in the help */
  size_t offset;   /* in cli_options */
  double min, max; /* of numbers */
  const char *help;
  const char
      *values; /* words it takes, "@solvers": those of the list; NULL: a file; "": a number */
} cli_option;

/* Parses the whole command line. operands: [argc], filled; o->files points into it. */
int cli_parse(const cli_command *const *commands, int argc, char **argv, char **operands,
              cli_options *o);
const cli_command *cli_command_named(const cli_command *const *commands,
                                     const char *name); /* or NULL */
/* Does c take all that are given? */
int cli_options_belong(const cli_command *c, cli_options *o);
const cli_option *cli_option_at(const cli_command *c, int i); /* that c takes, or NULL */
bool cli_given(const cli_options *o, const char *name);       /* on the command line */
/* A line "--name=value" for each option that all ranks of a run must have alike. Of files: whether one is given. */
void cli_options_print(FILE *f, const cli_options *o);
bool cli_option_common(const cli_command *c, const cli_option *e); /* shown by -h */

/* ---------------------------------------------------------------- commands.c: known to main.c alone, others are given it */

extern const cli_command *const cli_commands[]; /* ended by NULL */

/* ---------------------------------------------------------------- help.c, list.c, version.c */

typedef struct cli_names { /* a list that krylocl list prints */
  const char *word, *title;
  kcl_registry which;
} cli_names;
extern const cli_names cli_lists[]; /* ended by word NULL */

/* c NULL: of the program, whose subcommands are listed. */
int cli_help(const cli_command *c, const cli_command *const *commands, bool everything);
void cli_print_list(const cli_names *l);
/* Words of a paragraph from column `at` on, further lines from column `indent` on, then a newline. */
void cli_wrap(FILE *f, int at, int indent, const char *text, int length);
const char *cli_about(void), *cli_files(void), *cli_exits(void);
int cli_version(void);

/* ---------------------------------------------------------------- report.c */

/* The page of o->page, of the JSON of krylocl bench. */
int cli_report_text(const cli_options *o, const char *name, const char *json);

/* ---------------------------------------------------------------- validate.c */

int cli_validate(const cli_command *c, cli_options *o); /* before any file is read */
kcl_symmetry_rule cli_symmetry_rule(const char *name);  /* of a valid name, or NULL */
kcl_scale_rule cli_scale_rule(const char *name);        /* likewise */

/* ---------------------------------------------------------------- same.c */

/* KCL_USAGE if an output is the file of an input, of another output or of the report. NULL: not given. */
int cli_files_apart(const cli_command *c, const cli_options *o, const char *const *outputs,
                    size_t count);

/* ---------------------------------------------------------------- output.c, gnuplot.c */

void cli_open_standard(void);   /* descriptors 0 to 2 that are closed become /dev/null */
bool cli_standard_output(void); /* false: it was closed */
/* To a file that appears when it is complete; "-": standard output. */
int cli_write(const char *path, const void *data, size_t size);

typedef struct cli_buffer { /* text in memory, printed to f */
  FILE *f;
  char *data;
  size_t size;
} cli_buffer;
int buffer_open(cli_buffer *b);
int buffer_close(cli_buffer *b);                   /* data and size are complete then */
int buffer_write(cli_buffer *b, const char *path); /* to a file, and frees */
void buffer_free(cli_buffer *b);
int cli_contents(const char *path, cli_buffer *b); /* of a file, and a zero; "-": standard input */
/* Feeds a program, NULL-terminated arguments, and collects what it prints. Its exit code; 127: there is none of this
 * name; -1: it did not end by itself. */
enum { CLI_NO_PROGRAM = 127 };
int cli_filter(const char *const *program, const cli_buffer *in, FILE *out);
int cli_gnuplot(cli_buffer *commands, const char *path); /* draws, writes the picture, frees */

/* ---------------------------------------------------------------- text.c: errors, names,
 * numbers */

#if defined(__GNUC__)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF(f, a)
#endif

/* Bytes of the character that begins at s in valid UTF-8; 0: none, or a control character. */
int cli_character(const char *s);
/* Prints text that may hold names and titles of files: what is no character as \x1b, but for line ends, tabs and sequences
 * of cli_style. */
void cli_put(FILE *f, const char *s, size_t size);
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3); /* prints; returns code */
const char *cli_failure(void);       /* the first line of what cli_fail was last given, or "" */
int cli_lib(const kcl *ctx, int rc); /* prints the library's message if rc is not 0; returns rc */
/* Prints an error that lists the names and suggests the nearest. */
int cli_unknown(const char *kind, const char *name, const char *const *names, int count);
int cli_known(const char *kind, const char *name, kcl_registry which,
              const char *const *extra); /* other valid words, ended by NULL; or NULL */
void cli_say(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3); /* unless quiet */
FILE *cli_out(const cli_options *o); /* for the report: stderr if a result goes to stdout */

typedef struct cli_text {
  char s[40];
} cli_text;
cli_text cli_count(int64_t n);    /* 1,234,567 */
cli_text cli_whole(double v);     /* likewise, without its fraction; from 9e15 on 1.23e+45 */
cli_text cli_bytes(double bytes); /* 12.3 MB */
cli_text cli_seconds(double s);   /* 12.3 ms */
cli_text cli_stream(const kcl_stream *s); /* 21.3 GB/s (19.8 to 22.4) */
/* " = 50 % of the stream rate, 21.3 GB/s"; rate: bytes per second */
void cli_say_stream(const cli_options *o, double rate, const kcl_stream *s);
cli_text cli_age(const kcl_stream *s); /* now, 20 min ago, 3 days ago */
/* "row 2 of A is zero", "3 columns of A are zero, the first is column 5"; first: from 0, -1: not known. */
void cli_zeros(char *text, size_t size, const char *what, int64_t count, int64_t first);
const char *cli_type_words(kcl_type t);
const char *cli_base(const char *path); /* without folders */
double cli_now(void);                   /* monotonic seconds */
double cli_median(double *v, int n);    /* sorts v */

/* ---------------------------------------------------------------- terminal.c */

/* Bold and colours, or "" where f is no terminal that has them or NO_COLOR is set. */
#define CLI_BOLD "\033[1m"
#define CLI_GREEN "\033[32m"
#define CLI_RED "\033[1;31m"
#define CLI_YELLOW "\033[33m"
#define CLI_PLAIN "\033[0m"
const char *cli_style(FILE *f, const char *code);
void cli_silence(void); /* from now on no messages, report and status line: rank 0 prints */
bool cli_silent(void);
int cli_columns(FILE *f); /* width of the terminal: its own, else $COLUMNS, else 80 */

enum { CLI_PARTS = 5 };
typedef struct cli_status { /* the status line, on standard error */
  char part[CLI_PARTS][96]; /* the most important first; the last are left out if they do not fit */
  bool timed;               /* the seconds that part 0 has lasted are added to it */
} cli_status;
bool cli_shows(const cli_options *o); /* a terminal, or --verbose */
void cli_show(const cli_options *o, const cli_status *s);
void cli_busy(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3); /* a step, timed */
void cli_watch(void *o, const kcl_activity *a); /* steps of the library, for kcl_watch */
void cli_idle(void);                            /* removes the status line */
/* Around every other output. */
void cli_output_begin(void);
void cli_output_end(void);
void cli_terminal_end(void); /* before the program ends */

/* ---------------------------------------------------------------- problem.c */

typedef struct cli_problem { /* A x = b on the host, all of type D or all of type Z */
  bool spread; /* on several ranks: A, b and x are the rows of this one; A is freed by the set-up */
  int64_t columns, first_row; /* then: elements of x here, and the number of its first row */
  kcl_csr *A;
  kcl_csr whole; /* sizes, symmetry and field of all of A; no arrays */
  kcl_dense *b, *x;
  kcl_dense *near_null; /* kcl_options.near_null, or NULL */
  bool ones;            /* b = A*1, so x should be 1 */
  bool b_of_matrix;     /* b comes from the file of A */
  bool x_repeated;      /* the file of x has one column, b has several */
  kcl_type precision;   /* of the solve */
  double seconds_read;
} cli_problem;

/* A matrix by its name: a file, one of the collection, or a generated system such as poisson2d:300. b and x0
 * may be NULL pointers; *b and *x0 are NULL if it has none. */
int cli_read(kcl *ctx, const cli_options *o, const char *path, kcl_csr **A, kcl_dense **b,
             kcl_dense **x0);
/* b and x: a file or a word of cli_is_word. b NULL: that of A's file or generator, else A*1. x NULL: the initial guess of A's file if b is of that file too,
 * else zeros. p->spread is given. */
int cli_problem_load(kcl *ctx, const cli_options *o, const char *A, const char *b, const char *x,
                     cli_problem *p);
/* A, in the precision of the product, and x. */
int cli_product_load(kcl *ctx, const cli_options *o, const char *A, const char *x, cli_problem *p);
/* y of a product of p: as many columns as x. */
int cli_addend_load(kcl *ctx, const cli_options *o, const char *y, const cli_problem *p,
                    kcl_dense **out);
bool cli_is_word(const char *x); /* ones, or random: numbers in [-1, 1), the same in every run */
bool cli_is_generated(const char *path); /* a generated system such as poisson2d:9 and not a file */
/* p->near_null from the options' files. */
int cli_near_null_load(kcl *ctx, const cli_options *o, cli_problem *p);
void cli_problem_free(cli_problem *p);
int cli_matrix_load(kcl *ctx, const cli_options *o, const char *path, kcl_csr **A,
                    kcl_type *precision);
double *cli_column(const kcl_dense *B, int64_t j);         /* column j */
double cli_error_from_ones(const kcl_dense *x, int64_t j); /* |x - 1|_inf */
/* With --source and --profile an OpenCL device. */
int cli_device(kcl *ctx, const cli_options *o, kcl_device *d);
cli_text cli_device_place(const kcl_device *d); /* "cpu" or "P:D" */

/* ---------------------------------------------------------------- drivers.c */

void cli_say_drivers(const cli_options *o);
void cli_configure_drivers(void); /* before the first OpenCL call */

/* ---------------------------------------------------------------- get.c */

bool cli_is_collection(const char *path); /* a name such as HB/bcsstk16 and not a file */
int cli_collection(kcl *ctx, const cli_options *o, const char *name, char *path, size_t room);
bool cli_collection_rhs(const char *matrix, char *path, size_t room);

/* ---------------------------------------------------------------- compare.c */

kcl_check_plan cli_check_plan(const cli_options *o, double tol);
void cli_compare_say(const cli_options *o, const kcl_solution_error *c);
/* CLI_CHECK_FAILED or CLI_CHECK_UNDECIDED, with the reason as message; or 0. */
int cli_compare_code(const kcl_solution_error *c);

/* ---------------------------------------------------------------- solve.c, solve_report.c,
 * solve_json.c */

typedef struct cli_result { /* of one right-hand side */
  kcl_report report;
  double *history;      /* [report.history_size], ours */
  char *changes;        /* ours */
  double forward_error; /* < 0: not known */
  bool checked;
  kcl_solution_error check;
} cli_result;

typedef struct cli_profile { /* event times, with --profile */
  kcl_profile setup, solve;
} cli_profile;


struct kcl_mpi_share;

typedef struct cli_run { /* a run of `krylocl solve` */
  const cli_options *o;
  cli_problem p;
  kcl_options asked;
  kcl_device device;
  kcl_solver *solver;
  kcl_solver *shared; /* instead, on several ranks */
  struct kcl_mpi_share *shares;  /* [share_count], after the solves */
  int share_count;
  kcl_setup_info setup;
  cli_profile profile;
  kcl_dense *direct;   /* direct solutions, if asked for */
  cli_result *results; /* [solved]; solved is below p.b->cols after an interrupt */
  int64_t solved,
      worst;         /* worst: the first not converged, else that of the largest true residual */
  kcl_stream stream; /* rate 0: not known */
  bool wrote_x, wrote_direct, wrote_history, wrote_json;
  double seconds_device;                                                   /* until it is open */
  double seconds_upload, seconds_solve, seconds_download, seconds_certify; /* sums over columns */
  double seconds_write, seconds_total; /* files of x, history and picture; to their end */
} cli_run;

enum { CLI_TIMES = 15 };
typedef struct cli_time {
  const char *name;
  double seconds;
} cli_time;
/* What a run took, in order; the last two: what has no name, and all. */
void cli_times(const cli_run *r, cli_time list[CLI_TIMES]);

void report_device(const cli_options *o, const kcl_device *d);
void report_matrix(const cli_options *o, const char *path, const kcl_csr *A, double seconds);
void report_method(const cli_run *r);
void report_results(const cli_run *r);
/* Does it stop by another quantity than |b - A x| / |b|? */
bool cli_tests_another(const cli_run *r, const kcl_report *p);
int solve_json(const cli_run *r);

/* ---------------------------------------------------------------- explain_ranks.c */

/* The time of an iteration on 1, 2, 4 ... o->ranks ranks. */
int cli_explain_ranks(kcl *ctx, const cli_options *o, const kcl_csr *A, kcl_solver *s,
                      const kcl_device *d);

/* ---------------------------------------------------------------- shares.c, launch.c: --devices, --shares */

int cli_device_count(const cli_options *o); /* how many; 0: the option is not given */
int cli_devices_check(const cli_options *o);
void cli_device_of_rank(const cli_options *o, int rank, char *word, size_t room);
double cli_share_of_rank(const cli_options *o, int rank); /* 0: not given */
void cli_launched(
    void); /* rank 0 of several, after cli_interrupt_begin: heeds what cli_launch passes on */
int cli_launch(const cli_options *o); /* the program once more on so many ranks; its exit code */

/* ---------------------------------------------------------------- ranks.c: under mpirun; else the library as ever */

void cli_ranks_begin(int *argc, char ***argv);
int cli_ranks_end(int rc); /* returns rc */
int cli_rank(void);        /* 0 also without mpirun */
int cli_ranks(void);
cli_text cli_ranks_library(void);          /* the MPI library and its version; "" without */
bool cli_ranks_alone(void);                /* does the ordinary library do the work? */
void cli_ranks_wait(bool waiting);         /* do other ranks wait for the next word of this one? */
int cli_ranks_check(const cli_options *o); /* options of several ranks, in a program without MPI */
/* rc of the command line; KCL_USAGE where those of the ranks differ in what all must have alike. */
int cli_ranks_same(const cli_options *o, int rc);
int cli_ranks_agree(kcl *ctx, int rc);                /* all ranks: the first failure */
int cli_ranks_agreed(kcl *ctx, int rc);               /* the same; another rank's is printed */
int cli_ranks_tell(int word);                         /* all ranks: rank 0's word */
void cli_ranks_share(void *data, size_t size);        /* all ranks: rank 0's data */
double cli_ranks_largest(double own);                 /* all ranks; NaN if one is */
int cli_ranks_device(kcl *ctx, const cli_options *o); /* that of this rank */
int cli_setup(kcl *ctx, cli_run *r);
void cli_describe(cli_run *r); /* r->setup */
int cli_solve_columns(kcl *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report);
int cli_solves_end(kcl *ctx, cli_run *r); /* once, after the last */
void cli_setup_free(cli_run *r);
void report_ranks(const cli_run *r);
struct cJSON;
void json_ranks(struct cJSON *o, const cli_run *r);

/* ---------------------------------------------------------------- ranks_files.c: all ranks */

bool cli_ranks_spread(const cli_options *o); /* does each rank read its own rows? */
int cli_ranks_read(kcl *ctx, const cli_options *o, const char *path, cli_problem *p, kcl_dense **b,
                   kcl_dense **x0); /* p->A and p->whole; b, x0 as cli_read */
int cli_ranks_dense_read(kcl *ctx, const char *path, int64_t own, kcl_dense **out);
int cli_ranks_dense_write(kcl *ctx, const char *path, const kcl_dense *own);

/* ---------------------------------------------------------------- profile.c: nothing without --profile */

struct cJSON;
void profile_say(const cli_run *r);
void profile_json(struct cJSON *all, const cli_run *r);
void profile_free(cli_profile *p);
double profile_moved(const kcl_profile *p, const char *kind); /* bytes of "write" or "read" */
void profile_say_commands(const cli_options *o, const kcl_profile *p); /* shares: of p->seconds */
void profile_part_json(struct cJSON *o, const char *key, const kcl_profile *p);

/* ---------------------------------------------------------------- estimate.c */

enum { CLI_POINTS = 128 };
typedef struct cli_point {
  double seconds, log_residual;
} cli_point;
typedef struct cli_estimate { /* residuals of a solve, evenly spaced in time */
  cli_point point[CLI_POINTS];
  int count;
  double gap; /* seconds between two, at least */
} cli_estimate;
void cli_estimate_add(cli_estimate *e, double seconds, double residual);
/* Seconds until the residual is down to the target; < 0: not known; INFINITY: it is not falling. */
double cli_estimate_left(const cli_estimate *e, double target);
cli_text cli_estimate_words(const cli_estimate *e, double target); /* "about 40 s left", or "" */

/* ---------------------------------------------------------------- progress.c */

typedef struct cli_progress {
  const cli_options *o;
  cli_estimate estimate;
  bool shows;
  double next; /* when the status line is due, by cli_now() */
} cli_progress;
cli_progress cli_progress_begin(const cli_options *o);
int cli_progress_show(void *user, const kcl_progress *p);
void cli_progress_end(void);

/* ---------------------------------------------------------------- interrupt.c */

void cli_interrupt_begin(
    const cli_options *o);          /* from now on SIGINT, SIGTERM and SIGHUP are handled */
void cli_interrupt_heed(int sig);   /* handles one more signal in the same way */
void cli_interrupt_computing(void); /* from now on the first one is only noted */
bool cli_interrupted(void);
int cli_exit_code(int rc); /* rc; for CLI_INTERRUPTED 128 + the signal */
/* Runs it in a thread; CLI_INTERRUPTED at an interrupt: the thread goes on, with all that it uses, and
 * the program must end by cli_leave. */
int cli_abandonable(int (*run)(void *), void *self);
void cli_leave(int code);

/* ---------------------------------------------------------------- json.c, csv.c, plot.c; "-" is standard output */

struct cJSON;
void json_number(struct cJSON *o, const char *key, double v); /* 17 digits; null if not finite */
void json_count(struct cJSON *o, const char *key, int64_t v);
void json_text(struct cJSON *o, const char *key, const char *v);
void json_bool(struct cJSON *o, const char *key, bool v);
void json_matrix(struct cJSON *o, const char *path, const kcl_csr *A);
void json_device(struct cJSON *o, const kcl_device *d);
void json_stream(struct cJSON *o, const kcl_stream *s); /* the object "stream" */
void json_compare(struct cJSON *o, const kcl_solution_error *c);
/* Rows and columns of zeros; the first: from 0, -1: none. */
void json_zeros(struct cJSON *o, int64_t rows, int64_t first_row, int64_t cols, int64_t first_col);
int json_write(const char *path, const struct cJSON *o);
/* A count in a JSON file, which may hold any number: v, or 0 where it is not within 0 to most (below 9e15). */
int64_t json_to_count(double v, int64_t most);

void csv_text(FILE *f, const char *v);
void csv_number(FILE *f, double v);

typedef struct cli_curve { /* one line of a convergence history */
  const double *v;
  int64_t n;
  double recomputed; /* the true residual at its end */
} cli_curve;
/* By our own drawing in .svg (plot_svg.c), by gnuplot in .png. */
int plot_history(const char *path, const char *title, const cli_curve *curves, int64_t count,
                 double target);
int plot_structure(const char *path, const char *title, const kcl_csr *A);

/* ---------------------------------------------------------------- structure.c */

typedef struct cli_raster {
  int64_t nx, ny, max; /* cells; most entries in one */
  int64_t *cell;       /* [ny, nx] entries, to be freed */
} cli_raster;
int cli_raster_count(const kcl_csr *A, int most,
                     cli_raster *out); /* most cells in each direction */
/* digits [ny, nx]: 0 empty, 1 to 9 by the logarithm of the entries in a cell. */
void cli_raster_digits(const cli_raster *r, char *digits);

enum { CLI_LENGTHS = 65 };
typedef struct cli_lengths { /* rows of from to to entries */
  int64_t from, to, rows;
} cli_lengths;
/* One bin for each length if they differ by less than 32, else by powers of two; their number. */
int cli_row_lengths(const kcl_csr *A, cli_lengths bin[CLI_LENGTHS]);

#endif
