/* The profiles of an earlier run, for --resume. */
#include "cli/bench/bench.h"
#include "cli/ui/json.h"
#include "krylocl.h"
#include "krylocl/bench.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *command_kind(const char *word) {
  static const char *const kinds[] = {"kernel", "write", "read", "copy", "fill", "map"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(word, kinds[i])) return kinds[i];
  return "";
}

static kcl_profile_entry read_profile_entry(const cJSON *o) {
  kcl_profile_entry e = {.kind = command_kind(cli_get_text(o, "kind")),
                         .count = cli_get_count(o, "count"),
                         .seconds = cli_get_or(o, "seconds", 0),
                         .bytes = cli_get_or(o, "bytes", 0),
                         .group = cli_get_int(o, "group"),
                         .largest_group = cli_get_int(o, "largest_group"),
                         .preferred_multiple = cli_get_int(o, "preferred_multiple"),
                         .private_bytes = (uint64_t)cli_get_count(o, "private_bytes"),
                         .local_bytes = (uint64_t)cli_get_count(o, "local_bytes"),
                         .registers = cli_get_int(o, "registers"),
                         .spill_bytes = cli_get_count(o, "spill_bytes"),
                         .instructions = cli_get_int(o, "ptx_instructions")};
  snprintf(e.name, sizeof e.name, "%s", cli_get_text(o, "name"));
  return e;
}

static kcl_profile read_profile_part(const cJSON *o, const char *key) {
  const cJSON *part = cli_field(o, key), *list = cli_field(part, "commands"), *one;
  kcl_profile p = {.seconds = cli_get_or(part, "seconds", 0), .gaps = cli_get_or(part, "gaps", 0)};
  const int n = cJSON_GetArraySize(list);
  p.entry = n ? calloc((size_t)n, sizeof *p.entry) : NULL;
  cJSON_ArrayForEach(one, list) if (p.entry) p.entry[p.count++] = read_profile_entry(one);
  return p;
}

void cli_bench_profile_read(const cJSON *row, cli_bench_row *r) {
  const cJSON *o = cli_field(row, "profile"), *c = cli_field(o, "counters");
  kcl_bench_profile *p = o ? calloc(1, sizeof *p) : NULL;
  if (!p) return;
  r->profile = p;
  p->iterations = cli_get_int(o, "iterations"), p->seconds = cli_get_or(o, "seconds", 0);
  p->start_up = cli_get_or(o, "start_up", 0), p->bytes_in = cli_get_or(o, "bytes_vectors", 0);
  p->bytes_stored = cli_get_or(o, "bytes_to_device_least", 0) - p->bytes_in;
  p->bytes_out = cli_get_or(o, "bytes_back_least", 0);
  p->setup = read_profile_part(o, "setup"), p->write = read_profile_part(o, "write");
  p->run = read_profile_part(o, "run"), p->read = read_profile_part(o, "read");
  p->counters = (kcl_counters){cli_get_or(c, "cycles", -1), cli_get_or(c, "instructions", -1),
                               cli_get_or(c, "cache_misses", -1), cli_get_or(c, "memory_bytes", -1),
                               cli_get_bool(c, "memory_from_misses")};
}
