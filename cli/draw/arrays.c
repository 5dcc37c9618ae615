/* The arrays of a matrix in a storage format as lines of elements, and their picture: A with a colour for each row, below it a
 * line of cells for the elements of each array, in the colour of the row whose entry they hold. */
#include "cli/draw/arrays.h"
#include "cli/draw/svg.h"
#include "cli/ui/output.h"

/* ---------------------------------------------------------------- lines of elements */

enum { ROWS_PADDED = 32 };

static int64_t integer_named(const kcl_storage *s, const char *name) {
  for (int i = 0; i < s->integers; i++)
    if (!strcmp(s->integer[i].name, name)) return s->integer[i].value;
  return 0;
}

/* Elements per line: the stride of the format, its width, or ROWS_PADDED, if lines of it make up the array; else all. */
static int64_t line_length(const kcl_storage *s, const kcl_storage_array *a) {
  const int64_t lengths[] = {integer_named(s, "stride"), integer_named(s, "width"), ROWS_PADDED};
  for (int i = 0; i < 3; i++)
    if (lengths[i] > 1 && a->count % lengths[i] == 0) return lengths[i];
  return a->count;
}

static bool may_pad(const kcl_storage_array *a, int64_t k) { return !a->entry || a->entry[k] < 0; }

static bool equal_elements(const kcl_storage_array *a, int64_t k, int64_t l) {
  const size_t parts = a->complex ? 2 : 1;
  return !memcmp(a->value + parts * (size_t)k, a->value + parts * (size_t)l,
                 parts * sizeof *a->value);
}

/* The end of the equal elements without an entry that begin with k, before `end`. */
static int64_t padding_end(const kcl_storage_array *a, int64_t k, int64_t end) {
  while (k < end && may_pad(a, k) && (k + 1 == end || equal_elements(a, k, k + 1))) k++;
  return k;
}

/* Where lines are longer than the matrix has rows, equal elements beyond those of the rows are told by their number. */
cli_array_line cli_array_line_at(const kcl_storage *s, const kcl_storage_array *a, int64_t rows,
                                 int64_t first, int most) {
  const int64_t length = line_length(s, a), start = first / length * length;
  const int64_t shown = length % ROWS_PADDED ? length : rows;
  cli_array_line l = {first, start + length, start + length};
  if (first <= start + shown && padding_end(a, start + shown, l.end) == l.end)
    l.run = start + shown;
  if (l.run - first > most) l.run = l.end = first + most;
  return l;
}

static cli_text real_text(double v) {
  cli_text t;
  snprintf(t.s, sizeof t.s, fabs(v) < 1e10 && v == floor(v) ? "%.0f" : "%.6g", v);
  return t;
}

cli_text cli_array_text(const kcl_storage_array *a, int64_t k) {
  cli_text t;
  if (!a->complex) return real_text(a->value[k]);
  snprintf(t.s, sizeof t.s, "%.6g%+.6gi", a->value[2 * k], a->value[2 * k + 1]);
  return t;
}

void cli_integers_text(char *text, size_t size, const kcl_storage *s) {
  *text = 0;
  for (int i = 0; i < s->integers; i++)
    cli_append(text, size, "%s%s = %lld", i ? ", " : "", s->integer[i].name,
               (long long)s->integer[i].value);
}

/* ---------------------------------------------------------------- the picture */

enum { CELL = 22, CELL_GAP = 2, LEFT = 96, WIDTH = 720, PADDING = -1, OTHER = -2 };

typedef struct array_drawing {
  FILE *f;
  const kcl_csr *A;
  const kcl_storage *s;
  double y, right; /* of the next line; of the widest one */
} array_drawing;

static int row_of_entry(const kcl_csr *A, int64_t k) {
  int i = 0;
  while (k >= A->row_ptr[i + 1]) i++;
  return i;
}

/* Draws a cell: of a row of A, PADDING, or OTHER for pointers and the like. */
static void draw_cell(const array_drawing *d, double x, double width, int row, const char *text) {
  char area[16] = "bar";
  const char *ink = "ink c";
  if (row == PADDING) snprintf(area, sizeof area, "none"), ink = "mute c";
  if (row >= 0) snprintf(area, sizeof area, "f%d", row), ink = "on c";
  cli_svg_rect(d->f, x, d->y, width - CELL_GAP, CELL - CELL_GAP, area);
  cli_svg_text(d->f, x + (width - CELL_GAP) / 2, d->y + 14.5, ink, text);
}

static double cell_width(double widest) { return fmax(CELL + 4, ceil(widest) + 10); }

static cli_text entry_text(const kcl_csr *A, int64_t k) {
  double z[2] = {0};
  const kcl_storage_array one = {.complex = A->type == KCL_Z, .value = z};
  const double *from = (const double *)A->val + (one.complex ? 2 : 1) * k;
  memcpy(z, from, (one.complex ? 2 : 1) * sizeof *z);
  return cli_array_text(&one, 0);
}

/* Draws A with the numbers of its rows and columns, which count from 0 as in the arrays. */
static void draw_matrix(array_drawing *d) {
  const kcl_csr *A = d->A;
  double width = 0;
  for (int64_t k = 0; k < A->nnz; k++) width = fmax(width, cli_svg_width(entry_text(A, k).s));
  width = cell_width(width);
  for (int64_t j = 0; j < A->cols; j++)
    cli_svg_text(d->f, LEFT + width * (double)j + width / 2 - 1, d->y + 10, "mute c",
                 cli_count(j).s);
  d->y += 16;
  for (int64_t i = 0; i < A->rows; i++, d->y += CELL) {
    cli_svg_text(d->f, LEFT - 8, d->y + 14.5, "mute e", cli_count(i).s);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      draw_cell(d, LEFT + width * A->col[k], width, (int)i, entry_text(A, k).s);
  }
  d->right = LEFT + width * (double)A->cols;
}

/* The array that tells the rows of the elements of array i: itself, or one of numbers that is as long, unless that is as long as
 * an array with an element per row. NULL: none. */
static const kcl_storage_array *find_entry_array(const array_drawing *d, int i) {
  const int64_t count = d->s->array[i].count, rows = d->A->rows;
  if (d->s->array[i].entry) return &d->s->array[i];
  for (int j = 0; j < d->s->arrays && count != rows && count != rows + 1; j++)
    if (d->s->array[j].entry && d->s->array[j].count == count) return &d->s->array[j];
  return NULL;
}

static int row_of_element(const array_drawing *d, const kcl_storage_array *rows, int64_t k) {
  if (!rows) return OTHER;
  return rows->entry[k] < 0 ? PADDING : row_of_entry(d->A, rows->entry[k]);
}

/* Draws the rest of a line: "26 x 0". */
static double draw_run(const array_drawing *d, double x, const kcl_storage_array *a,
                       const cli_array_line *l) {
  char text[64];
  if (l->end == l->run) return x;
  snprintf(text, sizeof text, "%lld \xc3\x97 %s", (long long)(l->end - l->run),
           cli_array_text(a, l->run).s);
  const double width = cell_width(cli_svg_width(text) + 12);
  draw_cell(d, x, width, PADDING, text);
  return x + width;
}

static void draw_elements(array_drawing *d, int i) {
  const kcl_storage_array *a = &d->s->array[i], *rows = find_entry_array(d, i);
  double width = 0, x;
  for (int64_t k = 0; k < a->count; k++) width = fmax(width, cli_svg_width(cli_array_text(a, k).s));
  width = cell_width(width);
  for (int64_t k = 0; k < a->count; d->y += CELL) {
    const cli_array_line l =
        cli_array_line_at(d->s, a, d->A->rows, k, (int)((WIDTH - LEFT - 2 * CELL) / width));
    cli_svg_text(d->f, LEFT - 8, d->y + 14.5, "mute e", cli_count(k).s);
    for (x = LEFT; k < l.run; k++, x += width)
      draw_cell(d, x, width, row_of_element(d, rows, k), cli_array_text(a, k).s);
    x = draw_run(d, x, a, &l), k = l.end;
    d->right = fmax(d->right, x);
  }
}

static void draw_array(array_drawing *d, int i) {
  const kcl_storage_array *a = &d->s->array[i];
  char text[120];
  snprintf(text, sizeof text, "%s [%s]%s", a->type, cli_count(a->count).s,
           a->value ? "" : ", written before each product");
  d->y += 12;
  cli_svg_text(d->f, 4, d->y + 10, "ink b", a->name);
  cli_svg_text(d->f, LEFT, d->y + 10, "mute", text);
  d->y += 18;
  if (a->value) draw_elements(d, i);
}

int cli_svg_arrays(const char *path, const char *title, const kcl_csr *A, const kcl_storage *s) {
  char integers[200];
  CLI_OWNED_BY(cli_buffer_free) cli_buffer body = {0}, b = {0};
  array_drawing d = {.A = A, .s = s, .y = 48};
  CLI_CALL(cli_buffer_open(&body));
  d.f = body.f;
  draw_matrix(&d);
  for (int i = 0; i < s->arrays; i++) draw_array(&d, i);
  CLI_CALL(cli_buffer_close(&body));
  CLI_CALL(cli_buffer_open(&b));
  cli_integers_text(integers, sizeof integers, s);
  cli_svg_begin(b.f, fmax(d.right, 1.2 * cli_svg_width(title)) + 8, d.y + 6, title, true);
  cli_svg_text(b.f, 4, 16, "ink b", title);
  cli_svg_text(b.f, 4, 34, "mute", integers);
  fwrite(body.data, 1, body.size, b.f);
  cli_svg_end(b.f);
  return cli_buffer_write(&b, path);
}
