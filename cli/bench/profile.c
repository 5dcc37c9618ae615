/* krylocl bench --profile: for every row the event times of a few iterations, the bytes moved to and from the
 * device beside the least that the format allows, and hardware counters of CPU devices. The times of the rows
 * themselves are taken without event times, which have a cost. */
#include "cli/bench/bench.h"
#include "cli/solve/solve.h"
#include "cli/ui/csv.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

/* ---------------------------------------------------------------- measuring */

/* A context with event times on the device of p; for the native executor, which has none, the same context. */
static int open_profiled(cli_bench_place *p) {
  if (p->device.platform < 0 || p->profiled) return 0;
  int rc = kcl_context_create(NULL, 0, &p->profiled) ? cli_fail(KCL_MEMORY, "out of memory") : 0;
  if (rc) return rc;
  kcl_profile_enable(p->profiled, true);
  rc = cli_lib(kcl_select(p->profiled, p->place, 0));
  if (rc) kcl_context_free(&p->profiled);
  return rc;
}

int cli_bench_profile(cli_bench_run *b, cli_bench_row *r, const kcl_csr *A,
                      const kcl_options *asked) {
  cli_bench_place *p = &b->places[r->place];
  const kcl_samples *s = cli_bench_samples(r);
  int rc = open_profiled(p);
  if (rc) return rc;
  kcl_context *ctx = p->profiled ? p->profiled : p->ctx;
  kcl_allow_padding(ctx, b->o->force);
  r->profile = calloc(1, sizeof *r->profile);
  if (!r->profile) return cli_fail(KCL_MEMORY, "out of memory: a profile");
  rc = cli_lib(kcl_bench_profiled(ctx, A, asked, cli_bench_alone(r), s->iterations, r->profile));
  if (rc) free(r->profile), r->profile = NULL;
  return rc;
}

void cli_bench_profile_free(cli_bench_row *r) {
  kcl_bench_profile_free(r->profile);
  free(r->profile);
  r->profile = NULL;
}

/* ---------------------------------------------------------------- what it says */

static double to_device(const kcl_bench_profile *p) {
  return cli_profile_moved(&p->setup, "write") + cli_profile_moved(&p->write, "write");
}

static double command_seconds(const kcl_profile *p, const char *kind) {
  double seconds = 0;
  for (int i = 0; i < p->count; i++)
    if (!strcmp(p->entry[i].kind, kind)) seconds += p->entry[i].seconds;
  return seconds;
}

static double seconds_of_writes(const kcl_bench_profile *p) {
  return command_seconds(&p->setup, "write") + command_seconds(&p->write, "write");
}

static void say_events(const cli_options *o, const kcl_bench_profile *p) {
  cli_say(o, "            %s on the device, %s of it between commands, start-up %s\n",
          cli_seconds(p->run.seconds).s, cli_seconds(p->run.gaps).s, cli_seconds(p->start_up).s);
  cli_profile_say_commands(o, &p->run);
  cli_say(o, "            to the device %s in %s, at least %s: matrix %s, vectors %s\n",
          cli_bytes(to_device(p)).s, cli_seconds(seconds_of_writes(p)).s,
          cli_bytes(p->bytes_stored + p->bytes_in).s, cli_bytes(p->bytes_stored).s,
          cli_bytes(p->bytes_in).s);
  cli_say(o, "            back %s in %s, at least %s\n",
          cli_bytes(cli_profile_moved(&p->read, "read")).s,
          cli_seconds(command_seconds(&p->read, "read")).s, cli_bytes(p->bytes_out).s);
}

/* Appends ", name 1.23e9" for a counter; nothing if it was not counted. */
static void append_counter(char text[300], const char *name, double v) {
  if (v >= 0) cli_append(text, 300, ", %s %.3g", name, v);
}

static void say_counters(const cli_options *o, const kcl_bench_profile *p) {
  const kcl_counters *c = &p->counters;
  char text[300] = "";
  append_counter(text, "cycles", c->cycles);
  append_counter(text, "instructions", c->instructions);
  append_counter(text, "cache misses", c->cache_misses);
  append_counter(text, c->memory_from_misses ? "misses by the line, bytes" : "memory bytes",
                 c->memory_bytes);
  if (*text) cli_say(o, "            per run: %s\n", text + 2);
  if (!*text && !p->run.count)
    cli_say(o, "            no hardware counters here, and event times only of OpenCL devices: "
               "--device opencl\n");
}

static void say_row_profile(const cli_bench_run *b, const cli_bench_row *r) {
  const kcl_bench_profile *p = r->profile;
  cli_say(b->o, "profile     %s on %s in %c, %s: %s of %s\n", r->format, b->places[r->place].place,
          kcl_type_letter(r->type), cli_bench_alone(r) ? "product" : r->method,
          cli_count(p->iterations).s, cli_seconds(p->seconds).s);
  if (p->run.count) say_events(b->o, p);
  say_counters(b->o, p);
}

void cli_bench_profiles_say(const cli_bench_run *b, int matrix) {
  if (b->o->quiet) return;
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].matrix == matrix && b->rows[i].profile) say_row_profile(b, &b->rows[i]);
}

/* ---------------------------------------------------------------- JSON, CSV */

static double known_or_nan(double v) { return v < 0 ? NAN : v; }

static void counters_json(cJSON *o, const kcl_counters *c) {
  if (c->cycles < 0 && c->instructions < 0 && c->cache_misses < 0 && c->memory_bytes < 0) return;
  cJSON *k = cJSON_AddObjectToObject(o, "counters");
  cli_json_number(k, "cycles", known_or_nan(c->cycles));
  cli_json_number(k, "instructions", known_or_nan(c->instructions));
  cli_json_number(k, "cache_misses", known_or_nan(c->cache_misses));
  cli_json_number(k, "memory_bytes", known_or_nan(c->memory_bytes));
  cli_json_bool(k, "memory_from_misses", c->memory_from_misses);
}

void cli_bench_profile_json(cJSON *row, const cli_bench_row *r) {
  const kcl_bench_profile *p = r->profile;
  if (!p) return;
  cJSON *o = cJSON_AddObjectToObject(row, "profile");
  cli_json_count(o, "iterations", p->iterations);
  cli_json_number(o, "seconds", p->seconds);
  if (p->run.count) {
    cli_json_number(o, "start_up", p->start_up);
    cli_json_number(o, "bytes_to_device", to_device(p));
    cli_json_number(o, "bytes_to_device_least", p->bytes_stored + p->bytes_in);
    cli_json_number(o, "bytes_vectors", p->bytes_in);
    cli_json_number(o, "bytes_back", cli_profile_moved(&p->read, "read"));
    cli_json_number(o, "bytes_back_least", p->bytes_out);
    cli_profile_part_json(o, "setup", &p->setup);
    cli_profile_part_json(o, "write", &p->write);
    cli_profile_part_json(o, "run", &p->run);
    cli_profile_part_json(o, "read", &p->read);
  }
  counters_json(o, &p->counters);
}

const char cli_bench_profile_columns[] =
    "profile_iterations,profile_seconds,start_up_seconds,device_seconds,gap_seconds,write_seconds,"
    "read_seconds,bytes_to_device,bytes_to_device_least,bytes_back,bytes_back_least,cycles,"
    "instructions,cache_misses,memory_bytes,kernels";

/* "NAME COUNT SECONDS; ..." */
static void kernels_csv(FILE *f, const kcl_profile *p) {
  char text[2000] = "";
  for (int i = 0, n = 0; i < p->count && n < (int)sizeof text - 100; i++)
    if (!strcmp(p->entry[i].kind, "kernel"))
      n += snprintf(text + n, sizeof text - (size_t)n, "%s%s %lld %.9g", n ? "; " : "",
                    p->entry[i].name, (long long)p->entry[i].count, p->entry[i].seconds);
  fputc(',', f), cli_csv_text(f, text);
}

void cli_bench_profile_csv(FILE *f, const cli_bench_row *r) {
  static const kcl_bench_profile none = {.counters = {-1, -1, -1, -1, false}};
  const kcl_bench_profile *p = r->profile ? r->profile : &none;
  const kcl_counters *c = &p->counters;
  const double events[] = {p->start_up,
                           p->run.seconds,
                           p->run.gaps,
                           seconds_of_writes(p),
                           command_seconds(&p->read, "read"),
                           to_device(p),
                           p->bytes_stored + p->bytes_in,
                           cli_profile_moved(&p->read, "read"),
                           p->bytes_out},
               counters[] = {c->cycles, c->instructions, c->cache_misses, c->memory_bytes};
  cli_csv_number(f, r->profile ? p->iterations : NAN),
      cli_csv_number(f, r->profile ? p->seconds : NAN);
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    cli_csv_number(f, p->run.count ? events[i] : NAN);
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
    cli_csv_number(f, known_or_nan(counters[i]));
  kernels_csv(f, &p->run);
}

/* ---------------------------------------------------------------- of an earlier run, for --resume */

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
