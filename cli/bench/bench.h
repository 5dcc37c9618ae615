/* Declarations shared by the files of krylocl bench.
 *
 *   ../bench.c   the run, row by row                    devices.c, measure.c   what it opens and measures
 *   plan.c       from lists of names to the rows that are to be measured
 *   figures.c    rates, speed-up, break-even and order, from the samples
 *   table.c      the tables, of the cells of cells.c    json.c, csv.c   files    read.c   --resume
 *   mixed.c      whole solves in double and in mixed precision                   preconds.c   --preconds
 *   ranks.c      --devices: products on several devices together
 */
#ifndef CLI_BENCH_BENCH_H
#define CLI_BENCH_BENCH_H

#include "cli/draw/structure.h"
#include "cli/ui/options.h"
#include "cli/ui/text.h"
#include "krylocl/bench.h"

/* The schema of the JSON: counted up if a field changes its meaning or is removed. */
enum { CLI_BENCH_SCHEMA = 1 };

/* The formats of rows of sequential code: loops over CSR, over full storage. */
#define CLI_BENCH_SEQUENTIAL "sequential"
#define CLI_BENCH_DENSE "sequential-dense"

enum { CLI_BENCH_RASTER = 64 };
typedef struct cli_bench_matrix {
  char name[96], file[512]; /* name: short and unique */
  bool known;               /* the fields below are set */
  int64_t rows, cols, nnz, stored, row_min, row_max, bandwidth, diagonals;
  double row_mean, row_deviation, seconds_read;
  char symmetry[16], field[16], solver[32]; /* solver: of "auto" */
  int length_count;                         /* 0: not known */
  cli_lengths lengths[CLI_LENGTHS];
  int64_t raster_x, raster_y, raster_max; /* 0: not known */
  /* [raster_y, raster_x] digits, '0': empty */
  char raster[CLI_BENCH_RASTER * CLI_BENCH_RASTER + 1];
} cli_bench_matrix;

typedef struct cli_bench_place { /* a device with a number of threads */
  char place[40];                /* "cpu" or "P:D" */
  char layout[8];                /* the word of --layout, or "" */
  kcl_device device;
  kcl_stream stream;     /* rate 0: not measured */
  kcl_context *ctx;      /* NULL: a place of an earlier run only */
  kcl_context *profiled; /* the same device with event times; NULL: not needed yet */
} cli_bench_place;

typedef enum cli_bench_state {
  CLI_BENCH_TODO,
  CLI_BENCH_OK,
  CLI_BENCH_REFUSED,
  CLI_BENCH_SAME, /* runs as another row that is measured */
  CLI_BENCH_FAILED
} cli_bench_state;

typedef struct cli_timed_solve { /* a whole solve, timed (mixed.c) */
  bool converged;
  int64_t iterations;
  int corrections, samples;
  double sample[8], seconds, residual, bytes_per_iteration;
  char note[200];
} cli_timed_solve;

typedef struct cli_bench_row {
  int matrix, place; /* indices; place -1: the sequential reference */
  char precision;    /* asked for: s d c z, 0: by the matrix */
  kcl_type type;     /* as measured */
  char solver[32];   /* asked for: a method, "auto", or "none": the product alone */
  char method[32];   /* as measured */
  char precond[32], format[32];
  int nrhs;   /* asked for */
  int rounds; /* rounds of samples taken in this run */
  int origin; /* index of its run, if several are shown together */
  cli_bench_state state;
  char why[600]; /* the reason if refused or failed; the other format if same */
  kcl_bench_row measured;
  kcl_summary iteration, product, transfer; /* medians and intervals of the samples */
  char date[24];                            /* when it was measured */
  double load;                              /* load of the machine at that time */
  bool compared;
  cli_timed_solve timed[2];   /* in double, in mixed precision */
  kcl_bench_profile *profile; /* NULL: not asked for */
} cli_bench_row;

typedef struct cli_bench_run {
  const cli_options *o;
  char date[32], clock[96];
  double begin, load; /* load: average of a minute, at the beginning */
  int threads; /* for reading and for set-up on other devices: the largest of --threads; 0: all */
  cli_bench_matrix *matrices; /* [matrix_count] */
  int matrix_count;
  cli_bench_place *places; /* [place_count] */
  int place_count;
  bool shown;          /* read for a report, which keeps rows that failed */
  cli_bench_row *rows; /* [row_count], with memory for row_capacity */
  int row_count, row_capacity;
} cli_bench_run;

/* ---------------------------------------------------------------- devices.c, measure.c */

/* Opens the devices that the options name, each with every number of threads. */
int cli_bench_open_places(cli_bench_run *r);
/* Measures the stream rate of a place once more and stores the rate on record in p. */
void cli_bench_stream(const cli_options *o, cli_bench_place *p);
/* The later of two stream rates; of one date the higher one. */
kcl_stream cli_bench_newer(const kcl_stream *a, const kcl_stream *b);

typedef struct cli_bench_loaded { /* a matrix on the host, in type D or Z as rows need it */
  kcl_csr *A, *complex_A;
  kcl_stats stats;
} cli_bench_loaded;
/* Reads a matrix and fills in what is reported about it. */
int cli_bench_load(kcl_context *ctx, const cli_options *o, cli_bench_matrix *matrix,
                   cli_bench_loaded *m);
void cli_bench_unload(cli_bench_loaded *m);
/* The matrix in the host type for rows of this type: Z for c and z, else D. */
int cli_bench_matrix_for(kcl_context *ctx, cli_bench_loaded *m, kcl_type type, const kcl_csr **out);
/* Takes another round of samples for a row. An error or an interrupt leaves the row unchanged. */
void cli_bench_again(cli_bench_run *b, cli_bench_row *r, kcl_context *ctx, cli_bench_loaded *m);
/* Measures a row, or marks it as refused or as the same as another row. An error is recorded in the row, and its
 * exit code is returned. After an interrupt the row stays CLI_BENCH_TODO. */
int cli_bench_one(cli_bench_run *b, cli_bench_row *r, kcl_context *ctx, cli_bench_loaded *m);

/* ---------------------------------------------------------------- picture.c: lengths and raster of a matrix */

struct cJSON;
/* Counts the row lengths and the raster of A. */
int cli_bench_picture(const kcl_csr *A, cli_bench_matrix *out);
void cli_bench_picture_json(struct cJSON *o, struct cJSON *row_length, const cli_bench_matrix *A);
void cli_bench_picture_read(const struct cJSON *o, cli_bench_matrix *out);

/* ---------------------------------------------------------------- plan.c */

/* Calls each(self, name) for the names of a list, or for all of the registry if it is NULL or "all", until one returns non-zero. */
int cli_bench_each_of(kcl_registry which, const char *list,
                      int (*each)(void *self, const char *name), void *self);
/* Adds a copy of p and returns its index; -1: out of memory. */
int cli_bench_add_place(cli_bench_run *r, const cli_bench_place *p);
/* Adds a matrix and returns its index; -1: out of memory. */
int cli_bench_add_matrix(cli_bench_run *r, const char *name, const char *file);
/* Adds a copy of row; NULL: out of memory. */
cli_bench_row *cli_bench_add_row(cli_bench_run *r, const cli_bench_row *row);
/* Adds all rows that the options ask for, in the order of measuring. */
int cli_bench_plan(cli_bench_run *r);
/* True if both are of one name and size. */
bool cli_bench_same_matrix(const cli_bench_matrix *a, const cli_bench_matrix *b);
/* True if both are one device with as many threads. */
bool cli_bench_same_place(const cli_bench_place *a, const cli_bench_place *b);
/* Copies the name of a file without folders and endings. */
void cli_bench_short_name(const char *file, char *name, size_t capacity);

/* ---------------------------------------------------------------- figures.c */

/* A row is noisy if its interval is wider than this share of the median. */
static const double CLI_BENCH_NOISE = 0.1;

/* Computes medians and intervals from the samples of a row. */
void cli_bench_summarise(cli_bench_row *r);
/* Writes the status in words: "ok", "refused: ...". */
void cli_bench_status(const cli_bench_row *r, char *text, size_t capacity);
/* Sets state and reason from a text of cli_bench_status. */
void cli_bench_read_status(const char *text, cli_bench_row *r);
/* True if the interval of the median is wider than CLI_BENCH_NOISE. */
bool cli_bench_noisy(const cli_bench_row *r);
/* True if the product alone took longer than the iteration that contains it. */
bool cli_bench_inconsistent(const cli_bench_row *r);
/* True if the row times products alone, without a method. */
bool cli_bench_alone(const cli_bench_row *r);
/* The time that the row compares: an iteration, or the product alone. */
const kcl_summary *cli_bench_time(const cli_bench_row *r);
/* The samples of cli_bench_time. */
const kcl_samples *cli_bench_samples(const cli_bench_row *r);
/* Seconds of cli_bench_time per right-hand side. */
double cli_bench_per_rhs(const cli_bench_row *r);
/* Bytes moved per second. */
double cli_bench_rate(const cli_bench_row *r);
/* cli_bench_rate relative to the stream rate of the place; 0: the stream rate is not known. */
double cli_bench_fraction(const cli_bench_run *b, const cli_bench_row *r);
/* Entries of A per microsecond of a product. */
double cli_bench_mnnz(const cli_bench_run *b, const cli_bench_row *r);
/* Gflop/s of a product: 2 flops per entry, 8 if complex. */
double cli_bench_gflops(const cli_bench_run *b, const cli_bench_row *r);
/* True for full storage, of the reference too. */
bool cli_bench_dense(const cli_bench_row *r);
/* True if the row of sequential code is what r is compared with: the dense loop for full storage, else CSR. */
bool cli_bench_base_of(const cli_bench_row *reference, const cli_bench_row *r);
/* Seconds of one product with the upload of the matrix, x from and y to the host. */
double cli_bench_with_matrix(const cli_bench_row *r);
/* Time of the sequential reference / time of the product; 0: no reference. */
double cli_bench_speedup(const cli_bench_run *b, const cli_bench_row *r);
/* Seconds of conversion, upload and compilation. */
double cli_bench_setup(const cli_bench_row *r);
typedef struct cli_bench_break_even {
  const cli_bench_row *against; /* plain CSR, or NULL: there is none, or it is this row */
  double after;                 /* iterations from which this format pays; infinite: never */
  double
      until; /* iterations up to which a cheaper set-up pays, if an iteration is slower; 0: never */
} cli_bench_break_even;
/* Compares set-up and iterations of a row with the fastest plain CSR. */
cli_bench_break_even cli_bench_pays(const cli_bench_run *b, const cli_bench_row *r);
typedef struct cli_bench_upload_repaid {
  const cli_bench_row
      *against;   /* the fastest product of the native CPU; NULL: none, or r is the CPU */
  double staying; /* products after which the device has gained; x up and y down once */
  double moving;  /* those products if x and y move in each of them; infinite: never */
} cli_bench_upload_repaid;
/* Counts the products of a row with transfers that repay the upload of its matrix, against the native CPU. */
cli_bench_upload_repaid cli_bench_repays_upload(const cli_bench_run *b, const cli_bench_row *r);
/* A line per device with transfers: after how many products it has repaid the upload. */
void cli_bench_say_uploads(const cli_bench_run *b, int matrix);
/* True if two rows differ in the format at most. */
bool cli_bench_same_group(const cli_bench_row *a, const cli_bench_row *b);
/* The fastest measured row of a matrix, among rows of methods or among products alone. place -1: any place. NULL:
 * none was measured. */
cli_bench_row *cli_bench_fastest(const cli_bench_run *b, int matrix, int place, bool alone);
/* Indices [*count] of the measured rows of a matrix and its reference, fastest first. The caller frees them. */
int *cli_bench_sorted(const cli_bench_run *b, int matrix, bool alone, int *count);

/* ---------------------------------------------------------------- cells.c */

typedef enum cli_bench_column {
  CLI_BENCH_FORMAT,
  CLI_BENCH_PLACE,
  CLI_BENCH_THREADS,
  CLI_BENCH_PRECISION,
  CLI_BENCH_METHOD,
  CLI_BENCH_ITERATION,
  CLI_BENCH_PER_RHS,
  CLI_BENCH_SPREAD,
  CLI_BENCH_PRODUCT,
  CLI_BENCH_WITH_VECTORS,
  CLI_BENCH_WITH_MATRIX,
  CLI_BENCH_STREAM,
  CLI_BENCH_SPEEDUP,
  CLI_BENCH_SETUP,
  CLI_BENCH_PAYS,
  CLI_BENCH_GBYTES,
  CLI_BENCH_STORED,
  CLI_BENCH_GFLOPS,
  CLI_BENCH_KERNEL,
  CLI_BENCH_COLUMNS
} cli_bench_column;
/* Microseconds with three digits: 1.23, 12.3, 123, 3,100. */
cli_text cli_bench_us(double seconds);
/* A ratio with three digits. */
cli_text cli_bench_factor(double v);
/* The cell of the column +/-. */
cli_text cli_bench_spread(const cli_bench_row *r);
/* The text of a cell, which may lie in the buffer. */
const char *cli_bench_cell(const cli_bench_run *b, const cli_bench_row *r, cli_bench_column c,
                           cli_text *buffer);

/* ---------------------------------------------------------------- output */

void cli_bench_date(char *text, size_t capacity);

/* Prints a device with its stream rate. */
void cli_bench_say_place(const cli_options *o, const cli_bench_place *p);
/* Prints a row when it has been measured, if progress is shown. */
void cli_bench_say_row(const cli_bench_run *b, const cli_bench_row *r);
void cli_bench_say_matrix(const cli_bench_run *b, int matrix);
/* Prints the fastest format of each matrix, if there are several. */
void cli_bench_say_end(const cli_bench_run *b);
int cli_bench_json(const cli_bench_run *b, const char *path);
int cli_bench_csv(const cli_bench_run *b, const char *path);
/* Makes the page of o->page of a JSON text. */
typedef int cli_bench_page(const cli_options *o, const char *name, const char *json);
/* Writes the JSON file and the page that the options name. */
int cli_bench_results(const cli_bench_run *b, cli_bench_page *report);
void cli_bench_close(cli_bench_run *b);

/* ---------------------------------------------------------------- read.c: --resume */

/* Takes over the options of the earlier run that are not given now, and its operands. */
int cli_bench_resume_options(const struct cJSON *file, cli_options *o);
/* Adds the devices, matrices and rows of the earlier run to this one. */
int cli_bench_resume_rows(const struct cJSON *file, cli_bench_run *r);
/* Parses the JSON of an earlier run and checks that this version wrote it. */
int cli_bench_resume_read(const char *path, struct cJSON **out);

/* ---------------------------------------------------------------- profile.c: --profile */

/* Runs a few more iterations of a measured row with event times and counters. */
int cli_bench_profile(cli_bench_run *b, cli_bench_row *r, const kcl_csr *A,
                      const kcl_options *asked);
void cli_bench_profile_free(cli_bench_row *r);
void cli_bench_profiles_say(const cli_bench_run *b, int matrix);
void cli_bench_profile_json(struct cJSON *o, const cli_bench_row *r);
void cli_bench_profile_read(const struct cJSON *o, cli_bench_row *r);
extern const char cli_bench_profile_columns[]; /* of the CSV, after a comma */
/* Writes the CSV fields of cli_bench_profile_columns. */
void cli_bench_profile_csv(FILE *f, const cli_bench_row *r);

/* Times whole solves in the format of row r, in double and in mixed precision. Does nothing for rows without a
 * method or in float. */
int cli_bench_mixed(kcl_context *ctx, const cli_options *o, const kcl_csr *A, cli_bench_row *r);
void cli_bench_mixed_say(const cli_options *o, const cli_bench_row *r);
void cli_bench_mixed_json(struct cJSON *o, const cli_bench_row *r);
void cli_bench_mixed_read(const struct cJSON *o, cli_bench_row *r);

int cli_bench_preconds(kcl_context *ctx, const cli_options *o);
/* All ranks: runs krylocl bench --devices. */
int cli_bench_ranks(kcl_context *ctx, const cli_options *o);

#endif
