/* The memory of `auto`: what choices.h says, as a file of lines. */
#include "core/choices.h"
#include "core/cache.h"
#include "core/context.h"
#include "core/opencl.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINES = 500, LINE = 2048, SAMPLES = 2048 };

/* ---------------------------------------------------------------- the key */

/* FNV-1a by words (Fowler, Noll & Vo 1991). */
static uint64_t mix(uint64_t h, int64_t word) { return (h ^ (uint64_t)word) * 1099511628211u; }

/* Row lengths, diagonals, what repeats, the rows at SAMPLES even distances; and what changes the clock. */
static uint64_t structure(const kcl_csr *A, const kcl_stats *s, const kcl_tune *t) {
  const int64_t facts[] = {s->row_min,      s->row_max,         s->bandwidth,     s->diagonals,
                           s->empty_rows,   s->sliced,          s->sliced_sorted, s->row_third,
                           s->row_patterns, s->pattern_entries, s->pattern_runs,  s->pairs,
                           s->values,       s->single_values,   s->slice_span,    s->hermitian,
                           s->symmetric,    s->shifted_skew};
  const int tuned[] = {t->group, t->groups, t->block, t->lanes, t->slice};
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) h = mix(h, facts[i]);
  for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++) h = mix(h, tuned[i]);
  int64_t step = A->rows / SAMPLES + 1;
  for (int64_t i = 0; i < A->rows; i += step)
    for (int64_t k = A->row_ptr[i], end = A->row_ptr[i + 1]; k < end; k += (end - k) / 16 + 1)
      h = mix(h, A->col[k] - i);
  return h;
}

/* Device names may hold anything. */
static void plain(char *text) {
  for (; *text; text++)
    if (*text == '|' || (unsigned char)*text < ' ') *text = '/';
}

void kcl_choice_key(const kcl *ctx, const kcl_csr *A, const kcl_stats *s, const kcl_options *o,
                    char key[KCL_KEY]) {
  const kcl_device *d = &ctx->device;
  char device[280], driver[280];
  snprintf(device, sizeof device, "%s, %s", d->name, d->platform_name);
  if (!ctx->opencl)
    snprintf(driver, sizeof driver, "%d threads", ctx->threads);
  else
    snprintf(driver, sizeof driver, "%s %s%s", d->driver, d->version,
             kcl_opencl_neighbours(ctx) ? "" : ", pieces");
  plain(device), plain(driver);
  snprintf(key, KCL_KEY,
           "%s | %s | " KCL_VERSION " | %" PRId64 " x %" PRId64 " %" PRId64 " %016" PRIx64
           " | %c %s %s %d | ",
           device, driver, A->rows, A->cols, A->nnz, structure(A, s, &ctx->tune),
           kcl_type_letter(o->precision), o->solver, o->precond,
           o->columns && !ctx->opencl ? o->columns : 1);
}

/* ---------------------------------------------------------------- one line */

kcl_timing *kcl_choice_timing(kcl_choice *c, const char *method, const char *format) {
  for (int i = 0; i < c->count; i++)
    if (!strcmp(c->timing[i].method, method) && !strcmp(c->timing[i].format, format))
      return &c->timing[i];
  if (c->count == KCL_MOST_TIMINGS) return NULL;
  kcl_timing *t = &c->timing[c->count++];
  *t = (kcl_timing){.setup = 0};
  snprintf(t->method, sizeof t->method, "%s", method);
  snprintf(t->format, sizeof t->format, "%s", format);
  return t;
}

/* What follows the key. False when it makes no sense. */
static bool understand(const char *text, kcl_choice *c) {
  kcl_timing t;
  int used = 0;
  *c = (kcl_choice){.count = 0};
  if (sscanf(text, "%" SCNd64 " |%n", &c->iterations, &used) != 1 || !used || c->iterations < 0)
    return false;
  for (text += used; c->count < KCL_MOST_TIMINGS; text += used) {
    used = 0;
    if (sscanf(text, " %23s %23s %lf %lf ;%n", t.method, t.format, &t.setup, &t.iteration, &used) !=
            4 ||
        !used)
      break;
    if (!(t.setup >= 0 && t.setup < 1e9 && t.iteration > 0 && t.iteration < 1e9)) return false;
    c->timing[c->count++] = t;
  }
  return !strcmp(text, "\n"); /* a whole line */
}

static int say(const kcl_choice *c, const char *key, char *line, size_t room) {
  size_t n = (size_t)snprintf(line, room, "%s%" PRId64 " |", key, c->iterations);
  for (int i = 0; i < c->count && n < room; i++)
    n += (size_t)snprintf(line + n, room - n, " %s %s %.4g %.4g;", c->timing[i].method,
                          c->timing[i].format, c->timing[i].setup, c->timing[i].iteration);
  return n < room ? 0 : -1;
}

/* ---------------------------------------------------------------- the file */

static bool place(char path[4096]) {
  return kcl_cache_path("tune", "choices.txt", path, 4096) == 0;
}

bool kcl_choice_recall(const char *key, kcl_choice *out) {
  char path[4096], line[LINE];
  FILE *f = place(path) ? fopen(path, "r") : NULL;
  bool found = false;
  *out = (kcl_choice){.count = 0};
  while (f && !found && fgets(line, sizeof line, f))
    found = !strncmp(line, key, strlen(key)) && understand(line + strlen(key), out);
  if (f) fclose(f);
  if (!found) *out = (kcl_choice){.count = 0};
  return found;
}

/* Lines with six bars that are not this key's: those are kept. */
static bool foreign(const char *line, const char *key) {
  int bars = 0;
  for (const char *s = line; (s = strstr(s, " |")); s += 2) bars++;
  return bars == 6 && line[strlen(line) - 1] == '\n' && strncmp(line, key, strlen(key));
}

void kcl_choice_remember(const char *key, const kcl_choice *c) {
  char path[4096], aside[4200], line[LINE];
  if (!place(path) || say(c, key, line, sizeof line)) return;
  snprintf(aside, sizeof aside, "%s.XXXXXX", path);
  int file = mkstemp(aside);
  FILE *old = fopen(path, "r"), *f = file < 0 ? NULL : fdopen(file, "w");
  if (f) {
    fprintf(f, "%s\n", line);
    for (int n = 1; old && n < MOST_LINES && fgets(line, sizeof line, old);)
      if (foreign(line, key)) fputs(line, f), n++;
    bool whole = !ferror(f);
    if (fclose(f) || !whole || rename(aside, path)) remove(aside);
  } else if (file >= 0) {
    close(file), remove(aside);
  }
  if (old) fclose(old);
}
