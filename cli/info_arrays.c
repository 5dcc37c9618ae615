/* krylocl info --arrays: the arrays of a small matrix in storage formats, as text, in JSON and as a picture. */
#include "cli/draw/arrays.h"
#include "cli/info.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

int cli_info_check_arrays(const cli_options *o) {
  const bool one = o->formats && strcmp(o->formats, "all") && !strchr(o->formats, ',');
  if (!o->arrays && o->formats)
    return cli_fail(KCL_USAGE, "--formats names formats whose arrays are shown: with --arrays");
  if (!o->arrays) return 0;
  if (o->count > 1) return cli_fail(KCL_USAGE, "--arrays shows one matrix");
  if (o->csv) return cli_fail(KCL_USAGE, "--arrays has no CSV: --json");
  if (o->plot && !one)
    return cli_fail(KCL_USAGE, "--plot draws the arrays of one format: --format NAME");
  if (o->plot && strcmp(o->plot + strlen(o->plot) - 4, ".svg"))
    return cli_fail(KCL_USAGE, "--plot %s: arrays are drawn as .svg", o->plot);
  return 0;
}

static int check_small(const cli_info_facts *f) {
  const kcl_csr *A = f->A;
  if (A->rows <= CLI_ARRAYS_ROWS && A->cols <= CLI_ARRAYS_ROWS) return 0;
  return cli_fail(KCL_USAGE, "--arrays shows at most %d rows and columns, and %s is %s x %s",
                  CLI_ARRAYS_ROWS, f->path, cli_count(A->rows).s, cli_count(A->cols).s);
}

static int widest_element(const kcl_storage_array *a) {
  int widest = 1;
  for (int64_t k = 0; k < a->count; k++) {
    const int n = (int)strlen(cli_array_text(a, k).s);
    if (n > widest) widest = n;
  }
  return widest;
}

/* Prints the elements in lines that begin with the number of their first. */
static void say_elements(const cli_options *o, const kcl_storage *s, const kcl_storage_array *a,
                         int64_t rows) {
  enum { COLUMNS = 84 };
  const int width = widest_element(a);
  for (int64_t k = 0; k < a->count;) {
    const cli_array_line l = cli_array_line_at(s, a, rows, k, COLUMNS / (width + 1));
    cli_say(o, "%10s ", cli_count(k).s);
    for (; k < l.run; k++) cli_say(o, " %*s", width, cli_array_text(a, k).s);
    if (l.run < l.end)
      cli_say(o, "  %s x %s", cli_count(l.end - l.run).s, cli_array_text(a, l.run).s);
    cli_say(o, "\n");
    k = l.end;
  }
}

static void say_storage(const cli_options *o, const kcl_storage *s, int64_t rows) {
  char integers[200];
  cli_integers_text(integers, sizeof integers, s);
  cli_say(o, "\nformat      %s%s%s\n", s->format, *integers ? ": " : "", integers);
  for (int i = 0; i < s->arrays; i++) {
    const kcl_storage_array *a = &s->array[i];
    cli_say(o, "%-11s %s [%s]%s\n", a->name, a->type, cli_count(a->count).s,
            a->value ? "" : ", written before each product");
    if (a->value) say_elements(o, s, a, rows);
  }
}

static void json_array(cJSON *list, const kcl_storage_array *a) {
  cJSON *one = cli_json_item(list);
  const int parts = a->complex ? 2 : 1;
  cli_json_text(one, "name", a->name);
  cli_json_text(one, "type", a->type);
  cli_json_count(one, "count", a->count);
  if (!a->value) return;
  cJSON *values = cJSON_AddArrayToObject(one, "values");
  for (int64_t k = 0; k < parts * a->count; k++)
    cJSON_AddItemToArray(values, cJSON_CreateNumber(a->value[k]));
}

static void json_storage(cJSON *one, const kcl_storage *s) {
  cJSON *integers = cJSON_AddObjectToObject(one, "integers");
  cJSON *arrays = cJSON_AddArrayToObject(one, "arrays");
  for (int i = 0; i < s->integers; i++)
    cli_json_count(integers, s->integer[i].name, s->integer[i].value);
  for (int i = 0; i < s->arrays; i++) json_array(arrays, &s->array[i]);
}

static int draw_format_arrays(const cli_options *o, const cli_info_facts *f, const kcl_storage *s) {
  char title[256] = "";
  for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++) {
    const kcl_entry e = kcl_list(KCL_FORMATS, i);
    if (!strcmp(e.name, s->format)) snprintf(title, sizeof title, "%s: %s", e.name, e.summary);
  }
  return cli_svg_arrays(o->plot, title, f->A, s);
}

static int show_format(kcl_context *ctx, const cli_options *o, const cli_info_facts *f,
                       const char *name, cJSON *list) {
  CLI_OWNED_BY(kcl_storage_free) kcl_storage *s = NULL;
  kcl_cost cost;
  cJSON *one = cli_json_item(list);
  cli_json_text(one, "format", name);
  CLI_CALL(cli_lib(kcl_format_cost(ctx, &f->s, f->precision, name, &cost)));
  if (cost.refusal) {
    cli_say(o, "\nformat      %s refused: %s\n", name, cost.refusal);
    cli_json_text(one, "refused", cost.refusal);
    return o->plot ? cli_fail(KCL_REFUSED, "format %s refused: %s", name, cost.refusal) : 0;
  }
  CLI_CALL(cli_lib(kcl_storage_create(ctx, f->A, f->precision, name, &s)));
  say_storage(o, s, f->A->rows);
  json_storage(one, s);
  return o->plot ? draw_format_arrays(o, f, s) : 0;
}

/* Is the name in the list of --formats? */
static bool is_asked_format(const cli_options *o, const char *name) {
  const size_t n = strlen(name);
  const char *s = o->formats;
  if (!s || !strcmp(s, "all")) return true;
  for (; *s; s += strcspn(s, ","), s += *s == ',')
    if (!strncmp(s, name, n) && (s[n] == ',' || !s[n])) return true;
  return false;
}

int cli_info_show_arrays(kcl_context *ctx, const cli_options *o, const cli_info_facts *f,
                         cJSON *out) {
  int rc = check_small(f);
  cJSON *list = cJSON_AddArrayToObject(out, "storage");
  for (int i = 0; i < kcl_list_size(KCL_FORMATS) && !rc; i++) {
    const char *name = kcl_list(KCL_FORMATS, i).name;
    if (is_asked_format(o, name)) rc = show_format(ctx, o, f, name, list);
  }
  return rc;
}
