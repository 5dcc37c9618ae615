/* krylocl report: pages, figures and tables from the JSON of bench and solve, and the comparison of two runs. */
#include "cli/report.h"
#include "cli/report/report.h"
#include "cli/ui/say.h"

/* Prints the recommendations, one line each. */
static int say_answers(const cli_report_data *r) {
  cli_buffer b;
  int rc = 0;
  for (int i = 0; i < r->group_count && !rc; i++) {
    const cli_report_group *g = &r->groups[i];
    if (!g->count || !cli_report_first(r, g, true)) continue;
    if ((rc = cli_buffer_open(&b))) break;
    cli_report_answer(b.f, r, g, false);
    rc = cli_buffer_close(&b);
    if (!rc) cli_say(r->o, "%-11s %s\n", r->run.matrices[g->matrix].name, b.data);
    cli_buffer_free(&b);
  }
  return rc;
}

static int write_report_files(const cli_report_data *r) {
  const cli_options *o = r->o;
  const struct {
    const char *path;
    int (*write)(const cli_report_data *r, const char *path);
  } all[] = {{o->output, cli_report_page},
             {o->figures, cli_report_files},
             {o->markdown, cli_report_markdown},
             {o->latex, cli_report_latex}};
  int rc = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
    if (all[i].path) rc = all[i].write(r, all[i].path);
  if (o->csv && !rc) rc = cli_bench_csv(&r->run, o->csv);
  return rc;
}

int cli_report_text(const cli_options *o, const char *name, const char *text) {
  CLI_OWNED_BY(cli_report_free) cli_report_data r = {.o = o};
  char *path = (char *)name;
  CLI_CALL(cli_report_read(&r, &path, 1, text));
  return cli_report_page(&r, o->page);
}

static int report_on_files(const cli_options *o, char *const *paths, int count) {
  CLI_OWNED_BY(cli_report_free) cli_report_data r = {.o = o};
  CLI_CALL(cli_report_read(&r, paths, count, NULL));
  if (r.doubles)
    cli_say(o, "%d row%s in several files: the last file counts\n", r.doubles,
            r.doubles == 1 ? " is" : "s are");
  CLI_CALL(say_answers(&r));
  return write_report_files(&r);
}

static int run_report(kcl_context *ctx, const cli_options *o) {
  (void)ctx;
  const bool asked = o->output || o->figures || o->markdown || o->latex || o->csv;
  if (o->compare) return cli_report_compare(o);
  if (!asked)
    return cli_fail(
        KCL_USAGE,
        "nothing to write: -o page.html, --figures, --markdown, --csv, --latex, or --compare");
  return report_on_files(o, o->files, o->count);
}

const cli_command cli_report = {
    .name = "report",
    .operands = "results.json...",
    .summary = "a page, figures and tables of results; what changed",
    .options = "output figures markdown csv latex compare least quiet | verbose durable",
    .min = 1,
    .max = 1 << 20,
    .run = run_report,
    .notes = "Files are those of bench --json and of solve --json. Rows of several files stand "
             "together; of a row that is in several, the last counts.\n"
             "\n"
             "-o writes one HTML page that needs nothing else: what to use and how sure that is, "
             "times with their samples, break-even, storage, roofline, thread scaling, row lengths "
             "and structure, convergence (of solve), all rows as a table that sorts, how it was "
             "measured, and the data. --figures writes the same figures as SVG, and as PNG if "
             "rsvg-convert is installed. --latex needs the package booktabs, and longtable for "
             "long tables.\n"
             "\n"
             "--compare OLD NEW: what became slower or faster. A time counts as changed if a "
             "rank test (Mann & Whitney 1947, adjusted for the number of times by Holm 1979) "
             "finds its samples different at 5 %, and both the typical ratio and that of the "
             "least samples are beyond a limit: --least percent (5), or what the machine does to "
             "times that did not change, as the sequential reference and the spread of all "
             "ratios tell. On a machine with other work, measure four or more runs of each, "
             "alternately, and name the old ones first: then what differs by more than the runs "
             "do counts. The exit code is 1 if anything is slower: docs/report.md.\n"};
