/* The rows of krylocl bench: every matrix in every precision, on every device with every number of threads, by every
 * method, in every format. */
#include "cli/bench/bench.h"
#include "cli/ui/say.h"

int cli_bench_each_of(kcl_registry which, const char *list,
                      int (*each)(void *self, const char *name), void *self) {
  int rc = 0;
  if (list && strcmp(list, "all")) return cli_each_word(list, each, self);
  for (int i = 0; i < kcl_list_size(which) && !rc; i++) rc = each(self, kcl_list(which, i).name);
  return rc;
}

/* ---------------------------------------------------------------- growing lists */

static void *grow_plan_list(void *list, int count, size_t size) {
  if (count & (count - 1)) return list; /* at powers of two */
  return realloc(list, (count ? 2 * (size_t)count : 1) * size);
}

int cli_bench_add_place(cli_bench_run *r, const cli_bench_place *p) {
  void *more = grow_plan_list(r->places, r->place_count, sizeof *r->places);
  if (!more) return -1;
  r->places = more;
  r->places[r->place_count] = *p;
  return r->place_count++;
}

int cli_bench_add_matrix(cli_bench_run *r, const char *name, const char *file) {
  void *more = grow_plan_list(r->matrices, r->matrix_count, sizeof *r->matrices);
  if (!more) return -1;
  r->matrices = more;
  cli_bench_matrix *m = &r->matrices[r->matrix_count];
  *m = (cli_bench_matrix){.known = false};
  snprintf(m->name, sizeof m->name, "%s", name);
  snprintf(m->file, sizeof m->file, "%s", file);
  return r->matrix_count++;
}

cli_bench_row *cli_bench_add_row(cli_bench_run *r, const cli_bench_row *row) {
  void *more = grow_plan_list(r->rows, r->row_count, sizeof *r->rows);
  if (!more) return NULL;
  r->rows = more;
  r->rows[r->row_count] = *row;
  return &r->rows[r->row_count++];
}

/* ---------------------------------------------------------------- names */

static bool name_ends(const char *s, size_t n, const char *ending) {
  size_t m = strlen(ending);
  return n > m && !strncmp(s + n - m, ending, m);
}

void cli_bench_short_name(const char *file, char *name, size_t capacity) {
  static const char *const endings[] = {".gz", ".mtx", ".rb", ".rua", ".rsa", ".rows", ".kcl"};
  const char *base = cli_base(file);
  size_t n = strlen(base);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (name_ends(base, n, endings[i])) n -= strlen(endings[i]);
  snprintf(name, capacity, "%.*s", (int)n, base);
}

/* Index of an operand. Two files with the same short name get their paths as names. */
static int matrix_of(cli_bench_run *r, const char *file) {
  char name[sizeof r->matrices->name];
  cli_bench_short_name(file, name, sizeof name);
  for (int i = 0; i < r->matrix_count; i++) {
    if (!strcmp(r->matrices[i].file, file)) return i;
    if (!strcmp(r->matrices[i].name, name)) snprintf(name, sizeof name, "%s", file);
  }
  return cli_bench_add_matrix(r, name, file);
}

bool cli_bench_same_matrix(const cli_bench_matrix *a, const cli_bench_matrix *b) {
  return !strcmp(a->name, b->name) && a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz;
}

bool cli_bench_same_place(const cli_bench_place *a, const cli_bench_place *b) {
  const bool native = a->device.platform < 0;
  return !strcmp(a->place, b->place) && !strcmp(a->layout, b->layout) &&
         (!native || a->device.compute_units == b->device.compute_units);
}

/* ---------------------------------------------------------------- from lists to rows */

typedef struct planning {
  cli_bench_run *r;
  cli_bench_row row; /* the choices so far */
  bool memory;       /* none left */
} planning;

static int add_planned_row(planning *p) {
  p->memory = !cli_bench_add_row(p->r, &p->row);
  return p->memory;
}

static int add_format(void *self, const char *word) {
  planning *p = self;
  snprintf(p->row.format, sizeof p->row.format, "%.31s", word);
  return add_planned_row(p);
}

static int add_solver(void *self, const char *word) {
  planning *p = self;
  snprintf(p->row.solver, sizeof p->row.solver, "%.31s", word);
  return cli_bench_each_of(KCL_FORMATS, p->r->o->formats, add_format, p);
}

/* True if "dense" is among the formats, whose base is a loop of its own. */
static bool are_formats_dense(const char *list) {
  if (!list || !strcmp(list, "all")) return true;
  for (const char *s = list; (s = strstr(s, "dense")); s += 5)
    if ((s == list || s[-1] == ',') && (!s[5] || s[5] == ',')) return true;
  return false;
}

static int add_precision(void *self, const char *word) {
  planning *p = self;
  const cli_options *o = p->r->o;
  int rc = 0;
  p->row = (cli_bench_row){.matrix = p->row.matrix, .place = -1, .nrhs = 1, .precision = word[0]};
  if (*word == 'a') p->row.precision = 0;
  strcpy(p->row.solver, "none"), strcpy(p->row.format, CLI_BENCH_SEQUENTIAL);
  if (add_planned_row(p)) return 1;
  const cli_bench_row reference = p->row;
  p->row.nrhs = o->nrhs ? (int)o->nrhs : 1;
  snprintf(p->row.precond, sizeof p->row.precond, "%s", o->precond ? o->precond : "none");
  for (int i = 0; i < p->r->place_count && !rc; i++) {
    p->row.place = i;
    rc = cli_each_word(o->solver ? o->solver : "auto", add_solver, p);
  }
  if (rc || !are_formats_dense(o->formats)) return rc;
  p->row = reference, strcpy(p->row.format, CLI_BENCH_DENSE);
  return add_planned_row(p);
}

int cli_bench_plan(cli_bench_run *r) {
  const cli_options *o = r->o;
  planning p = {.r = r};
  for (int i = 0; i < o->count; i++) {
    int last = r->matrix_count;
    p.row.matrix = matrix_of(r, o->files[i]);
    if (p.row.matrix >= 0 && p.row.matrix < last) continue; /* named twice */
    if (p.row.matrix < 0 || cli_each_word(o->precision ? o->precision : "auto", add_precision, &p))
      return cli_fail(KCL_MEMORY, "out of memory: the rows");
  }
  return 0;
}

void cli_bench_close(cli_bench_run *b) {
  for (int i = 0; i < b->row_count; i++)
    kcl_bench_free(&b->rows[i].measured), cli_bench_profile_free(&b->rows[i]);
  for (int i = 0; i < b->place_count; i++)
    kcl_context_free(&b->places[i].ctx), kcl_context_free(&b->places[i].profiled);
  free(b->rows);
  free(b->places);
  free(b->matrices);
}
