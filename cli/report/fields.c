/* Checks that a file has the results of krylocl bench or solve: every field that the report needs. The first that
 * is missing or of another kind is named by its place in the file. */
#include "cli/report/report.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

typedef struct place { /* place of an object in the file: rows[3] */
  const char *path, *list;
  int index; /* -1: the file itself */
} place;

static int fail_field(const place *p, const char *key, const char *expected) {
  char where[80] = "";
  if (p->index >= 0) snprintf(where, sizeof where, "%s[%d].", p->list, p->index);
  return cli_fail(KCL_INPUT, "%s: %s%s: %s is expected", p->path, where, key, expected);
}

static int check_texts(const place *p, const cJSON *o, const char *const *keys) {
  for (; *keys; keys++)
    if (!cJSON_IsString(cli_field(o, *keys))) return fail_field(p, *keys, "a text");
  return 0;
}

static int check_count_fields(const place *p, const cJSON *o, const char *const *keys) {
  for (; *keys; keys++) {
    const cJSON *v = cli_field(o, *keys);
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble < 9e15) ||
        floor(v->valuedouble) != v->valuedouble)
      return fail_field(p, *keys, "a whole number that is not negative");
  }
  return 0;
}

static int check_samples(const place *p, const cJSON *row, const char *key) {
  char name[64];
  const cJSON *list = cli_field(cli_field(row, key), "samples"), *one;
  snprintf(name, sizeof name, "%s.samples", key);
  if (!cJSON_IsArray(list) || !cJSON_GetArraySize(list))
    return fail_field(p, name, "a list of seconds");
  cJSON_ArrayForEach(
      one,
      list) if (!cJSON_IsNumber(one) ||
                !(one->valuedouble > 0 &&
                  isfinite(
                      one->valuedouble))) return fail_field(p, name,
                                                            "a list of seconds, each positive,");
  return 0;
}

static bool is_named_in(const cJSON *list, const char *key, const char *name) {
  const cJSON *one;
  cJSON_ArrayForEach(one, list) if (!strcmp(cli_get_text(one, key), name)) return true;
  return false;
}

static int check_matrix_object(const place *p, const cJSON *all, const cJSON *o) {
  static const char *const names[] = {"name", NULL}, *const numbers[] = {"rows", "cols", "nnz",
                                                                         NULL};
  (void)all;
  int rc = cJSON_IsObject(o) ? check_texts(p, o, names) : fail_field(p, "", "an object");
  return rc ? rc : check_count_fields(p, o, numbers);
}

static int check_device_object(const place *p, const cJSON *all, const cJSON *o) {
  static const char *const names[] = {"place", "name", "kind", NULL};
  (void)all;
  return cJSON_IsObject(o) ? check_texts(p, o, names) : fail_field(p, "", "an object");
}

static int check_row_object(const place *p, const cJSON *all, const cJSON *o) {
  static const char *const names[] = {"matrix",       "format", "precision", "solver",
                                      "solver_asked", "status", NULL};
  CLI_CALL(cJSON_IsObject(o) ? check_texts(p, o, names) : fail_field(p, "", "an object"));
  const bool reference = !strcmp(p->list, "references"),
             ok = !strcmp(cli_get_text(o, "status"), "ok");
  if (!is_named_in(cli_field(all, "matrices"), "name", cli_get_text(o, "matrix")))
    return fail_field(p, "matrix", "a name of matrices");
  if (!reference &&
      !is_named_in(cli_field(all, "devices"), "place", cli_get_text(o, "device_place")))
    return fail_field(p, "device_place", "a place of devices");
  const char *type = cli_get_text(o, "precision");
  if (strlen(type) != 1 || !strchr("sdcz", *type))
    return fail_field(p, "precision", "s, d, c or z");
  if (!ok) return 0;
  if (!reference && strcmp(cli_get_text(o, "solver_asked"), "none"))
    CLI_CALL(check_samples(p, o, "seconds_per_iteration"));
  if (!reference && !(cli_get_number(o, "nrhs") >= 1)) return fail_field(p, "nrhs", "1 or more");
  return check_samples(p, o, "seconds_per_product");
}

static int check_lists(const char *path, const cJSON *file) {
  static const struct {
    const char *name;
    int (*check)(const place *p, const cJSON *all, const cJSON *o);
  } all[] = {{"devices", check_device_object},
             {"matrices", check_matrix_object},
             {"rows", check_row_object},
             {"references", check_row_object}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    const cJSON *list = cli_field(file, all[k].name), *one;
    place p = {path, all[k].name, -1};
    if (!cJSON_IsArray(list)) return fail_field(&p, all[k].name, "a list");
    cJSON_ArrayForEach(one, list) {
      p.index++;
      CLI_CALL(all[k].check(&p, file, one));
    }
  }
  return 0;
}

static int solve_fields(const char *path, const cJSON *file) {
  static const char *const names[] = {"solver", "format", "precond", "device", NULL},
                           *const numbers[] = {"iterations", NULL};
  const place p = {path, "", -1};
  const cJSON *history = cli_field(file, "history"), *one;
  int rc = check_texts(&p, file, names);
  if (!rc) rc = check_count_fields(&p, file, numbers);
  if (!rc && !cJSON_IsObject(cli_field(file, "matrix"))) rc = fail_field(&p, "matrix", "an object");
  if (!rc && history && !cJSON_IsArray(history)) rc = fail_field(&p, "history", "a list");
  cJSON_ArrayForEach(one, history) if (!rc && (!cJSON_IsNumber(cJSON_GetArrayItem(one, 0)) ||
                                               !cJSON_IsNumber(cJSON_GetArrayItem(one, 1)))) rc =
      fail_field(&p, "history", "a list of pairs of an iteration and a residual");
  return rc;
}

int cli_report_fields(const char *path, const cJSON *file, bool *solve) {
  *solve = *cli_get_text(file, "krylocl") != 0;
  if (*solve) return solve_fields(path, file);
  if (strcmp(cli_get_text(file, "program"), "krylocl bench"))
    return cli_fail(
        KCL_INPUT, "%s: JSON, but no results of krylocl bench (\"program\") or solve (\"krylocl\")",
        path);
  if (cli_get_number(file, "schema") != CLI_BENCH_SCHEMA)
    return cli_fail(KCL_INPUT, "%s: schema %g, this version of krylocl reads schema %d", path,
                    cli_get_number(file, "schema"), CLI_BENCH_SCHEMA);
  return check_lists(path, file);
}
