/* krylocl solve --profile: event times of the set-up and of the solve, kernels by name, and the bytes moved to and
 * from the device beside the least that any run has to move. */
#include "cli/solve/solve.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

void cli_profile_free(cli_profile *p) {
  free(p->setup.entry), free(p->solve.entry);
  *p = (cli_profile){0};
}

double cli_profile_moved(const kcl_profile *p, const char *kind) {
  double bytes = 0;
  for (int i = 0; i < p->count; i++)
    if (!strcmp(p->entry[i].kind, kind)) bytes += p->entry[i].bytes;
  return bytes;
}

static void say_entry(const cli_options *o, const kcl_profile_entry *e, double whole) {
  char name[80];
  snprintf(name, sizeof name, "%s%s%s", e->kind, *e->name ? " " : "", e->name);
  cli_say(o, "            %-28s %8s x %9s = %9s %5.1f %%", name, cli_count(e->count).s,
          cli_seconds(e->seconds / (double)e->count).s, cli_seconds(e->seconds).s,
          whole > 0 ? 100 * e->seconds / whole : 0);
  if (e->bytes > 0) cli_say(o, ", %s", cli_bytes(e->bytes).s);
  if (!strcmp(e->kind, "kernel"))
    cli_say(o, ", group %d of %d, multiple of %d, private %llu B, local %llu B", e->group,
            e->largest_group, e->preferred_multiple, (unsigned long long)e->private_bytes,
            (unsigned long long)e->local_bytes);
  if (e->registers)
    cli_say(o, ", %d registers, spills %lld B", e->registers, (long long)e->spill_bytes);
  if (e->instructions) cli_say(o, ", %d PTX instructions", e->instructions);
  cli_say(o, "\n");
}

void cli_profile_say_commands(const cli_options *o, const kcl_profile *p) {
  for (int i = 0; i < p->count; i++) say_entry(o, &p->entry[i], p->seconds);
}

static void say_part(const cli_options *o, const char *what, const kcl_profile *p) {
  cli_say(o, "profile     %s: %s on the device, %s of it between commands\n", what,
          cli_seconds(p->seconds).s, cli_seconds(p->gaps).s);
  cli_profile_say_commands(o, p);
}

static double csr_bytes(const kcl_csr *A, double scalar) {
  return (double)A->nnz * (4 + scalar) + 4 * ((double)A->rows + 1);
}

static void say_bytes(const cli_run *r) {
  const kcl_csr *A = &r->p.whole;
  const double scalar = (double)kcl_type_size(r->p.precision), columns = (double)r->solved,
               stored = r->setup.bytes_stored, csr = csr_bytes(A, scalar),
               b_and_x = columns * (double)(A->rows + A->cols) * scalar,
               x = columns * (double)A->cols * scalar;
  cli_say(r->o, "bytes       to the device %s, at least %s: %s %s, b and x %s; CSR has %s\n",
          cli_bytes(cli_profile_moved(&r->profile.setup, "write") +
                    cli_profile_moved(&r->profile.solve, "write"))
              .s,
          cli_bytes(stored + b_and_x).s, r->setup.format, cli_bytes(stored).s, cli_bytes(b_and_x).s,
          cli_bytes(csr).s);
  cli_say(r->o, "            back %s, at least %s: x\n",
          cli_bytes(cli_profile_moved(&r->profile.solve, "read")).s, cli_bytes(x).s);
}

void cli_profile_say(const cli_run *r) {
  if (!r->o->profile) return;
  say_part(r->o, "set-up", &r->profile.setup);
  say_part(r->o, "solve", &r->profile.solve);
  say_bytes(r);
}

static void entry_json(cJSON *list, const kcl_profile_entry *e) {
  cJSON *o = cli_json_item(list);
  cli_json_text(o, "kind", e->kind);
  if (*e->name) cli_json_text(o, "name", e->name);
  cli_json_count(o, "count", e->count);
  cli_json_number(o, "seconds", e->seconds);
  if (strcmp(e->kind, "kernel")) {
    cli_json_number(o, "bytes", e->bytes);
    return;
  }
  cli_json_count(o, "group", e->group);
  cli_json_count(o, "largest_group", e->largest_group);
  cli_json_count(o, "preferred_multiple", e->preferred_multiple);
  cli_json_count(o, "private_bytes", (int64_t)e->private_bytes);
  cli_json_count(o, "local_bytes", (int64_t)e->local_bytes);
  if (e->registers) cli_json_count(o, "registers", e->registers);
  if (e->registers) cli_json_count(o, "spill_bytes", e->spill_bytes);
  if (e->instructions) cli_json_count(o, "ptx_instructions", e->instructions);
}

void cli_profile_part_json(cJSON *o, const char *key, const kcl_profile *p) {
  cJSON *part = cJSON_AddObjectToObject(o, key);
  cli_json_number(part, "seconds", p->seconds);
  cli_json_number(part, "gaps", p->gaps);
  cJSON *list = cJSON_AddArrayToObject(part, "commands");
  for (int i = 0; i < p->count; i++) entry_json(list, &p->entry[i]);
}

void cli_profile_json(cJSON *all, const cli_run *r) {
  if (!r->o->profile) return;
  cJSON *o = cJSON_AddObjectToObject(all, "profile");
  cli_profile_part_json(o, "setup", &r->profile.setup);
  cli_profile_part_json(o, "solve", &r->profile.solve);
}
