/* kcl_solver_describe: a set-up and the last solve as JSON. */
#include "core/base/number.h"
#include "solver/interface/handles.h"
#include <inttypes.h>
#include <stdio.h>

enum { SCHEMA = 1 };

static void write_json_text(FILE *f, const char *text) {
  fputc('"', f);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c < ' ')
      fprintf(f, "\\u%04x", *c);
    else
      fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  fputc('"', f);
}

/* JSON has no infinity and no NaN. */
static void write_json_number(FILE *f, double v) {
  char text[32];
  const int length = isfinite(v) ? kcl_number_print(v, text) : 0;
  fprintf(f, "%.*s", length ? length : 4, length ? text : "null");
}

static void write_json_member(FILE *f, const kcl_named *m, const void *of) {
  const char *text = kcl_named_text(m, of);
  const void *at = (const char *)of + m->offset;
  if (m->kind == KCL_IS_TEXT || m->kind == KCL_IS_CHARS)
    write_json_text(f, text ? text : "");
  else if (m->kind == KCL_IS_BOOL)
    fputs(*(const bool *)at ? "true" : "false", f);
  else if (m->kind == KCL_IS_UINT64)
    fprintf(f, "\"%016" PRIx64 "\"", *(const uint64_t *)at);
  else
    write_json_number(f, kcl_named_number(m, of));
}

static void write_json_members(FILE *f, const kcl_named *table, const void *of) {
  for (const kcl_named *m = table; m->name; m++) {
    fprintf(f, "%s\"%s\": ", m > table ? ", " : "", m->name);
    write_json_member(f, m, of);
  }
}

static void write_json_column(FILE *f, const kcl_report *r) {
  fputc('{', f);
  write_json_members(f, kcl_report_members, r);
  fputs(", \"reason_text\": ", f);
  write_json_text(f, kcl_reason_text(r->reason));
  fputs(", \"history\": [", f);
  for (int64_t i = 0; i < r->history_size; i++) {
    if (i) fputs(", ", f);
    write_json_number(f, r->history[i]);
  }
  fputs("]}", f);
}

int kcl_solver_describe(kcl_solver *s, char **json) {
  kcl_setup_info info;
  size_t size;
  if (json) *json = NULL;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "json", json));
  FILE *f = open_memstream(json, &size);
  if (!f) return kcl_fail(ctx, KCL_MEMORY, "out of memory: a description");
  kcl_solver_info(s, &info);
  fprintf(f, "{\"schema\": %d, \"version\": \"%s\", \"device\": ", SCHEMA, kcl_version());
  write_json_text(f, ctx->device.name);
  fputs(", \"setup\": {", f);
  write_json_members(f, kcl_setup_members, &info);
  fputs("}, \"columns\": [", f);
  for (int64_t j = 0; j < s->reports; j++) {
    if (j) fputs(", ", f);
    write_json_column(f, &s->report[j]);
  }
  fputs("]}", f);
  const bool failed = ferror(f);
  if (fclose(f) == 0 && !failed) return KCL_OK;
  free(*json), *json = NULL;
  return kcl_fail(ctx, KCL_MEMORY, "out of memory: a description");
}
