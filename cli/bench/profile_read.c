/* The profiles of an earlier run, for --resume. */
#include "cli/bench/bench.h"
#include "cli/ui/json.h"
#include "krylocl.h"
#include "krylocl/bench.h"
#include <cjson/cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number_or(const cJSON *o, const char *key, double otherwise) {
  const cJSON *f = cJSON_GetObjectItem(o, key);
  return cJSON_IsNumber(f) ? f->valuedouble : otherwise;
}

static int64_t profile_count(const cJSON *o, const char *key, int64_t most) {
  return cli_json_to_count(number_or(o, key, 0), most);
}

static const char *profile_text(const cJSON *o, const char *key) {
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
  return text ? text : "";
}

static const char *command_kind(const char *word) {
  static const char *const kinds[] = {"kernel", "write", "read", "copy", "fill", "map"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(word, kinds[i])) return kinds[i];
  return "";
}

static kcl_profile_entry read_profile_entry(const cJSON *o) {
  kcl_profile_entry e = {.kind = command_kind(profile_text(o, "kind")),
                         .count = profile_count(o, "count", INT64_MAX),
                         .seconds = number_or(o, "seconds", 0),
                         .bytes = number_or(o, "bytes", 0),
                         .group = (int)profile_count(o, "group", INT_MAX),
                         .largest_group = (int)profile_count(o, "largest_group", INT_MAX),
                         .preferred_multiple = (int)profile_count(o, "preferred_multiple", INT_MAX),
                         .private_bytes = (uint64_t)profile_count(o, "private_bytes", INT64_MAX),
                         .local_bytes = (uint64_t)profile_count(o, "local_bytes", INT64_MAX),
                         .registers = (int)profile_count(o, "registers", INT_MAX),
                         .spill_bytes = profile_count(o, "spill_bytes", INT64_MAX),
                         .instructions = (int)profile_count(o, "ptx_instructions", INT_MAX)};
  snprintf(e.name, sizeof e.name, "%s", profile_text(o, "name"));
  return e;
}

static kcl_profile read_profile_part(const cJSON *o, const char *key) {
  const cJSON *part = cJSON_GetObjectItem(o, key), *list = cJSON_GetObjectItem(part, "commands"),
              *one;
  kcl_profile p = {.seconds = number_or(part, "seconds", 0), .gaps = number_or(part, "gaps", 0)};
  const int n = cJSON_GetArraySize(list);
  p.entry = n ? calloc((size_t)n, sizeof *p.entry) : NULL;
  cJSON_ArrayForEach(one, list) if (p.entry) p.entry[p.count++] = read_profile_entry(one);
  return p;
}

void cli_bench_profile_read(const cJSON *row, cli_bench_row *r) {
  const cJSON *o = cJSON_GetObjectItem(row, "profile"), *c = cJSON_GetObjectItem(o, "counters");
  kcl_bench_profile *p = o ? calloc(1, sizeof *p) : NULL;
  if (!p) return;
  r->profile = p;
  p->iterations = (int)profile_count(o, "iterations", INT_MAX),
  p->seconds = number_or(o, "seconds", 0);
  p->start_up = number_or(o, "start_up", 0), p->bytes_in = number_or(o, "bytes_vectors", 0);
  p->bytes_stored = number_or(o, "bytes_to_device_least", 0) - p->bytes_in;
  p->bytes_out = number_or(o, "bytes_back_least", 0);
  p->setup = read_profile_part(o, "setup"), p->write = read_profile_part(o, "write");
  p->run = read_profile_part(o, "run"), p->read = read_profile_part(o, "read");
  p->counters = (kcl_counters){number_or(c, "cycles", -1), number_or(c, "instructions", -1),
                               number_or(c, "cache_misses", -1), number_or(c, "memory_bytes", -1),
                               cJSON_IsTrue(cJSON_GetObjectItem(c, "memory_from_misses"))};
}
