/* The files of krylocl report: each is parsed, checked and read as --resume reads it, and the rows of all are joined.
 * Devices are the same if their place, name, driver and threads are; matrices if their names and sizes are. A row that is in
 * several files is that of the last. */
#include "cli/report/report.h"
#include "cli/ui/say.h"
#include <cjson/cJSON.h>

static int fail_file(const cli_report_file *file, const char *at) {
  int line = 1, column = 1;
  at += strspn(at, " \t\r\n");
  for (const char *s = file->text.data; s < at; s++) {
    column++;
    if (*s == '\n') line++, column = 1;
  }
  return cli_fail(KCL_INPUT,
                  "%s: no JSON at line %d, column %d: it ends there, or something else is expected",
                  file->path, line, column);
}

static int parse_report_file(cli_report_file *file) {
  const char *end = NULL;
  file->json = cJSON_ParseWithOpts(file->text.data, &end, true);
  if (!file->json) return fail_file(file, end ? end : file->text.data);
  return cli_report_fields(file->path, file->json, &file->solve);
}

static bool same_device(const cli_bench_place *a, const cli_bench_place *b) {
  return !strcmp(a->place, b->place) && !strcmp(a->layout, b->layout) &&
         !strcmp(a->device.name, b->device.name) && !strcmp(a->device.driver, b->device.driver) &&
         a->device.compute_units == b->device.compute_units;
}

static int join_place(cli_bench_run *all, const cli_bench_place *p) {
  for (int i = 0; i < all->place_count; i++)
    if (same_device(&all->places[i], p)) {
      all->places[i].stream = cli_bench_newer(&all->places[i].stream, &p->stream);
      return i;
    }
  return cli_bench_add_place(all, p);
}

static int join_matrix(cli_bench_run *all, const cli_bench_matrix *m) {
  for (int i = 0; i < all->matrix_count; i++)
    if (cli_bench_same_matrix(&all->matrices[i], m)) {
      if (!all->matrices[i].length_count) all->matrices[i] = *m;
      return i;
    }
  int at = cli_bench_add_matrix(all, m->name, m->file);
  if (at >= 0) all->matrices[at] = *m;
  return at;
}

/* Clears the members of a row whose memory another row has taken over. */
static int clear_row(cli_bench_row *row) {
  row->measured = (kcl_bench_row){0}, row->profile = NULL;
  return 0;
}

/* Adds a row and takes over its samples and its profile. */
static int join_report_row(cli_report_data *r, cli_bench_row *row) {
  for (int i = 0; i < r->run.row_count; i++) {
    cli_bench_row *old = &r->run.rows[i];
    if (!cli_bench_same_group(old, row) || strcmp(old->format, row->format)) continue;
    if (row->place < 0 && old->origin != row->origin) continue;
    kcl_bench_free(&old->measured), cli_bench_profile_free(old);
    *old = *row, r->doubles++;
    return clear_row(row);
  }
  if (!cli_bench_add_row(&r->run, row)) return cli_fail(KCL_MEMORY, "out of memory: the rows");
  return clear_row(row);
}

static int join_run(cli_report_data *r, cli_bench_run *one, int origin) {
  CLI_OWNED int *place =
      calloc((size_t)one->place_count + (size_t)one->matrix_count + 1, sizeof *place);
  int *matrix = place ? place + one->place_count : NULL;
  CLI_CALL(place ? 0 : cli_fail(KCL_MEMORY, "out of memory: the rows"));
  for (int i = 0; i < one->place_count; i++)
    CLI_CALL((place[i] = join_place(&r->run, &one->places[i])) < 0
                 ? cli_fail(KCL_MEMORY, "out of memory: the devices")
                 : 0);
  for (int i = 0; i < one->matrix_count; i++)
    CLI_CALL((matrix[i] = join_matrix(&r->run, &one->matrices[i])) < 0
                 ? cli_fail(KCL_MEMORY, "out of memory: the matrices")
                 : 0);
  for (int i = 0; i < one->row_count; i++) {
    cli_bench_row *row = &one->rows[i];
    row->matrix = matrix[row->matrix], row->origin = origin;
    if (row->place >= 0) row->place = place[row->place];
    CLI_CALL(join_report_row(r, row));
  }
  return 0;
}

/* Adds a file, or its text in memory. */
static int add_report_file(cli_report_data *r, const char *path, const char *text) {
  cli_report_file *file = &r->files[r->file_count++];
  CLI_OWNED_BY(cli_bench_close) cli_bench_run one = {.o = r->o, .shown = true};
  *file = (cli_report_file){.path = path};
  int rc = text ? cli_buffer_open(&file->text) : cli_contents(path, &file->text);
  if (text && !rc) fputs(text, file->text.f), rc = cli_buffer_close(&file->text);
  if (!rc) rc = parse_report_file(file);
  if (!rc && !file->solve) rc = cli_bench_resume_rows(file->json, &one);
  if (!rc && !file->solve) rc = join_run(r, &one, r->file_count - 1);
  return rc;
}

int cli_report_read(cli_report_data *r, char *const *paths, int count, const char *text) {
  int rc = 0;
  r->run.o = r->o;
  r->files = calloc((size_t)count + 1, sizeof *r->files);
  if (!r->files) return cli_fail(KCL_MEMORY, "out of memory: the files");
  for (int i = 0; i < count && !rc; i++) rc = add_report_file(r, paths[i], text);
  return rc ? rc : cli_report_group_rows(r);
}

void cli_report_free(cli_report_data *r) {
  for (int i = 0; i < r->file_count; i++)
    cJSON_Delete(r->files[i].json), cli_buffer_free(&r->files[i].text);
  for (int i = 0; i < r->group_count; i++) free(r->groups[i].rows);
  free(r->files), free(r->groups);
  cli_bench_close(&r->run);
}
