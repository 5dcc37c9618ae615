/* Tunables: their table, their file, and their text in reports. */
#include "core/base/tunables.h"
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/base/output.h"
#include "core/base/sum64.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

enum {
  FOR_NATIVE = 1,
  FOR_CPU = 2,
  FOR_GPU = 4
}; /* bits of the layouts that a tunable applies to */

typedef struct tunable {
  const char *name, *format, *help;
  size_t offset;
  int standard, min, max, where;
} tunable;

#define FIELD_OFFSET(field) offsetof(kcl_tune, field)
static const tunable table[] = {
    {"group", NULL, "work-items per group", FIELD_OFFSET(group), 256, 32, 1024, FOR_GPU},
    {"groups-per-unit", NULL,
     "groups per compute unit (as many as fit where a format states its registers)",
     FIELD_OFFSET(groups), 8, 1, 64, FOR_CPU | FOR_GPU},
    {"block", NULL, "bytes of each vector per block of a fused loop", FIELD_OFFSET(block), 8192,
     2048, 131072, FOR_NATIVE | FOR_CPU},
    {"csr-vector.lanes", "csr-vector", "work-items per row", FIELD_OFFSET(lanes), 0, 2, 32,
     FOR_GPU},
    {"sell.slice", "sell", "rows per slice", FIELD_OFFSET(slice), 32, 8, 64,
     FOR_NATIVE | FOR_CPU | FOR_GPU},
};
enum { TUNABLES = sizeof table / sizeof *table };

static int *tunable_value(kcl_context *ctx, const tunable *e) {
  return (int *)((char *)&ctx->tune + e->offset);
}

static int here(const kcl_context *ctx) {
  return (const int[]){FOR_NATIVE, FOR_CPU, FOR_GPU}[ctx->layout];
}

static const tunable *find_tunable(const char *name) {
  for (int i = 0; i < TUNABLES; i++)
    if (!strcmp(table[i].name, name)) return &table[i];
  return NULL;
}

/* NULL if the value is valid, else a phrase that says which values are. */
static const char *required(const tunable *e, long value) {
  static _Thread_local char text[80];
  if (value >= e->min && value <= e->max && (value & (value - 1)) == 0) return NULL;
  snprintf(text, sizeof text, "a power of two from %d to %d", e->min, e->max);
  return text;
}

static const char *list_tunables(void) {
  static _Thread_local char text[160];
  text[0] = 0;
  for (int i = 0; i < TUNABLES; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? ", " : "", table[i].name);
  return text;
}

/* ---------------------------------------------------------------- the file */

static char *trimmed(char *s) {
  s[strcspn(s, "#\n")] = 0;
  while (isspace((unsigned char)*s)) s++;
  for (size_t n = strlen(s); n && isspace((unsigned char)s[n - 1]);) s[--n] = 0;
  return s;
}

static int read_tunable(kcl_context *ctx, const char *path, int number, char *line) {
  char *name = trimmed(line), *equals = strchr(name, '='), *end;
  if (!*name) return KCL_OK;
  if (!equals)
    return kcl_fail(ctx, KCL_INPUT, "%s:%d: expected name = value, found '%.60s'", path, number,
                    name);
  *equals = 0, name = trimmed(name);
  char *word = trimmed(equals + 1);
  const tunable *e = find_tunable(name);
  if (!e)
    return kcl_fail(ctx, KCL_INPUT, "%s:%d: unknown tunable '%.60s'; there are: %s", path, number,
                    name, list_tunables());
  errno = 0;
  long value = strtol(word, &end, 10);
  const char *must = end == word || *end || errno ? "a whole number" : required(e, value);
  if (must)
    return kcl_fail(ctx, KCL_INPUT, "%s:%d: %s is '%.40s', it must be %s", path, number, name, word,
                    must);
  *tunable_value(ctx, e) = (int)value;
  return KCL_OK;
}

/* Reads the tunables of a file, and closes f. */
static int read_tunables(kcl_context *ctx, const char *path, FILE *f) {
  char line[256];
  int rc = KCL_OK, number = 0;
  while (!rc && fgets(line, sizeof line, f)) {
    bool whole = strchr(line, '\n') || feof(f);
    rc = whole ? read_tunable(ctx, path, ++number, line)
               : kcl_fail(ctx, KCL_INPUT, "%s:%d: the line is too long", path, number + 1);
  }
  if (!rc && ferror(f)) rc = kcl_fail(ctx, KCL_INPUT, "%s: cannot read: %s", path, strerror(errno));
  fclose(f);
  return rc;
}

int kcl_tune_read(kcl_context *ctx, const char *path) {
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "path", path));
  FILE *f = fopen(path, "r");
  return f ? read_tunables(ctx, path, f)
           : kcl_fail(ctx, KCL_INPUT, "%s: cannot open: %s", path, strerror(errno));
}

/* tune/NAME-SUM.txt: the device's name in letters and digits; a checksum of name, driver, layout and version. */
int kcl_tune_own_path(kcl_context *ctx, char *path, size_t capacity) {
  const kcl_device *d = &ctx->device;
  char name[64] = "", key[640];
  size_t n = 0;
  snprintf(key, sizeof key, "%s|%s|%s|%s|%s|%d", d->name, d->platform_name, d->driver, d->version,
           KCL_VERSION, here(ctx));
  for (const char *s = d->name; *s && n < 32; s++)
    if (isalnum((unsigned char)*s) || (n && name[n - 1] != '-'))
      name[n++] = (char)(isalnum((unsigned char)*s) ? tolower((unsigned char)*s) : '-');
  snprintf(name + n, sizeof name - n, "-%08" PRIx32 ".txt",
           (uint32_t)kcl_sum64(key, strlen(key), 0));
  return kcl_cache_path("tune", name, path, capacity);
}

int kcl_tune_load(kcl_context *ctx) {
  char path[4096];
  const char *own = getenv("KRYLOCL_TUNE");
  ctx->tune = (kcl_tune){0};
  if (own) return *own ? kcl_tune_read(ctx, own) : KCL_OK;
  if (kcl_tune_own_path(ctx, path, sizeof path)) return KCL_OK;
  FILE *f = kcl_cache_stream("tune", strrchr(path, '/') + 1);
  return f ? read_tunables(ctx, path, f) : KCL_OK;
}

static void print_tunables(kcl_context *ctx, FILE *f, const char *remark) {
  fprintf(f, "# krylocl " KCL_VERSION " on %s, %s %s\n", ctx->device.name,
          ctx->device.platform_name, ctx->device.driver);
  for (const char *s = remark; s && *s;) {
    int n = (int)strcspn(s, "\n");
    fprintf(f, "# %.*s\n", n, s);
    s += n + (s[n] != 0);
  }
  for (int i = 0; i < TUNABLES; i++) {
    const tunable *e = &table[i];
    int value = *tunable_value(ctx, e);
    if (!(e->where & here(ctx))) continue;
    if (value)
      fprintf(f, "%s = %d # %s", e->name, value, e->help);
    else
      fprintf(f, "# %s as built in: %s", e->name, e->help);
    if (e->standard)
      fprintf(f, ", a power of two from %d to %d, built in: %d\n", e->min, e->max, e->standard);
    else
      fprintf(f, ", a power of two from %d to %d, built in: by the mean row\n", e->min, e->max);
  }
}

int kcl_tune_write(kcl_context *ctx, const char *path, const char *remark) {
  KCL_ENTER(ctx);
  kcl_bytes text = {0};
  int rc;
  if ((rc = kcl_need(ctx, "ctx", ctx)) || (rc = kcl_need(ctx, "path", path))) return rc;
  FILE *f = open_memstream(&text.data, &text.size);
  if (f) print_tunables(ctx, f, remark);
  if (!f || ferror(f) | fclose(f))
    rc = kcl_fail(ctx, KCL_MEMORY, "%s: out of memory", path);
  else
    rc = kcl_file_write(ctx, path, text.data, text.size);
  free(text.data);
  return rc;
}

/* ---------------------------------------------------------------- access */

int kcl_tunable_count(void) { return TUNABLES; }

int kcl_tune_get(kcl_context *ctx, int i, kcl_tunable *out) {
  if (i < 0 || i >= TUNABLES) {
    *out = (kcl_tunable){0};
    return kcl_fail(ctx, KCL_USAGE, "tunable %d of %d", i, TUNABLES);
  }
  const tunable *e = &table[i];
  *out = (kcl_tunable){.name = e->name,
                       .format = e->format,
                       .help = e->help,
                       .value = *tunable_value(ctx, e),
                       .default_value = e->standard,
                       .min = e->min,
                       .max = e->max,
                       .applies = (e->where & here(ctx)) != 0};
  return KCL_OK;
}

int kcl_tune_set(kcl_context *ctx, const char *name, int value) {
  const tunable *e = find_tunable(name);
  if (!e)
    return kcl_fail(ctx, KCL_USAGE, "unknown tunable '%s'; there are: %s", name, list_tunables());
  const char *must = value ? required(e, value) : NULL;
  if (must) return kcl_fail(ctx, KCL_USAGE, "%s is %d, it must be %s", name, value, must);
  *tunable_value(ctx, e) = value;
  return KCL_OK;
}

void kcl_tune_say(kcl_context *ctx, const char *format, char *text, size_t capacity) {
  for (int i = 0; i < TUNABLES; i++) {
    const tunable *e = &table[i];
    int value = *tunable_value(ctx, e);
    if (!value || !(e->where & here(ctx)) || (e->format && strcmp(e->format, format))) continue;
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, ", %s %d", e->name, value);
  }
}
