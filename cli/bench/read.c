/* krylocl bench --resume: the JSON of an earlier run. Rows that this run would measure too are taken over with their
 * samples; the others are kept beside them. Rows that failed are measured again. A file of another version, or of a device
 * that is now another one, is refused: its times would stand beside ours. */
#include "cli/bench/bench.h"
#include "cli/ui/codes.h"
#include "cli/ui/json.h"
#include "cli/ui/options.h"
#include "cli/ui/output.h"
#include "cli/ui/say.h"
#include "krylocl.h"
#include "krylocl/bench.h"
#include <stdbool.h>
#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- fields */

static const char *text_field(const cJSON *o, const char *key) {
  const char *v = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
  return v ? v : "";
}

static double number_field(const cJSON *o, const char *key) {
  const cJSON *v = cJSON_GetObjectItem(o, key);
  return cJSON_IsNumber(v) && isfinite(v->valuedouble) ? v->valuedouble : 0;
}

static int64_t count_field(const cJSON *o, const char *key) {
  return cli_json_to_count(number_field(o, key), INT64_MAX);
}

static int int_field(const cJSON *o, const char *key) {
  return (int)cli_json_to_count(number_field(o, key), INT_MAX);
}

static bool true_field(const cJSON *o, const char *key) {
  return cJSON_IsTrue(cJSON_GetObjectItem(o, key));
}

#define COPY(field, o, key) snprintf(field, sizeof field, "%s", text_field(o, key))

static kcl_type type_field(const cJSON *o) {
  const char *at = strchr("sdcz", *text_field(o, "precision"));
  return at && *at ? (kcl_type)(at - "sdcz") : KCL_D;
}

/* ---------------------------------------------------------------- the file */

int cli_bench_resume_read(const char *path, cJSON **out) {
  cli_buffer text;
  int rc = cli_contents(path, &text);
  if (rc) return rc;
  *out = cJSON_Parse(text.data);
  cli_buffer_free(&text);
  if (number_field(*out, "schema") != CLI_BENCH_SCHEMA ||
      strcmp(text_field(*out, "program"), "krylocl bench"))
    return cli_fail(KCL_INPUT, "%s: no results of krylocl bench (JSON of schema %d)", path,
                    CLI_BENCH_SCHEMA);
  if (strcmp(text_field(*out, "version"), kcl_version()))
    return cli_fail(KCL_INPUT, "%s was measured by krylocl %s, this is %s: begin a new file", path,
                    text_field(*out, "version"), kcl_version());
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
  const cJSON *a = cJSON_GetObjectItem(file, "arguments");
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
    if (!cli_given(o, text[i].name) && *text_field(a, text[i].name))
      *text[i].value = text_field(a, text[i].name);
  for (size_t i = 0; i < sizeof count / sizeof *count; i++)
    if (!cli_given(o, count[i].name) && cJSON_HasObjectItem(a, count[i].name))
      *count[i].value = count_field(a, count[i].name);
  if (!cli_given(o, "time-limit") && number_field(a, "time-limit") > 0)
    o->time_limit = number_field(a, "time-limit");
  o->mixed = o->mixed || true_field(a, "mixed"), o->force = o->force || true_field(a, "force");
  o->profile = o->profile || true_field(a, "profile");
  o->with_transfer = o->with_transfer || true_field(a, "with-transfer");
  return read_operands(cJSON_GetObjectItem(a, "operands"), o);
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
  const cJSON *s = cJSON_GetObjectItem(d, "stream");
  return (kcl_stream){.rate = number_field(d, "stream_bytes_per_second"),
                      .low = number_field(s, "low"),
                      .high = number_field(s, "high"),
                      .cache_rate = number_field(s, "in_cache"),
                      .cache_bytes = count_field(s, "cache_bytes"),
                      .vector_bytes = count_field(s, "vector_bytes"),
                      .measurements = int_field(s, "measurements"),
                      .date = read_date(text_field(s, "date"))};
}

static cli_bench_place read_place(const cJSON *d) {
  cli_bench_place p = {.stream = read_stream(d)};
  COPY(p.place, d, "place"), COPY(p.layout, d, "layout");
  COPY(p.device.name, d, "name"), COPY(p.device.platform_name, d, "platform");
  COPY(p.device.driver, d, "driver"), COPY(p.device.version, d, "version");
  p.device.kind = device_kind(text_field(d, "kind"));
  p.device.compute_units = int_field(d, "compute_units");
  p.device.memory = (uint64_t)count_field(d, "memory_bytes");
  if (sscanf(p.place, "%d:%d", &p.device.platform, &p.device.device) != 2)
    p.device.platform = p.device.device = -1;
  return p;
}

static bool is_same_place(const cli_bench_place *a, const cli_bench_place *b) {
  bool native = a->device.platform < 0;
  return !strcmp(a->place, b->place) && !strcmp(a->layout, b->layout) &&
         (!native || a->device.compute_units == b->device.compute_units);
}

/* Index of a device in this run; NOWHERE: it is not in it. */
enum { REFERENCE = -1, NOWHERE = -2 };
static int find_place(const cli_bench_run *r, const cli_bench_place *p) {
  for (int i = 0; i < r->place_count; i++)
    if (is_same_place(&r->places[i], p)) return i;
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
  int at = find_matrix(r, text_field(m, "name"));
  if (!*text_field(m, "name")) return 0;
  if (at < 0) at = cli_bench_add_matrix(r, text_field(m, "name"), text_field(m, "file"));
  if (at < 0) return cli_fail(KCL_MEMORY, "out of memory: the matrices");
  cli_bench_matrix *A = &r->matrices[at];
  const cJSON *l = cJSON_GetObjectItem(m, "row_length");
  A->known = true;
  A->rows = count_field(m, "rows");
  A->cols = count_field(m, "cols");
  A->nnz = count_field(m, "nnz");
  A->stored = count_field(m, "stored"), A->bandwidth = count_field(m, "bandwidth");
  A->diagonals = count_field(m, "diagonals"), A->seconds_read = number_field(m, "seconds_read");
  A->row_min = count_field(l, "min"), A->row_max = count_field(l, "max");
  A->row_mean = number_field(l, "mean"), A->row_deviation = number_field(l, "deviation_percent");
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
  const cJSON *t = cJSON_GetObjectItem(o, key);
  kcl_samples s = {.iterations = int_field(t, "iterations_per_sample"),
                   .threads = int_field(t, "threads")};
  s.seconds = read_times(cJSON_GetObjectItem(t, "samples"), &s.count);
  s.replaced = read_times(cJSON_GetObjectItem(t, "replaced_samples"), &s.replaced_count);
  return s;
}

static void read_measured(const cJSON *o, kcl_bench_row *m) {
  const cJSON *s = cJSON_GetObjectItem(o, "seconds_setup");
  COPY(m->kernel, o, "kernel");
  m->validated = true_field(o, "validated"), m->nrhs = int_field(o, "nrhs");
  m->bytes_stored = number_field(o, "bytes_stored"),
  m->bytes_product = number_field(o, "bytes_per_product");
  m->bytes_iteration = number_field(o, "bytes_per_iteration");
  m->seconds_convert = number_field(s, "convert"), m->seconds_upload = number_field(s, "upload");
  m->seconds_compile = number_field(s, "compile"), m->compiled = int_field(o, "programs_compiled");
  m->product = read_samples(o, "seconds_per_product");
  m->iteration = read_samples(o, "seconds_per_iteration");
  m->transfer = read_samples(o, "seconds_with_vectors");
}

static int row_place(const cli_bench_run *r, const cJSON *o) {
  cli_bench_place p = {.device.platform = -1, .device.compute_units = int_field(o, "threads")};
  COPY(p.place, o, "device_place"), COPY(p.layout, o, "layout");
  if (strcmp(p.place, "cpu")) p.device.platform = 0;
  return *p.place ? find_place(r, &p) : REFERENCE;
}

static void free_row(cli_bench_row *r) {
  r->state = CLI_BENCH_TODO;
  kcl_bench_free(&r->measured), cli_bench_profile_free(r);
}

static cli_bench_row read_row(cli_bench_run *r, const cJSON *o) {
  cli_bench_row row = {.matrix = find_matrix(r, text_field(o, "matrix")), .type = type_field(o)};
  const char *asked = text_field(o, "precision_asked");
  row.place = row_place(r, o);
  row.precision = strlen(asked) == 1 ? *asked : 0;
  row.nrhs = int_field(o, "nrhs_asked"), row.load = number_field(o, "load");
  COPY(row.solver, o, "solver_asked"), COPY(row.method, o, "solver");
  COPY(row.precond, o, "precond");
  COPY(row.format, o, "format");
  COPY(row.date, o, "date");
  cli_bench_read_status(text_field(o, "status"), &row);
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
  int rc = 0;
  cJSON_ArrayForEach(one, cJSON_GetObjectItem(file, "devices")) CLI_TRY(read_device(r, one));
  cJSON_ArrayForEach(one, cJSON_GetObjectItem(file, "matrices"))
      CLI_TRY(read_matrix_object(r, one));
  for (int i = 0; i < 2; i++)
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(file, lists[i])) CLI_TRY(read_row_object(r, one));
done:
  return rc;
}
