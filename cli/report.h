/* What the files of krylocl report share.
 *
 *   report.c        the subcommand           report_read.c, report_fields.c   files of bench and solve, checked and joined
 *   report_groups.c rows that are compared   report_answer.c   what to use, and how sure that is
 *   report_figures.c   the list of figures, one file each: report_bars.c ...    report_style.c   the style of the page
 *   report_page.c, report_how.c   the page   report_table.c, report_markdown.c, report_latex.c   the table
 *   report_compare.c   two runs
 *
 * Drawing is svg.h, statistics are rank_test.h.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/bench.h"
#include "cli/rank_test.h"
#include "cli/svg.h"

struct cJSON;

typedef struct report_file {
  const char *path;
  cli_buffer text; /* as it was read */
  struct cJSON *json;
  bool solve; /* of krylocl solve, else of bench */
} report_file;

/* Rows that differ in the format alone. */
typedef struct report_group {
  int matrix, *rows, count; /* rows: indices of those measured, fastest first [count] */
  const bench_row *key;     /* one of them, or one that was not measured */
} report_group;

typedef struct report {
  const cli_options *o;
  report_file *files; /* [file_count] */
  int file_count;
  bench_run run; /* rows of all files */
  int doubles;   /* rows that a later file replaced */
  report_group *groups;
  int group_count;
} report;

/* ---------------------------------------------------------------- report_read.c, report_fields.c, report_groups.c */

/* Reads paths [count] into r, which report_free frees, also after a failure. text: of the one file, or NULL. */
int report_read(report *r, char *const *paths, int count, const char *text);
void report_free(report *r);
int report_fields(const char *path, const struct cJSON *file,
                  bool *solve); /* KCL_INPUT: one is missing or wrong */
int report_group_rows(report *r);
bool report_same_setting(const bench_row *a,
                         const bench_row *b); /* all but the matrix and the format */
/* The same but for the number of threads. */
bool report_same_question(const report *r, const bench_row *a, const bench_row *b);
bool report_first(const report *r, const report_group *g,
                  bool question); /* no such group before it? of any matrix: the setting */
typedef struct report_name {
  char s[200];
} report_name;
report_name report_place(const report *r, int place, bool threads); /* "native CPU, 4 threads" */
report_name report_setting(const report *r, const bench_row *key,
                           bool threads);                        /* place, precision, method */
report_name report_where(const report *r, const bench_row *row); /* without "product alone" */
report_name report_setting_all(const report *r, const bench_row *key); /* of several matrices */
const struct cJSON *report_field(const struct cJSON *o, const char *key);
const char *report_text(const struct cJSON *o, const char *key); /* "" where there is none */
double report_number(const struct cJSON *o, const char *key);    /* NAN likewise */

/* ---------------------------------------------------------------- report_answer.c */

/* What to use for the question of g, with bold names if html. "" if nothing was measured. */
void report_answer(FILE *f, const report *r, const report_group *g, bool html);

/* ---------------------------------------------------------------- figures */

typedef enum report_scope { REPORT_RUN, REPORT_MATRIX, REPORT_GROUP, REPORT_SOLVES } report_scope;
typedef struct report_subject {
  int matrix;               /* or -1 */
  const report_group *g;    /* of REPORT_GROUP, and of REPORT_RUN one of the setting */
  const report_file *solve; /* the first of its matrix */
} report_subject;
typedef struct report_figure {
  const char *name, *title, *how; /* how: to read it */
  report_scope scope;
  /* Draws, or leaves f empty if there is nothing to draw. */
  int (*draw)(FILE *f, const report *r, const report_subject *s, bool alone);
} report_figure;
extern const report_figure report_overview, report_bars, report_storage, report_even,
    report_roofline, report_bytes, report_threads, report_lengths, report_pattern,
    report_convergence, report_convergence_time;
const report_figure *report_figure_at(int i); /* or NULL */
/* Calls each for all that a figure may be drawn of, until one returns non-zero. */
int report_subjects(const report *r, const report_figure *figure,
                    int (*each)(void *self, const report_figure *figure, const report_subject *s),
                    void *self);
bool report_first_solve(const report *r,
                        int file); /* a solve, and no file before it of the same matrix */
int report_files(const report *r, const char *folder); /* all figures as SVG and PNG */
enum { REPORT_WIDTH = 520 };

/* ---------------------------------------------------------------- output */

int report_page(const report *r, const char *path);
void report_how(FILE *f, const report *r); /* how it was measured, as HTML */
void report_page_style(FILE *f);
extern const char report_script[];

typedef struct report_column {
  const char *title, *long_title;
  bench_column cell;
  bool left;
} report_column;
const report_column *report_column_at(int i); /* or NULL */
/* The text of a cell and, of numbers, the value behind it (NAN: none). */
report_name report_cell(const report *r, const bench_row *row, const report_column *c,
                        double *value);
bool report_column_varies(const report *r, int matrix, const report_column *c);
bool report_column_shown(const report *r, int matrix,
                         const report_column *c);        /* in the table of one matrix */
report_name report_caption(const report *r, int matrix); /* its size, and what all rows share */
int *report_rows(const report *r, int matrix,
                 int *count);                /* measured ones, fastest first; to be freed */
void report_table(FILE *f, const report *r); /* HTML */
int report_markdown(const report *r, const char *path);
int report_latex(const report *r, const char *path);

int report_compare(const cli_options *o);

#endif
