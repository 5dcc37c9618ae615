/* Bytes of a matrix in each format, the least first. Hollow bars: the format refused the matrix, with the bytes that it
 * would have needed. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"
#include "cli/ui/say.h"

enum { PITCH = 18, TOP = 26, NUMBERS = 128 };

static bool is_format_listed(const cli_bench_row *const *list, int count,
                             const cli_bench_row *row) {
  for (int i = 0; i < count; i++)
    if (!strcmp(list[i]->format, row->format)) return true;
  return false;
}

static int compare_stored_bytes(const void *a, const void *b) {
  const cli_bench_row *x = *(const cli_bench_row *const *)a, *y = *(const cli_bench_row *const *)b;
  const bool last = x->state == CLI_BENCH_REFUSED, other = y->state == CLI_BENCH_REFUSED;
  const double s = x->measured.bytes_stored, t = y->measured.bytes_stored;
  return last != other ? last - other : (s > t) - (s < t);
}

/* Collects each format once, in the precision of the first row, from a measured row if there is one. */
static const cli_bench_row **collect_formats(const cli_report_data *r, int matrix, int *count) {
  const cli_bench_row **list = calloc((size_t)r->run.row_count + 1, sizeof *list), *first = NULL;
  *count = 0;
  for (int pass = 0; list && pass < 3; pass++)
    for (int i = 0; i < r->run.row_count; i++) {
      const cli_bench_row *row = &r->run.rows[i];
      const cli_bench_state want =
          (cli_bench_state[]){CLI_BENCH_OK, CLI_BENCH_SAME, CLI_BENCH_REFUSED}[pass];
      if (row->matrix != matrix || row->place < 0 || row->state != want ||
          !(row->measured.bytes_stored > 0))
        continue;
      if (!first) first = row;
      if (row->type == first->type && row->nrhs == first->nrhs &&
          !is_format_listed(list, *count, row))
        list[(*count)++] = row;
    }
  if (list) qsort(list, (size_t)*count, sizeof *list, compare_stored_bytes);
  return list;
}

static void draw_storage_bar(FILE *f, const cli_axis *x, const cli_bench_row *row, double y) {
  const double bytes = row->measured.bytes_stored, end = cli_axis_at(x, fmin(bytes, x->hi));
  const bool refused = row->state == CLI_BENCH_REFUSED;
  char tip[800], number[64];
  snprintf(tip, sizeof tip, "%s: %s stored%s%s", row->format, cli_axis_bytes(bytes).s,
           refused ? "; refused: " : "", refused ? row->why : "");
  snprintf(number, sizeof number, "%s%s", cli_axis_bytes(bytes).s, refused ? ", refused" : "");
  cli_svg_group(f, tip);
  cli_svg_rect(f, 0, y - 3, CLI_REPORT_WIDTH, PITCH, "hit");
  cli_svg_text(f, x->from - 8, y + 10, refused ? "mute e" : "ink e", row->format);
  cli_svg_rect(f, x->from, y, end - x->from, 12, refused ? "none" : "bar");
  cli_svg_text(f, end + 6, y + 10, refused ? "mute" : "ink", number);
  cli_svg_group_end(f);
}

static int draw_storage(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                        bool alone) {
  int count, kept = 0;
  double left = 40, most = 0;
  char title[300];
  const cli_bench_row **list = collect_formats(r, s->matrix, &count);
  if (!list) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  for (int i = 0; i < count; i++) {
    left = fmax(left, cli_svg_width(list[i]->format) + 12);
    if (list[i]->state != CLI_BENCH_REFUSED) kept = i + 1, most = list[i]->measured.bytes_stored;
  }
  if (kept)
    most = fmin(most, 4 * list[kept / 2]->measured.bytes_stored);
  else if (count)
    most = list[count - 1]->measured.bytes_stored;
  if (count) {
    const cli_axis x = {.lo = 0, .hi = most, .from = left, .to = CLI_REPORT_WIDTH - NUMBERS};
    snprintf(title, sizeof title, "%.96s: bytes stored by each format, %s",
             r->run.matrices[s->matrix].name, cli_type_words(list[0]->type));
    cli_svg_begin(f, CLI_REPORT_WIDTH, TOP + PITCH * count + 4, title, alone);
    cli_svg_text(f, left, 14, "mute", "bytes stored on the device");
    for (int i = 0; i < count; i++) draw_storage_bar(f, &x, list[i], TOP + PITCH * i);
    cli_svg_end(f);
  }
  free(list);
  return 0;
}

const cli_report_figure cli_report_storage = {
    .name = "storage",
    .title = "Storage",
    .how = "Bytes of the matrix on the device, the least first. Dashed: the format refused this "
           "matrix; why is said below.",
    .scope = CLI_REPORT_MATRIX,
    .draw = draw_storage};
