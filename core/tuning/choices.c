/* The memory of `auto` as a file of lines: core/tuning/choices.h. */
#include "core/tuning/choices.h"
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/base/output.h"
#include "core/base/sum64.h"
#include <inttypes.h>
#include <unistd.h>

enum { MOST_LINES = 500, LONGEST_LINE = 2048, SAMPLED_ROWS = 2048 };

/* ---------------------------------------------------------------- the key */

/* A checksum of row lengths, diagonals, repeats, the rows at SAMPLED_ROWS even distances, and the tunables. */
static uint64_t sum_structure(const kcl_csr *A, const kcl_stats *s, const kcl_tune *t) {
  const int64_t facts[] = {
      s->row_min,         s->row_max,          s->bandwidth,          s->diagonals,
      s->empty_rows,      s->sell_padded,      s->sell_sorted_padded, s->hyb_width,
      s->row_patterns,    s->pattern_entries,  s->pattern_runs,       s->distinct_pairs,
      s->distinct_values, s->values_fit_float, s->slice_span,         s->hermitian,
      s->symmetric,       s->shifted_skew};
  const int tuned[] = {t->group, t->groups, t->block, t->lanes, t->slice};
  uint64_t h = kcl_sum64(tuned, sizeof tuned, kcl_sum64(facts, sizeof facts, 0));
  int64_t step = A->rows / SAMPLED_ROWS + 1, offset[SAMPLED_ROWS];
  int n = 0;
  for (int64_t i = 0; i < A->rows; i += step)
    for (int64_t k = A->row_ptr[i], end = A->row_ptr[i + 1]; k < end; k += (end - k) / 16 + 1) {
      if (n == SAMPLED_ROWS) h = kcl_sum64(offset, sizeof offset, h), n = 0;
      offset[n++] = A->col[k] - i;
    }
  return kcl_sum64(offset, (size_t)n * sizeof *offset, h);
}

/* Preconditioners with other parameters are others; and what lost against a direct solution may be the best where there is none. */
static uint64_t sum_options(const kcl_options *o, uint64_t h) {
  const bool iterates = o->no_direct || o->max_iter;
  if (iterates) h = kcl_sum64("iterations alone", 16, h);
  return *o->parameters ? kcl_sum64(o->parameters, strlen(o->parameters), h) : h;
}

/* Device names may hold any character. */
static void replace_separators(char *text) {
  for (; *text; text++)
    if (*text == '|' || (unsigned char)*text < ' ') *text = '/';
}

void kcl_choice_key(const kcl_context *ctx, const kcl_csr *A, const kcl_stats *s,
                    const kcl_options *o, char key[KCL_KEY]) {
  const kcl_device *d = &ctx->device;
  char device[280], driver[280];
  snprintf(device, sizeof device, "%s, %s", d->name, d->platform_name);
  if (!ctx->opencl)
    snprintf(driver, sizeof driver, "%d threads", ctx->threads);
  else
    snprintf(driver, sizeof driver, "%s %s%s", d->driver, d->version,
             ctx->layout == KCL_LAYOUT_GPU ? "" : ", row blocks");
  replace_separators(device), replace_separators(driver);
  snprintf(key, KCL_KEY,
           "%s | %s | " KCL_VERSION " | %" PRId64 " x %" PRId64 " %" PRId64 " %016" PRIx64
           " | %c %s %s %d | ",
           device, driver, A->rows, A->cols, A->nnz,
           sum_options(o, sum_structure(A, s, &ctx->tune)), kcl_type_letter(o->precision),
           o->solver, o->precond, o->nrhs && !ctx->opencl ? o->nrhs : 1);
}

/* ---------------------------------------------------------------- one line */

kcl_timing *kcl_choice_timing(kcl_choice *c, const char *method, const char *precond,
                              const char *format) {
  for (int i = 0; i < c->count; i++) {
    kcl_timing *t = &c->timing[i];
    if (!strcmp(t->method, method) && !strcmp(t->precond, precond) && !strcmp(t->format, format))
      return t;
  }
  const int room = KCL_MOST_TIMINGS - (strcmp(format, "none") ? KCL_WHOLE_SOLVES : 0);
  if (c->count >= room) return NULL;
  kcl_timing *t = &c->timing[c->count++];
  *t = (kcl_timing){.setup = 0};
  snprintf(t->method, sizeof t->method, "%s", method);
  snprintf(t->precond, sizeof t->precond, "%s", precond);
  snprintf(t->format, sizeof t->format, "%s", format);
  return t;
}

void kcl_choice_failed(kcl_choice *c, const char *method, const char *precond, const char *format) {
  kcl_choice_timing(c, method, precond, format);
  for (int i = 0; i < c->count; i++)
    if (!strcmp(c->timing[i].method, method) && !strcmp(c->timing[i].precond, precond))
      c->timing[i].iteration = INFINITY;
}

bool kcl_choice_has_failed(const kcl_choice *c, const char *method) {
  for (int i = 0; i < c->count; i++)
    if (!(c->timing[i].iteration < INFINITY) && !strcmp(c->timing[i].method, method)) return true;
  return false;
}

bool kcl_choice_way_failed(const kcl_choice *c, const char *method, const char *precond) {
  for (int i = 0; i < c->count; i++)
    if (!(c->timing[i].iteration < INFINITY) && !strcmp(c->timing[i].method, method) &&
        !strcmp(c->timing[i].precond, precond))
      return true;
  return false;
}

void kcl_choice_keep_failed(kcl_choice *c) {
  int count = 0;
  for (int i = 0; i < c->count; i++)
    if (!(c->timing[i].iteration < INFINITY)) c->timing[count++] = c->timing[i];
  c->count = count;
}

/* Reads what follows the key. False where it does not parse. */
static bool parse_choice(const char *text, kcl_choice *c) {
  kcl_timing t;
  int used = 0;
  *c = (kcl_choice){.count = 0};
  if (sscanf(text, "%" SCNd64 " %lf |%n", &c->iterations, &c->missed, &used) != 2 || !used ||
      c->iterations < 0 || !(c->missed >= 0 && c->missed < 1e9))
    return false;
  for (text += used; c->count < KCL_MOST_TIMINGS; text += used) {
    used = 0;
    if (sscanf(text, " %23s %23s %23s %lf %lf ;%n", t.method, t.precond, t.format, &t.setup,
               &t.iteration, &used) != 5 ||
        !used)
      break;
    if (!(t.setup >= 0 && t.setup < 1e9 && t.iteration > 0)) return false;
    c->timing[c->count++] = t;
  }
  return !strcmp(text, "\n"); /* a whole line */
}

/* Writes a line; non-zero where there is no room for it. */
static int format_line(const kcl_choice *c, const char *key, char *line, size_t capacity) {
  size_t n =
      (size_t)snprintf(line, capacity, "%s%" PRId64 " %.4g |", key, c->iterations, c->missed);
  for (int i = 0; i < c->count && n < capacity; i++)
    n += (size_t)snprintf(line + n, capacity - n, " %s %s %s %.4g %.4g;", c->timing[i].method,
                          c->timing[i].precond, c->timing[i].format, c->timing[i].setup,
                          c->timing[i].iteration);
  return n < capacity ? 0 : -1;
}

/* ---------------------------------------------------------------- the file */

static const char folder[] = "tune", name[] = "choices.txt";

bool kcl_choice_recall(const char *key, kcl_choice *out) {
  char line[LONGEST_LINE];
  FILE *f = kcl_cache_stream(folder, name);
  bool found = false;
  *out = (kcl_choice){.count = 0};
  while (f && !found && fgets(line, sizeof line, f))
    found = !strncmp(line, key, strlen(key)) && parse_choice(line + strlen(key), out);
  if (f) fclose(f);
  if (!found) *out = (kcl_choice){.count = 0};
  return found;
}

/* Does the line have another key? Such lines are copied to the new file if they have six bars. */
static bool of_another_key(const char *line, const char *key) {
  int bars = 0;
  for (const char *s = line; (s = strstr(s, " |")); s += 2) bars++;
  return bars == 6 && line[strlen(line) - 1] == '\n' && strncmp(line, key, strlen(key));
}

void kcl_choice_remember(const char *key, const kcl_choice *c) {
  char path[4096], line[LONGEST_LINE];
  kcl_bytes all = {0};
  if (kcl_cache_path(folder, name, path, sizeof path) || format_line(c, key, line, sizeof line))
    return;
  FILE *f = open_memstream(&all.data, &all.size), *old = f ? kcl_cache_stream(folder, name) : NULL;
  if (f) fprintf(f, "%s\n", line);
  for (int n = 1; old && n < MOST_LINES && fgets(line, sizeof line, old);)
    if (of_another_key(line, key)) fputs(line, f), n++;
  if (old) fclose(old);
  if (f && !fclose(f)) (void)kcl_file_write(NULL, path, all.data, all.size);
  free(all.data);
}
