/* The tables of krylocl bench: one per matrix, its columns those that fit the width of the terminal. What is the same in
 * all rows of a table stands above it, in no column. */
#include "cli/bench/bench.h"
#include "cli/problem/problem.h"
#include "cli/ui/terminal.h"

/* ---------------------------------------------------------------- columns */

static const struct {
  const char *title;
  int least,
      rank; /* width; the columns of the largest ranks are left out where the width is short */
  bool left;
} columns[CLI_BENCH_COLUMNS] = {[CLI_BENCH_FORMAT] = {"format", 10, 0, true},
                                [CLI_BENCH_PLACE] = {"device", 6, 0, true},
                                [CLI_BENCH_THREADS] = {"threads", 7, 0, false},
                                [CLI_BENCH_PRECISION] = {"type", 4, 0, true},
                                [CLI_BENCH_METHOD] = {"method", 6, 0, true},
                                [CLI_BENCH_ITERATION] = {"us/iter", 8, 0, false},
                                [CLI_BENCH_PER_RHS] = {"us/rhs", 8, 0, false},
                                [CLI_BENCH_SPREAD] = {"+/-", 5, 1, false},
                                [CLI_BENCH_PRODUCT] = {"us/product", 10, 2, false},
                                [CLI_BENCH_WITH_VECTORS] = {"us with x,y", 11, 2, false},
                                [CLI_BENCH_WITH_MATRIX] = {"with A,x,y", 10, 2, false},
                                [CLI_BENCH_STREAM] = {"of stream", 9, 3, false},
                                [CLI_BENCH_SPEEDUP] = {"speed-up", 8, 4, false},
                                [CLI_BENCH_SETUP] = {"set-up ms", 9, 6, false},
                                [CLI_BENCH_PAYS] = {"pays after", 10, 5, false},
                                [CLI_BENCH_GBYTES] = {"GB/s", 6, 8, false},
                                [CLI_BENCH_STORED] = {"stored", 7, 7, false},
                                [CLI_BENCH_GFLOPS] = {"GFlop/s", 7, 9, false},
                                [CLI_BENCH_KERNEL] = {"kernel", 6, 10, true}};

typedef struct table {
  const cli_bench_run *b;
  int matrix;
  bool alone;                   /* products alone */
  int *rows, count;             /* indices, fastest first */
  int width[CLI_BENCH_COLUMNS]; /* 0: left out */
} table;

/* Does the column tell rows of the table apart? The reference does not count. */
static bool column_varies(const table *t, cli_bench_column c) {
  const char *first = NULL;
  cli_text kept, now;
  for (int i = 0; i < t->count; i++) {
    const cli_bench_row *r = &t->b->rows[t->rows[i]];
    if (r->place < 0) continue;
    const char *text = cli_bench_cell(t->b, r, c, &now);
    if (first && strcmp(kept.s, text)) return true;
    if (!first) snprintf(kept.s, sizeof kept.s, "%s", text), first = kept.s;
  }
  return false;
}

static bool column_wanted(const table *t, cli_bench_column c) {
  bool several = false, carried = false;
  for (int i = 0; i < t->count; i++) {
    const cli_bench_row *r = &t->b->rows[t->rows[i]];
    several |= r->nrhs > 1, carried |= r->transfer.count > 0;
  }
  if (c == CLI_BENCH_WITH_VECTORS || c == CLI_BENCH_WITH_MATRIX) return carried;
  if (c == CLI_BENCH_PLACE || c == CLI_BENCH_THREADS || c == CLI_BENCH_PRECISION ||
      c == CLI_BENCH_METHOD)
    return column_varies(t, c);
  if (c == CLI_BENCH_ITERATION) return !t->alone;
  return c != CLI_BENCH_PER_RHS || several;
}

static int widest_column(const table *t, cli_bench_column c) {
  int width = columns[c].least;
  for (int i = 0; i < t->count; i++) {
    cli_text buffer;
    int n = (int)strlen(cli_bench_cell(t->b, &t->b->rows[t->rows[i]], c, &buffer));
    if (n > width) width = n;
  }
  return width;
}

/* Width for the table; in a file or a pipe all columns fit. */
static int table_width(const cli_options *o) {
  FILE *f = cli_out(o);
  return cli_is_terminal(f) || getenv("COLUMNS") ? cli_columns(f) : 1000;
}

static void lay_out_columns(table *t) {
  int used = 0, most = table_width(t->b->o);
  for (int rank = 0; rank <= columns[CLI_BENCH_KERNEL].rank; rank++)
    for (cli_bench_column c = 0; c < CLI_BENCH_COLUMNS; c++) {
      if (columns[c].rank != rank || !column_wanted(t, c)) continue;
      int width = widest_column(t, c);
      if (rank && used + width + 2 > most) continue;
      t->width[c] = width, used += width + 2;
    }
}

static void say_cells(const table *t, const cli_bench_row *r, char mark) {
  cli_text buffer;
  char line[1200];
  int n = 0;
  for (cli_bench_column c = 0; c < CLI_BENCH_COLUMNS; c++) {
    if (!t->width[c]) continue;
    const char *text = r ? cli_bench_cell(t->b, r, c, &buffer) : columns[c].title;
    n += snprintf(line + n, sizeof line - (size_t)n, columns[c].left ? "%s%-*s" : "%s%*s",
                  n                                      ? "  "
                  : c == CLI_BENCH_FORMAT && mark != ' ' ? "* "
                                                         : "  ",
                  t->width[c], text);
  }
  while (n && line[n - 1] == ' ') line[--n] = 0;
  cli_say(t->b->o, "%s\n", line);
}

/* ---------------------------------------------------------------- above and below */

static void say_name(const table *t) {
  const cli_bench_matrix *A = &t->b->matrices[t->matrix];
  cli_say(t->b->o, "\nmatrix      %s: %s x %s, %s nonzeros, %s %s\n", A->name, cli_count(A->rows).s,
          cli_count(A->cols).s, cli_count(A->nnz).s, A->field, A->symmetry);
}

/* Prints what all rows have in common. */
static void say_common(const table *t) {
  const cli_options *o = t->b->o;
  const cli_bench_row *r = cli_bench_fastest(t->b, t->matrix, -1, t->alone);
  const cli_bench_place *p = &t->b->places[r->place];
  if (t->alone)
    cli_say(o, "products    y = A x alone");
  else
    cli_say(o, "method      %s", column_varies(t, CLI_BENCH_METHOD) ? "several" : r->method);
  if (!column_varies(t, CLI_BENCH_PRECISION)) cli_say(o, ", %s", cli_type_words(r->type));
  if (!column_varies(t, CLI_BENCH_PLACE))
    cli_say(o, ", on %s%s%s", p->place, *p->layout ? " with the layout of a " : "", p->layout);
  if (r->nrhs > 1) cli_say(o, ", %d right-hand sides at once", r->nrhs);
  cli_say(o, "\n");
}

/* Writes " on 0:0 in s", as far as rows of the matrix differ in it. */
static cli_text row_context(const table *t, const cli_bench_row *r) {
  bool places = false, types = false;
  cli_text text = {""};
  for (int i = 0; i < t->b->row_count; i++) {
    const cli_bench_row *s = &t->b->rows[i];
    if (s->matrix != t->matrix || s->place < 0 || s->state == CLI_BENCH_TODO) continue;
    places |= strcmp(t->b->places[s->place].place, t->b->places[r->place].place) != 0;
    types |= s->type != r->type;
  }
  if (places) cli_append(text.s, sizeof text.s, " on %.20s", t->b->places[r->place].place);
  if (types) cli_append(text.s, sizeof text.s, " in %c", kcl_type_letter(r->type));
  return text;
}

/* Writes " on 0:0 in s: refused: ..." for a row that was not measured, "" for others. */
static const char *row_remark(const table *t, const cli_bench_row *r, char text[700]) {
  char status[640];
  bool other = r->state != CLI_BENCH_OK && r->state != CLI_BENCH_TODO && r->matrix == t->matrix &&
               r->place >= 0 && cli_bench_alone(r) == t->alone;
  text[0] = 0;
  if (!other) return text;
  cli_bench_status(r, status, sizeof status);
  snprintf(text, 700, "%s: %s%s", row_context(t, r).s, status,
           r->state == CLI_BENCH_SAME ? " on this device" : "");
  return text;
}

/* Collects the formats of all rows with the same remark, each once. False: row i is not the first of them. */
static bool gather_remark(const table *t, int i, const char *mine, char *formats, size_t capacity) {
  char text[700], name[40];
  *formats = 0;
  for (int j = 0; j < t->b->row_count; j++) {
    const cli_bench_row *r = &t->b->rows[j];
    if (strcmp(row_remark(t, r, text), mine)) continue;
    if (j < i) return false;
    snprintf(name, sizeof name, "%s%s", *formats ? ", " : "", r->format);
    if (!*formats || !strstr(formats, name)) cli_append(formats, capacity, "%s", name);
  }
  return true;
}

static void say_others(const table *t) {
  char mine[700], formats[1200], line[2000];
  for (int i = 0; i < t->b->row_count; i++) {
    if (!*row_remark(t, &t->b->rows[i], mine) ||
        !gather_remark(t, i, mine, formats, sizeof formats))
      continue;
    int n = snprintf(line, sizeof line, "%s%s", formats, mine);
    cli_output_begin();
    cli_wrap(cli_out(t->b->o), fprintf(cli_out(t->b->o), "  "), 4, line, n);
    cli_output_end();
  }
}

static void say_legend(const table *t) {
  const cli_bench_row *against = NULL;
  bool noisy = false, inconsistent = false, dense = false;
  char text[900] = "* fastest";
  for (int i = 0; i < t->count; i++) {
    const cli_bench_row *r = &t->b->rows[t->rows[i]];
    cli_bench_break_even e = cli_bench_pays(t->b, r);
    dense |= cli_bench_dense(r);
    if (e.against) against = e.against;
    noisy |= cli_bench_noisy(r), inconsistent |= cli_bench_inconsistent(r);
  }
  if (noisy)
    cli_append(text, sizeof text,
               "; ~ noisy: the interval is wider than %.0f %% of the median, also when measured "
               "again",
               100 * CLI_BENCH_NOISE);
  if (inconsistent)
    cli_append(text, sizeof text,
               "; ! the product alone took longer than the iteration that contains it, also when "
               "measured again: the load changed");
  if (t->width[CLI_BENCH_SPEEDUP])
    cli_append(text, sizeof text, "; speed-up: product over sequential C%s",
               dense ? " in CSR, of dense over a dense loop" : "");
  if (t->width[CLI_BENCH_WITH_VECTORS])
    cli_append(text, sizeof text,
               "; with x,y: from and to the host; with A,x,y: and the upload of the matrix");
  if (against && t->width[CLI_BENCH_PAYS])
    cli_append(text, sizeof text, "; pays after: iterations that repay its set-up, against %s",
               against->format);
  cli_output_begin();
  cli_wrap(cli_out(t->b->o), 0, 0, text, (int)strlen(text));
  cli_output_end();
}

static void say_table(const cli_bench_run *b, int matrix, bool alone) {
  table t = {.b = b, .matrix = matrix, .alone = alone};
  const cli_bench_row *best = cli_bench_fastest(b, matrix, -1, alone);
  t.rows = cli_bench_sorted(b, matrix, alone, &t.count);
  if (best && t.rows) {
    lay_out_columns(&t);
    say_common(&t);
    say_cells(&t, NULL, ' ');
    for (int i = 0; i < t.count; i++)
      say_cells(&t, &b->rows[t.rows[i]], &b->rows[t.rows[i]] == best ? '*' : ' ');
  }
  say_others(&t);
  if (best && t.rows) say_legend(&t);
  free(t.rows);
}

void cli_bench_say_matrix(const cli_bench_run *b, int matrix) {
  if (b->o->quiet) return;
  say_name(&(table){.b = b, .matrix = matrix});
  say_table(b, matrix, false);
  say_table(b, matrix, true);
  cli_bench_say_uploads(b, matrix);
}

/* ---------------------------------------------------------------- devices, rows, the end */

void cli_bench_say_place(const cli_options *o, const cli_bench_place *p) {
  cli_report_device(o, &p->device);
  if (p->stream.rate > 0) cli_say(o, "            stream rate %s\n", cli_stream(&p->stream).s);
}

void cli_bench_say_row(const cli_bench_run *b, const cli_bench_row *r) {
  char status[640];
  const char *matrix = b->matrices[r->matrix].name;
  if (!cli_shows(b->o)) return;
  cli_bench_status(r, status, sizeof status);
  cli_output_begin();
  cli_put(stderr, matrix, strlen(matrix));
  fprintf(stderr, ", %s, %c, %s, %s: ", r->place < 0 ? "cpu" : b->places[r->place].place,
          kcl_type_letter(r->type), cli_bench_alone(r) ? "product" : r->method, r->format);
  if (r->state == CLI_BENCH_OK)
    fprintf(stderr, "%s us (%s%s)\n", cli_bench_us(cli_bench_time(r)->median).s,
            cli_bench_time(r)->confidence < 0.95 ? "" : "+/- ", cli_bench_spread(r).s);
  else
    fprintf(stderr, "%s\n", status);
  cli_output_end();
}

static void say_fastest(const cli_bench_run *b, const cli_bench_row *r) {
  cli_say(b->o, "%-22s  %-13s  %-6s  %-12s  %10s  %8s\n", b->matrices[r->matrix].name, r->format,
          b->places[r->place].place, cli_bench_alone(r) ? "product" : r->method,
          cli_bench_us(cli_bench_per_rhs(r)).s, cli_bench_factor(cli_bench_speedup(b, r)).s);
}

void cli_bench_say_end(const cli_bench_run *b) {
  int measured = 0;
  for (int i = 0; i < b->matrix_count; i++)
    measured += cli_bench_fastest(b, i, -1, false) || cli_bench_fastest(b, i, -1, true);
  if (measured < 2) return;
  cli_say(b->o, "\n%-22s  %-13s  %-6s  %-12s  %10s  %8s\n", "fastest", "format", "device", "method",
          "us", "speed-up");
  for (int i = 0; i < b->matrix_count; i++)
    for (int alone = 0; alone < 2; alone++) {
      const cli_bench_row *r = cli_bench_fastest(b, i, -1, alone);
      if (r) say_fastest(b, r);
    }
}
