/* How the results were measured: for each file the program, date, command, host, clock and devices, and the
 * definitions behind the figures. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"
#include "cli/ui/json.h"

static void print_definition(FILE *f, const char *name, const char *text) {
  if (!*text) return;
  fprintf(f, "<dt>%s</dt><dd>", name);
  cli_xml_text(f, text);
  fputs("</dd>\n", f);
}

/* Prints a word of a command line, quoted if a shell would split it. */
static void print_shell_word(FILE *f, const char *text) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/=+@%";
  if (*text && strspn(text, plain) == strlen(text)) {
    fprintf(f, " %s", text);
    return;
  }
  fputs(" '", f);
  for (; *text; text++) fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, f);
  fputc('\'', f);
}

/* Prints the command from the arguments in the file; zeros and false are defaults. */
static void print_bench_command(FILE *f, const cJSON *file) {
  const cJSON *a = cli_field(file, "arguments"), *one;
  cli_buffer b;
  if (!cJSON_IsObject(a) || cli_buffer_open(&b)) return;
  fputs("krylocl bench", b.f);
  cJSON_ArrayForEach(one, cli_field(a, "operands")) if (cJSON_IsString(one))
      print_shell_word(b.f, one->valuestring);
  cJSON_ArrayForEach(one, a) {
    const bool number = cJSON_IsNumber(one) && one->valuedouble > 0, text = cJSON_IsString(one);
    if (!number && !text && !cJSON_IsTrue(one)) continue;
    fprintf(b.f, " --%s", one->string);
    if (number) fprintf(b.f, " %g", one->valuedouble);
    if (text) print_shell_word(b.f, one->valuestring);
  }
  if (!cli_buffer_close(&b)) {
    fputs("<dt>command</dt><dd><code>", f);
    cli_xml_text(f, b.data);
    fputs("</code></dd>\n", f);
  }
  cli_buffer_free(&b);
}

static void print_host(FILE *f, const cJSON *file) {
  const cJSON *h = cli_field(file, "host");
  char text[300];
  snprintf(text, sizeof text, "%.60s %.60s, %.60s, %.0f processors", cli_get_text(h, "system"),
           cli_get_text(h, "release"), cli_get_text(h, "machine"), cli_get_number(h, "processors"));
  if (cJSON_IsObject(h)) print_definition(f, "host", text);
  snprintf(text, sizeof text, "%.2f at the beginning, %.2f at the end (average of a minute)",
           cli_get_number(h, "load_begin"), cli_get_number(h, "load_end"));
  if (isfinite(cli_get_number(h, "load_begin"))) print_definition(f, "load", text);
  print_definition(f, "clock", cli_get_text(h, "clock"));
}

static void print_devices(FILE *f, const cJSON *file) {
  const cJSON *one;
  cJSON_ArrayForEach(one, cli_field(file, "devices")) {
    char text[700], threads[40] = "";
    const double rate = cli_get_number(one, "stream_bytes_per_second");
    if (cli_get_number(one, "threads") > 0)
      snprintf(threads, sizeof threads, ", %.0f threads", cli_get_number(one, "threads"));
    const char *platform = cli_get_text(one, "platform"), *driver = cli_get_text(one, "driver");
    snprintf(text, sizeof text, "%.40s: %.120s%s", cli_get_text(one, "place"),
             cli_get_text(one, "name"), threads);
    if (*driver)
      cli_append(text, sizeof text, ", %.60s, driver %.120s, %.120s", platform, driver,
                 cli_get_text(one, "version"));
    if (rate > 0)
      cli_append(text, sizeof text, "; stream rate %s GB/s", cli_bench_factor(rate * 1e-9).s);
    print_definition(f, "device", text);
  }
}

static void print_bench_origin(FILE *f, const cli_report_file *file) {
  const cJSON *o = file->json;
  char text[300];
  snprintf(text, sizeof text, "krylocl %.60s, commit %.60s", cli_get_text(o, "version"),
           *cli_get_text(o, "commit") ? cli_get_text(o, "commit") : "not known");
  print_definition(f, "program", text);
  snprintf(text, sizeof text, "%.40s, %s%s", cli_get_text(o, "date"),
           cli_seconds(fmax(0, cli_get_number(o, "seconds"))).s,
           cJSON_IsFalse(cli_field(o, "complete"))
               ? "; not complete: it was interrupted, or a file could not be read"
               : "");
  print_definition(f, "measured", text);
  print_bench_command(f, o);
  print_devices(f, o);
  print_host(f, o);
}

static void print_solve_origin(FILE *f, const cli_report_file *file) {
  const cJSON *o = file->json;
  char text[400];
  snprintf(text, sizeof text,
           "krylocl %.60s solve, %.120s, tolerance %g: %.120s after %.0f iterations",
           cli_get_text(o, "krylocl"), cli_get_text(o, "device"), cli_get_number(o, "tol"),
           cli_get_text(o, "reason"), cli_get_number(o, "iterations"));
  print_definition(f, "program", text);
}

void cli_report_how(FILE *f, const cli_report_data *r) {
  for (int i = 0; i < r->file_count; i++) {
    fputs("<h3>", f);
    cli_xml_text(f, cli_base(r->files[i].path));
    fputs("</h3>\n<dl>\n", f);
    (r->files[i].solve ? print_solve_origin : print_bench_origin)(f, &r->files[i]);
    fputs("</dl>\n", f);
  }
  if (r->run.row_count)
    fprintf(f,
            "<p>Every product was compared with a reference within a derived bound before it was "
            "timed. A sample is the mean of several iterations; times are medians. The interval "
            "contains the true median with the probability that is told with it, whatever the "
            "distribution; a row is noisy (~) if it is wider than %.0f %% of the median.</p>\n",
            100 * CLI_BENCH_NOISE);
}
