/* JSON by cJSON. Numbers are written as %.17g, so that they read back exactly. */
#include "cli/ui/json.h"
#include "cli/ui/output.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include <inttypes.h>
#include <limits.h>
#include <time.h>

void cli_json_number(cJSON *o, const char *key, double v) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", v);
  if (isfinite(v))
    cJSON_AddRawToObject(o, key, text);
  else
    cJSON_AddNullToObject(o, key);
}

void cli_json_count(cJSON *o, const char *key, int64_t v) {
  char text[40];
  snprintf(text, sizeof text, "%" PRId64, v);
  cJSON_AddRawToObject(o, key, text);
}

void cli_json_text(cJSON *o, const char *key, const char *v) { cJSON_AddStringToObject(o, key, v); }
void cli_json_bool(cJSON *o, const char *key, bool v) { cJSON_AddBoolToObject(o, key, v); }

void cli_json_matrix(cJSON *o, const char *path, const kcl_csr *A) {
  cJSON *m = cJSON_AddObjectToObject(o, "matrix");
  cli_json_text(m, "file", path);
  cli_json_count(m, "rows", A->rows);
  cli_json_count(m, "cols", A->cols);
  cli_json_count(m, "nnz", A->nnz);
  cli_json_count(m, "stored", A->stored);
  cli_json_text(m, "symmetry", kcl_symmetry_name(A->symmetry));
  cli_json_text(m, "field", kcl_field_name(A->field));
}

void cli_json_device(cJSON *o, const kcl_device *d) {
  cli_json_text(o, "device", d->name);
  cli_json_text(o, "device_place", cli_device_place(d).s);
  cli_json_text(o, "device_kind", d->kind);
}

void cli_json_stream(cJSON *o, const kcl_stream *s) {
  const time_t date = (time_t)s->date;
  char text[32] = "";
  struct tm utc;
  if (!(s->rate > 0)) return;
  cJSON *t = cJSON_AddObjectToObject(o, "stream");
  cli_json_number(t, "bytes_per_second", s->rate);
  cli_json_number(t, "low", s->low);
  cli_json_number(t, "high", s->high);
  cli_json_number(t, "in_cache", s->cache_rate > 0 ? s->cache_rate : NAN);
  cli_json_count(t, "cache_bytes", s->cache_bytes);
  cli_json_count(t, "vector_bytes", s->vector_bytes);
  cli_json_count(t, "measurements", s->measurements);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&date, &utc));
  cli_json_text(t, "date", text);
  cli_json_number(t, "age_seconds", fmax(0, difftime(time(NULL), date)));
}

void cli_json_compare(cJSON *o, const kcl_solution_error *c) {
  cli_json_text(o, "method", c->direct.method);
  cli_json_text(o, "verdict", kcl_verdict_name(c->verdict));
  cli_json_text(o, "reason", c->reason);
  cli_json_number(o, "relative_difference", c->difference);
  cli_json_number(o, "direct_error", c->bound);
  cli_json_number(o, "allowed_difference", c->allowed);
  cli_json_text(o, "compared", c->unique ? "x" : "A x");
  cli_json_number(o, "condition", c->direct.condition);
  cli_json_number(o, "direct_relative_residual", c->of_y.relative_residual);
  cli_json_number(o, "direct_backward_error", c->of_y.backward_error);
  cli_json_number(o, "direct_seconds", c->direct.seconds);
  cli_json_count(o, "direct_corrections", c->direct.corrections);
  cli_json_number(o, "relative_residual", c->of_x.relative_residual);
  cli_json_number(o, "backward_error", c->of_x.backward_error);
  if (c->direct.rank < 0) return;
  cli_json_count(o, "rank", c->direct.rank);
  cli_json_number(o, "direct_normal_residual", c->of_y.normal_residual);
  cli_json_number(o, "normal_residual", c->of_x.normal_residual);
  cli_json_number(o, "direct_norm_x", c->of_y.norm_x);
  cli_json_number(o, "norm_x", c->of_x.norm_x);
}

/* Numbers count from 1, as in the report. */
void cli_json_zeros(cJSON *o, int64_t rows, int64_t first_row, int64_t cols, int64_t first_col) {
  cli_json_count(o, "zero_rows", rows);
  if (first_row >= 0) cli_json_count(o, "first_zero_row", first_row + 1);
  cli_json_count(o, "zero_columns", cols);
  if (first_col >= 0) cli_json_count(o, "first_zero_column", first_col + 1);
}

void cli_json_letter(cJSON *o, const char *key, kcl_type t) {
  cli_json_text(o, key, (const char[]){kcl_type_letter(t), 0});
}

cJSON *cli_json_item(cJSON *list) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddItemToArray(list, o);
  return o;
}

int cli_json_write(const char *path, const cJSON *o) {
  if (!path) return 0;
  char *text = cJSON_Print(o);
  if (!text) return cli_fail(KCL_MEMORY, "out of memory: the JSON text");
  size_t n = strlen(text);
  text[n] = '\n'; /* in place of the zero at its end */
  int rc = cli_write(path, text, n + 1);
  free(text);
  return rc;
}

void cli_json_free(cJSON **o) { cJSON_Delete(*o); }

int cli_json_finish(const char *path, cJSON *o) {
  int rc = cli_json_write(path, o);
  cJSON_Delete(o);
  return rc;
}

const cJSON *cli_field(const cJSON *o, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(o, key);
}

const char *cli_get_text(const cJSON *o, const char *key) {
  const char *v = cJSON_GetStringValue(cli_field(o, key));
  return v ? v : "";
}

double cli_get_or(const cJSON *o, const char *key, double otherwise) {
  const cJSON *v = cli_field(o, key);
  return cJSON_IsNumber(v) && isfinite(v->valuedouble) ? v->valuedouble : otherwise;
}

double cli_get_number(const cJSON *o, const char *key) { return cli_get_or(o, key, NAN); }

int64_t cli_json_to_count(double v, int64_t most) {
  return v >= 0 && v < 9e15 && v <= (double)most ? (int64_t)v : 0;
}

int64_t cli_get_count(const cJSON *o, const char *key) {
  return cli_json_to_count(cli_get_or(o, key, 0), INT64_MAX);
}

int cli_get_int(const cJSON *o, const char *key) {
  return (int)cli_json_to_count(cli_get_or(o, key, 0), INT_MAX);
}

bool cli_get_bool(const cJSON *o, const char *key) { return cJSON_IsTrue(cli_field(o, key)); }
