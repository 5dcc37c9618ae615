/* krylocl bench --resume: the JSON of an earlier run. Rows that this run would measure too are taken over with their
 * samples; the others are kept beside them. Rows that failed are measured again. A file of another version, or of a device
 * that is now another one, is refused: its times would stand beside ours. */
#include "cli/bench/bench.h"
#include "cli/ui/json.h"
#include "cli/ui/output.h"
#include "cli/ui/say.h"
#include <time.h>

#define COPY(field, o, key) snprintf(field, sizeof field, "%s", cli_get_text(o, key))

static kcl_type type_field(const cJSON *o) {
  const char *at = strchr("sdcz", *cli_get_text(o, "precision"));
  return at && *at ? (kcl_type)(at - "sdcz") : KCL_D;
}

/* ---------------------------------------------------------------- the file */

int cli_bench_resume_read(const char *path, cJSON **out) {
  cli_buffer text;
  CLI_CALL(cli_contents(path, &text));
  *out = cJSON_Parse(text.data);
  cli_buffer_free(&text);
  if (cli_get_or(*out, "schema", 0) != CLI_BENCH_SCHEMA ||
      strcmp(cli_get_text(*out, "program"), "krylocl bench"))
    return cli_fail(KCL_INPUT, "%s: no results of krylocl bench (JSON of schema %d)", path,
                    CLI_BENCH_SCHEMA);
  if (strcmp(cli_get_text(*out, "version"), kcl_version()))
    return cli_fail(KCL_INPUT, "%s was measured by krylocl %s, this is %s: begin a new file", path,
                    cli_get_text(*out, "version"), kcl_version());
  return 0;
}

/* ---------------------------------------------------------------- options */

static int read_operands(const cJSON *list, cli_options *o) {
  int n = cJSON_GetArraySize(list);
  o->files = calloc((size_t)n + 1, sizeof *o->files);
  if (!o->files) return cli_fail(KCL_MEMORY, "out of memory: the operands");
  for (int i = 0; i < n; i++) {
    char *name = cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
    if (name) o->files[o->count++] = name;
  }
  return o->count ? 0 : cli_fail(KCL_INPUT, "%s names no matrices", o->resume);
}

int cli_bench_resume_options(const cJSON *file, cli_options *o) {
  const cJSON *a = cli_field(file, "arguments");
  const struct {
    const char *name, **value;
  } text[] = {{"formats", &o->formats}, {"solver", &o->solver},        {"precond", &o->precond},
              {"device", &o->device},   {"threads", &o->threads_list}, {"precision", &o->precision},
              {"layout", &o->layout}};
  const struct {
    const char *name;
    int64_t *value;
  } count[] = {{"iterations", &o->iterations},
               {"samples", &o->samples},
               {"rounds", &o->rounds},
               {"nrhs", &o->nrhs},
               {"restart", &o->restart}};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    if (!cli_given(o, text[i].name) && *cli_get_text(a, text[i].name))
      *text[i].value = cli_get_text(a, text[i].name);
  for (size_t i = 0; i < sizeof count / sizeof *count; i++)
    if (!cli_given(o, count[i].name) && cJSON_HasObjectItem(a, count[i].name))
      *count[i].value = cli_get_count(a, count[i].name);
  if (!cli_given(o, "time-limit") && cli_get_or(a, "time-limit", 0) > 0)
    o->time_limit = cli_get_or(a, "time-limit", 0);
  o->mixed = o->mixed || cli_get_bool(a, "mixed"), o->force = o->force || cli_get_bool(a, "force");
  o->profile = o->profile || cli_get_bool(a, "profile");
  o->with_transfer = o->with_transfer || cli_get_bool(a, "with-transfer");
  return read_operands(cli_field(a, "operands"), o);
}

/* ---------------------------------------------------------------- devices, matrices */

static const char *device_kind(const char *word) {
  static const char *const kinds[] = {"gpu", "cpu", "accelerator"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(word, kinds[i])) return kinds[i];
  return "native";
}

/* Seconds since 1970; 0: not a date. */
static int64_t read_date(const char *text) {
  struct tm utc = {0};
  return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) ? (int64_t)timegm(&utc) : 0;
}

static kcl_stream read_stream(const cJSON *d) {
  const cJSON *s = cli_field(d, "stream");
  return (kcl_stream){.rate = cli_get_or(d, "stream_bytes_per_second", 0),
                      .low = cli_get_or(s, "low", 0),
                      .high = cli_get_or(s, "high", 0),
                      .cache_rate = cli_get_or(s, "in_cache", 0),
                      .cache_bytes = cli_get_count(s, "cache_bytes"),
                      .vector_bytes = cli_get_count(s, "vector_bytes"),
                      .measurements = cli_get_int(s, "measurements"),
                      .date = read_date(cli_get_text(s, "date"))};
}

static cli_bench_place read_place(const cJSON *d) {
  cli_bench_place p = {.stream = read_stream(d)};
  COPY(p.place, d, "place"), COPY(p.layout, d, "layout");
  COPY(p.device.name, d, "name"), COPY(p.device.platform_name, d, "platform");
  COPY(p.device.driver, d, "driver"), COPY(p.device.version, d, "version");
  p.device.kind = device_kind(cli_get_text(d, "kind"));
  p.device.compute_units = cli_get_int(d, "compute_units");
  p.device.memory = (uint64_t)cli_get_count(d, "memory_bytes");
  if (sscanf(p.place, "%d:%d", &p.device.platform, &p.device.device) != 2)
    p.device.platform = p.device.device = -1;
  return p;
}

/* Index of a device in this run; NOWHERE: it is not in it. */
enum { REFERENCE = -1, NOWHERE = -2 };
static int find_place(const cli_bench_run *r, const cli_bench_place *p) {
  for (int i = 0; i < r->place_count; i++)
    if (cli_bench_same_place(&r->places[i], p)) return i;
  return NOWHERE;
}

static int read_device(cli_bench_run *r, const cJSON *d) {
  cli_bench_place p = read_place(d);
  if (!*p.place) return 0;
  int i = find_place(r, &p);
  if (i < 0) i = cli_bench_add_place(r, &p);
  if (i < 0) return cli_fail(KCL_MEMORY, "out of memory: the devices");
  cli_bench_place *mine = &r->places[i];
  if (strcmp(mine->device.name, p.device.name) || strcmp(mine->device.driver, p.device.driver))
    return cli_fail(KCL_DEVICE, "%s was measured on %s %s, which is now %s %s: begin a new file",
                    p.place, p.device.name, p.device.driver, mine->device.name,
                    mine->device.driver);
  mine->stream = cli_bench_newer(&mine->stream, &p.stream);
  return 0;
}

static int find_matrix(const cli_bench_run *r, const char *name) {
  for (int i = 0; i < r->matrix_count; i++)
    if (!strcmp(r->matrices[i].name, name)) return i;
  return -1;
}

static int read_matrix_object(cli_bench_run *r, const cJSON *m) {
  int at = find_matrix(r, cli_get_text(m, "name"));
  if (!*cli_get_text(m, "name")) return 0;
  if (at < 0) at = cli_bench_add_matrix(r, cli_get_text(m, "name"), cli_get_text(m, "file"));
  if (at < 0) return cli_fail(KCL_MEMORY, "out of memory: the matrices");
  cli_bench_matrix *A = &r->matrices[at];
  const cJSON *l = cli_field(m, "row_length");
  A->known = true;
  A->rows = cli_get_count(m, "rows");
  A->cols = cli_get_count(m, "cols");
  A->nnz = cli_get_count(m, "nnz");
  A->stored = cli_get_count(m, "stored"), A->bandwidth = cli_get_count(m, "bandwidth");
  A->diagonals = cli_get_count(m, "diagonals"), A->seconds_read = cli_get_or(m, "seconds_read", 0);
  A->row_min = cli_get_count(l, "min"), A->row_max = cli_get_count(l, "max");
  A->row_mean = cli_get_or(l, "mean", 0), A->row_deviation = cli_get_or(l, "deviation_percent", 0);
  COPY(A->symmetry, m, "symmetry");
  COPY(A->field, m, "field");
  COPY(A->solver, m, "solver");
  cli_bench_picture_read(m, A);
  return 0;
}

/* ---------------------------------------------------------------- rows */

static double *read_times(const cJSON *list, int *count) {
  int n = cJSON_GetArraySize(list);
  double *v = n ? calloc((size_t)n, sizeof *v) : NULL;
  const cJSON *one;
  *count = 0;
  cJSON_ArrayForEach(one, list) if (v && cJSON_IsNumber(one) && one->valuedouble > 0)
      v[(*count)++] = one->valuedouble;
  return v;
}

static kcl_samples read_samples(const cJSON *o, const char *key) {
  const cJSON *t = cli_field(o, key);
  kcl_samples s = {.iterations = cli_get_int(t, "iterations_per_sample"),
                   .threads = cli_get_int(t, "threads")};
  s.seconds = read_times(cli_field(t, "samples"), &s.count);
  s.replaced = read_times(cli_field(t, "replaced_samples"), &s.replaced_count);
  return s;
}

static void read_measured(const cJSON *o, kcl_bench_row *m) {
  const cJSON *s = cli_field(o, "seconds_setup");
  COPY(m->kernel, o, "kernel");
  m->validated = cli_get_bool(o, "validated"), m->nrhs = cli_get_int(o, "nrhs");
  m->bytes_stored = cli_get_or(o, "bytes_stored", 0),
  m->bytes_product = cli_get_or(o, "bytes_per_product", 0);
  m->bytes_iteration = cli_get_or(o, "bytes_per_iteration", 0);
  m->seconds_convert = cli_get_or(s, "convert", 0), m->seconds_upload = cli_get_or(s, "upload", 0);
  m->seconds_compile = cli_get_or(s, "compile", 0),
  m->compiled = cli_get_int(o, "programs_compiled");
  m->product = read_samples(o, "seconds_per_product");
  m->iteration = read_samples(o, "seconds_per_iteration");
  m->transfer = read_samples(o, "seconds_with_vectors");
}

static int row_place(const cli_bench_run *r, const cJSON *o) {
  cli_bench_place p = {.device.platform = -1, .device.compute_units = cli_get_int(o, "threads")};
  COPY(p.place, o, "device_place"), COPY(p.layout, o, "layout");
  if (strcmp(p.place, "cpu")) p.device.platform = 0;
  return *p.place ? find_place(r, &p) : REFERENCE;
}

static void free_row(cli_bench_row *r) {
  r->state = CLI_BENCH_TODO;
  kcl_bench_free(&r->measured), cli_bench_profile_free(r);
}

static cli_bench_row read_row(cli_bench_run *r, const cJSON *o) {
  cli_bench_row row = {.matrix = find_matrix(r, cli_get_text(o, "matrix")), .type = type_field(o)};
  const char *asked = cli_get_text(o, "precision_asked");
  row.place = row_place(r, o);
  row.precision = strlen(asked) == 1 ? *asked : 0;
  row.nrhs = cli_get_int(o, "nrhs_asked"), row.load = cli_get_or(o, "load", 0);
  COPY(row.solver, o, "solver_asked"), COPY(row.method, o, "solver");
  COPY(row.precond, o, "precond");
  COPY(row.format, o, "format");
  COPY(row.date, o, "date");
  cli_bench_read_status(cli_get_text(o, "status"), &row);
  if (row.matrix < 0 || row.place < REFERENCE || (row.state == CLI_BENCH_FAILED && !r->shown))
    row.state = CLI_BENCH_TODO;
  if (row.state == CLI_BENCH_TODO) return row;
  read_measured(o, &row.measured);
  cli_bench_mixed_read(o, &row);
  cli_bench_profile_read(o, &row);
  cli_bench_summarise(&row);
  bool whole = cli_bench_time(&row)->count > 0 && row.measured.nrhs > 0;
  if (row.state == CLI_BENCH_OK && !whole) free_row(&row);
  return row;
}

/* Puts a row into the row of this run that asks for the same, else adds it. */
static int read_row_object(cli_bench_run *r, const cJSON *o) {
  cli_bench_row row = read_row(r, o);
  if (row.state == CLI_BENCH_TODO) return 0;
  for (int i = 0; i < r->row_count; i++) {
    cli_bench_row *mine = &r->rows[i];
    if (!cli_bench_same_group(mine, &row) || strcmp(mine->format, row.format)) continue;
    if (mine->state == CLI_BENCH_TODO)
      *mine = row;
    else
      free_row(&row);
    return 0;
  }
  if (cli_bench_add_row(r, &row)) return 0;
  free_row(&row);
  return cli_fail(KCL_MEMORY, "out of memory: the rows");
}

int cli_bench_resume_rows(const cJSON *file, cli_bench_run *r) {
  static const char *const lists[] = {"references", "rows"};
  const cJSON *one;
  cJSON_ArrayForEach(one, cli_field(file, "devices")) CLI_CALL(read_device(r, one));
  cJSON_ArrayForEach(one, cli_field(file, "matrices")) CLI_CALL(read_matrix_object(r, one));
  for (int i = 0; i < 2; i++)
    cJSON_ArrayForEach(one, cli_field(file, lists[i])) CLI_CALL(read_row_object(r, one));
  return 0;
}
