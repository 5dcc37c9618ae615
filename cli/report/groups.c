/* Rows that may be compared, and their names. Rows of a group differ in the format alone. Groups of one question
 * also differ in the number of threads, groups of one setting in the matrix. */
#include "cli/report/report.h"
#include "cli/ui/say.h"

bool cli_report_same_setting(const cli_bench_row *a, const cli_bench_row *b) {
  cli_bench_row c = *a;
  c.matrix = b->matrix;
  return cli_bench_same_group(&c, b) && a->type == b->type;
}

static bool same_machine(const cli_bench_place *a, const cli_bench_place *b) {
  return a->device.platform < 0 && b->device.platform < 0 &&
         !strcmp(a->device.name, b->device.name);
}

bool cli_report_same_question(const cli_report_data *r, const cli_bench_row *a,
                              const cli_bench_row *b) {
  const cli_bench_place *p = r->run.places;
  cli_bench_row c = *a;
  if (a->place != b->place && same_machine(&p[a->place], &p[b->place])) c.place = b->place;
  return cli_bench_same_group(&c, b);
}

bool cli_report_first(const cli_report_data *r, const cli_report_group *g, bool question) {
  for (const cli_report_group *h = r->groups; h < g; h++)
    if (question ? cli_report_same_question(r, h->key, g->key)
                 : cli_report_same_setting(h->key, g->key))
      return false;
  return true;
}

static cli_report_group *group_of(cli_report_data *r, const cli_bench_row *row) {
  for (int i = 0; i < r->group_count; i++)
    if (cli_bench_same_group(r->groups[i].key, row)) return &r->groups[i];
  cli_report_group *g = &r->groups[r->group_count];
  *g = (cli_report_group){
      .matrix = row->matrix, .key = row, .rows = calloc((size_t)r->run.row_count, sizeof *g->rows)};
  if (!g->rows) return NULL;
  r->group_count++;
  return g;
}

static int insert_row(const cli_report_data *r, cli_report_group *g, int i) {
  const cli_bench_row *rows = r->run.rows;
  int k = g->count++;
  for (; k && cli_bench_per_rhs(&rows[g->rows[k - 1]]) > cli_bench_per_rhs(&rows[i]); k--)
    g->rows[k] = g->rows[k - 1];
  g->rows[k] = i;
  g->key = &rows[g->rows[0]];
  return 0;
}

static int by_matrix(const void *a, const void *b) {
  const cli_report_group *g = a, *h = b;
  if (g->matrix != h->matrix) return g->matrix - h->matrix;
  return (g->key > h->key) - (g->key < h->key);
}

/* Orders groups by matrix, then by their first row. */
int cli_report_group_rows(cli_report_data *r) {
  r->groups = calloc((size_t)r->run.row_count + 1, sizeof *r->groups);
  if (!r->groups) return cli_fail(KCL_MEMORY, "out of memory: the groups");
  for (int i = 0; i < r->run.row_count; i++)
    if (r->run.rows[i].place >= 0 && !group_of(r, &r->run.rows[i]))
      return cli_fail(KCL_MEMORY, "out of memory: the groups");
  qsort(r->groups, (size_t)r->group_count, sizeof *r->groups, by_matrix);
  for (int i = 0; i < r->run.row_count; i++) {
    const cli_bench_row *row = &r->run.rows[i];
    if (row->place >= 0 && row->state == CLI_BENCH_OK) insert_row(r, group_of(r, row), i);
  }
  return 0;
}

/* Copies a device name without trade marks and without the part after an @. */
static void copy_clean_name(const char *name, char *out, size_t capacity) {
  size_t n = 0;
  for (const char *s = name; *s && *s != '@' && n + 1 < capacity; s++) {
    if (!strncmp(s, "(R)", 3))
      s += 2;
    else if (!strncmp(s, "(TM)", 4) || !strncmp(s, "(tm)", 4))
      s += 3;
    else
      out[n++] = *s;
  }
  while (n && out[n - 1] == ' ') n--;
  out[n] = 0;
}

/* True if there are native devices of several names. */
static bool several_hosts(const cli_report_data *r, int place) {
  for (int i = 0; i < r->run.place_count; i++)
    if (strcmp(r->run.places[i].place, "cpu") == 0 &&
        strcmp(r->run.places[i].device.name, r->run.places[place].device.name))
      return true;
  return false;
}

cli_report_name cli_report_place(const cli_report_data *r, int place, bool threads) {
  const cli_bench_place *p = &r->run.places[place];
  cli_report_name t;
  char name[90];
  int n = p->device.compute_units;
  copy_clean_name(p->device.name, name, sizeof name);
  if (p->device.platform < 0 && threads)
    snprintf(t.s, sizeof t.s, "%s, %d thread%s", several_hosts(r, place) ? name : "native CPU", n,
             n == 1 ? "" : "s");
  else if (p->device.platform < 0)
    snprintf(t.s, sizeof t.s, "%s", several_hosts(r, place) ? name : "native CPU");
  else if (!strcmp(p->device.kind, "cpu"))
    snprintf(t.s, sizeof t.s, "OpenCL CPU %s%s%s", p->place, *p->layout ? ", layout " : "",
             p->layout);
  else
    snprintf(t.s, sizeof t.s, "%s%s%s", name, *p->layout ? ", layout " : "", p->layout);
  return t;
}

cli_report_name cli_report_setting_all(const cli_report_data *r, const cli_bench_row *key) {
  cli_bench_row k = *key;
  for (int i = 0; i < r->group_count; i++)
    if (cli_report_same_setting(r->groups[i].key, key) &&
        strcmp(r->groups[i].key->method, k.method))
      snprintf(k.method, sizeof k.method, "each its method");
  return cli_report_setting(r, &k, true);
}

cli_report_name cli_report_where(const cli_report_data *r, const cli_bench_row *row) {
  cli_report_name t = cli_report_setting(r, row, true);
  char *alone = strstr(t.s, ", product alone");
  if (alone) memmove(alone, alone + 15, strlen(alone + 15) + 1);
  return t;
}

cli_report_name cli_report_setting(const cli_report_data *r, const cli_bench_row *key,
                                   bool threads) {
  cli_report_name t;
  const bool plain = !*key->precond || !strcmp(key->precond, "none");
  snprintf(t.s, sizeof t.s, "%.100s, %s, %s%s%s", cli_report_place(r, key->place, threads).s,
           cli_type_words(key->type), cli_bench_alone(key) ? "product alone" : key->method,
           plain ? "" : " + ", plain ? "" : key->precond);
  if (key->nrhs > 1) cli_append(t.s, sizeof t.s, ", %d right-hand sides", key->nrhs);
  return t;
}
