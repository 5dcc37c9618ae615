/* Declarations shared by the files of krylocl report.
 *
 *   ../report.c     the subcommand           read.c, fields.c   files of bench and solve, checked and joined
 *   groups.c        rows that are compared   answer.c           the format to use, and how sure that is
 *   figures.c       the list of figures, one file each: bars.c ...    style.c   the style of the page
 *   page.c, how.c   the page                 table.c, markdown.c, latex.c       the table
 *   compare.c       two runs
 *
 * Drawing is ../draw/svg.h, statistics are rank_test.h.
 */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "cli/bench/bench.h"
#include "cli/ui/output.h"

struct cJSON;

typedef struct cli_report_file {
  const char *path;
  cli_buffer text; /* as it was read */
  struct cJSON *json;
  bool solve; /* of krylocl solve, else of bench */
} cli_report_file;

/* Rows that differ in the format alone. */
typedef struct cli_report_group {
  int matrix, *rows, count; /* rows: indices of those measured, fastest first [count] */
  const cli_bench_row *key; /* one of them, or one that was not measured */
} cli_report_group;

typedef struct cli_report_data {
  const cli_options *o;
  cli_report_file *files; /* [file_count] */
  int file_count;
  cli_bench_run run; /* rows of all files */
  int doubles;       /* rows that a later file replaced */
  cli_report_group *groups;
  int group_count;
} cli_report_data;

/* ---------------------------------------------------------------- read.c, fields.c, groups.c */

/* Reads the files paths [count] into r. cli_report_free frees r, also after a failure. text: contents of the only
 * file, or NULL. */
int cli_report_read(cli_report_data *r, char *const *paths, int count, const char *text);
void cli_report_free(cli_report_data *r);
/* Checks the fields of a file; KCL_INPUT: one is missing or of the wrong kind. solve: the file is of krylocl
 * solve. */
int cli_report_fields(const char *path, const struct cJSON *file, bool *solve);
int cli_report_group_rows(cli_report_data *r);
/* True if two rows differ at most in matrix and format. */
bool cli_report_same_setting(const cli_bench_row *a, const cli_bench_row *b);
/* True if two rows differ at most in format and number of threads. */
bool cli_report_same_question(const cli_report_data *r, const cli_bench_row *a,
                              const cli_bench_row *b);
/* True if no group before g has its question or, where question is false, its setting. */
bool cli_report_first(const cli_report_data *r, const cli_report_group *g, bool question);
typedef struct cli_report_name {
  char s[200];
} cli_report_name;
/* "native CPU, 4 threads" */
cli_report_name cli_report_place(const cli_report_data *r, int place, bool threads);
/* Place, precision and method of a row. */
cli_report_name cli_report_setting(const cli_report_data *r, const cli_bench_row *key,
                                   bool threads);
/* cli_report_setting, without "product alone". */
cli_report_name cli_report_where(const cli_report_data *r, const cli_bench_row *row);
/* cli_report_setting for several matrices, whose methods may differ. */
cli_report_name cli_report_setting_all(const cli_report_data *r, const cli_bench_row *key);

/* ---------------------------------------------------------------- answer.c */

/* Writes the recommended format for the question of g, names in bold if html. Writes nothing if nothing was
 * measured. */
void cli_report_answer(FILE *f, const cli_report_data *r, const cli_report_group *g, bool html);

/* ---------------------------------------------------------------- figures */

typedef enum cli_report_scope {
  CLI_REPORT_RUN,
  CLI_REPORT_MATRIX,
  CLI_REPORT_GROUP,
  CLI_REPORT_SOLVES
} cli_report_scope;
typedef struct cli_report_subject {
  int matrix;                   /* or -1 */
  const cli_report_group *g;    /* of CLI_REPORT_GROUP, and of CLI_REPORT_RUN one of the setting */
  const cli_report_file *solve; /* the first of its matrix */
} cli_report_subject;
typedef struct cli_report_figure {
  const char *name, *title, *how; /* how: to read it */
  cli_report_scope scope;
  /* Draws, or leaves f empty if there is nothing to draw. */
  int (*draw)(FILE *f, const cli_report_data *r, const cli_report_subject *s, bool alone);
} cli_report_figure;
extern const cli_report_figure cli_report_overview, cli_report_bars, cli_report_transfers,
    cli_report_storage, cli_report_even, cli_report_roofline, cli_report_bytes, cli_report_threads,
    cli_report_lengths, cli_report_pattern, cli_report_convergence, cli_report_convergence_time;
/* Figure i, or NULL. */
const cli_report_figure *cli_report_figure_at(int i);
/* Calls each for every subject of a figure, until one returns non-zero. */
int cli_report_subjects(const cli_report_data *r, const cli_report_figure *figure,
                        int (*each)(void *self, const cli_report_figure *figure,
                                    const cli_report_subject *s),
                        void *self);
/* True if the file is of krylocl solve and no file before it has the same matrix. */
bool cli_report_first_solve(const cli_report_data *r, int file);
/* Writes all figures as SVG and PNG. */
int cli_report_files(const cli_report_data *r, const char *folder);
enum { CLI_REPORT_WIDTH = 520 };

/* ---------------------------------------------------------------- output */

int cli_report_page(const cli_report_data *r, const char *path);
/* Writes as HTML how the results were measured. */
void cli_report_how(FILE *f, const cli_report_data *r);
void cli_report_page_style(FILE *f);
extern const char cli_report_script[];

typedef struct cli_report_column {
  const char *title, *long_title;
  cli_bench_column cell;
  bool left;
} cli_report_column;
/* Column i, or NULL. */
const cli_report_column *cli_report_column_at(int i);
/* The text of a cell. value: the number behind it; NAN: none. */
cli_report_name cli_report_cell(const cli_report_data *r, const cli_bench_row *row,
                                const cli_report_column *c, double *value);
/* True if the table of the matrix has this column. matrix -1: the table of all. */
bool cli_report_column_shown(const cli_report_data *r, int matrix, const cli_report_column *c);
/* Size of the matrix, and what all its rows have in common. */
cli_report_name cli_report_caption(const cli_report_data *r, int matrix);
/* Indices [*count] of the measured rows, fastest first. The caller frees them. */
int *cli_report_rows(const cli_report_data *r, int matrix, int *count);
/* Writes the table as HTML. */
void cli_report_table(FILE *f, const cli_report_data *r);
int cli_report_markdown(const cli_report_data *r, const char *path);
int cli_report_latex(const cli_report_data *r, const char *path);

int cli_report_compare(const cli_options *o);

#endif
