/* Results of krylocl bench: the table, JSON and CSV. */
#include "cli/cli.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

double bench_gflops(const cli_table *t, const cli_row *r) {
  return (kcl_type_complex(t->precision) ? 8 : 2) * r->nrhs * (double)t->nnz / r->product * 1e-9;
}

static double rate(const cli_row *r) { return r->bytes_per_iteration / r->median; }
static double mnnz(const cli_table *t, const cli_row *r) {
  return r->nrhs * (double)t->nnz / r->product * 1e-6;
}

static double per_rhs(const cli_row *r) { return r->median / r->nrhs; }

static int fastest(const cli_table *t) {
  int best = -1;
  for (int i = 0; i < t->count; i++)
    if (t->row[i].ok && (best < 0 || per_rhs(&t->row[i]) < per_rhs(&t->row[best]))) best = i;
  return best;
}

cli_row *bench_fastest(cli_table *t) {
  int best = fastest(t);
  return best < 0 ? NULL : &t->row[best];
}

static void say_row(const cli_options *o, const cli_table *t, const cli_row *r, bool best) {
  char fraction[16] = "-", share[16] = "";
  if (!r->ok) {
    cli_say(o, "  %-12s %s\n", r->format, r->status);
    return;
  }
  if (t->stream > 0) snprintf(fraction, sizeof fraction, "%.0f %%", 100 * rate(r) / t->stream);
  if (t->nrhs > 1) snprintf(share, sizeof share, " %11.4g", per_rhs(r) * 1e6);
  cli_say(o, "%c %-12s%s %11.4g %11.4g %11.4g %8.1f %9s %10s %8.0f %8.2f  %s%s\n", best ? '*' : ' ',
          r->format, share, r->median * 1e6, r->min * 1e6, r->max * 1e6, rate(r) * 1e-9, fraction,
          cli_bytes(r->bytes_stored).s, mnnz(t, r), bench_gflops(t, r), r->kernel,
          r->samples == 1 ? " (one sample)" : "");
}

void bench_say(const cli_options *o, const cli_table *t) {
  int best = fastest(t);
  cli_say(o, "method      %s, %s, %lld iterations per sample", t->solver,
          cli_type_words(t->precision), (long long)o->iterations);
  if (t->stream > 0) cli_say(o, ", stream rate %.1f GB/s", t->stream * 1e-9);
  if (t->nrhs > 1) cli_say(o, ", %lld right-hand sides at once", (long long)t->nrhs);
  cli_say(o, "\n  %-12s%s %11s %11s %11s %8s %9s %10s %8s %8s  %s\n", "format",
          t->nrhs > 1 ? "      us/rhs" : "", "us/iter", "min", "max", "GB/s", "of stream", "stored",
          "Mnnz/s", "GFlop/s", "kernel");
  for (int i = 0; i < t->count; i++) say_row(o, t, &t->row[i], i == best);
  if (best >= 0) cli_say(o, "* fastest\n");
}

static void json_row(cJSON *o, const cli_table *t, const cli_row *r) {
  char letter[2] = {kcl_type_letter(t->precision), 0};
  json_text(o, "matrix", t->file);
  json_count(o, "rows", t->rows);
  json_count(o, "cols", t->cols);
  json_count(o, "nnz", t->nnz);
  json_text(o, "format", r->format);
  json_text(o, "kernel", r->kernel);
  json_text(o, "solver", t->solver);
  json_text(o, "precision", letter);
  if (t->nrhs > 1 && r->ok) {
    json_count(o, "nrhs", r->nrhs);
    json_number(o, "seconds_per_rhs", per_rhs(r));
  }
  json_device(o, &t->device);
  json_text(o, "status", r->status);
  json_number(o, "bytes_stored", r->bytes_stored);
  json_bool(o, "validated", r->validated);
  if (!r->ok) return;
  cJSON *s = cJSON_AddObjectToObject(o, "seconds_per_iteration");
  json_number(s, "median", r->median);
  json_number(s, "min", r->min);
  json_number(s, "max", r->max);
  json_count(s, "samples", r->samples);
  json_number(o, "seconds_per_product", r->product);
  json_number(o, "bytes_per_iteration", r->bytes_per_iteration);
  json_number(o, "gbytes_per_second", rate(r) * 1e-9);
  json_number(o, "stream_gbytes_per_second", t->stream * 1e-9);
  json_number(o, "stream_fraction", rate(r) / t->stream);
  json_number(o, "mnnz_per_second", mnnz(t, r));
  json_number(o, "gflops", bench_gflops(t, r));
  bench_mixed_json(o, r);
}

int bench_json(const cli_options *o, const cli_table *tables, int count) {
  cJSON *list = cJSON_CreateArray();
  if (!list) return cli_fail(KCL_MEMORY, "out of memory: the JSON text");
  for (int i = 0; i < count; i++)
    for (int j = 0; j < tables[i].count; j++) {
      cJSON *one = cJSON_CreateObject();
      json_row(one, &tables[i], &tables[i].row[j]);
      cJSON_AddItemToArray(list, one);
    }
  int rc = json_write(o->json, list);
  cJSON_Delete(list);
  return rc;
}

static void csv_row(FILE *f, const cli_table *t, const cli_row *r) {
  const char *text[] = {t->file, r->format, r->kernel, t->solver};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) csv_text(f, text[i]), fputc(',', f);
  fprintf(f, "%c,", kcl_type_letter(t->precision));
  csv_text(f, t->device.name), fputc(',', f);
  csv_text(f, r->status);
  double numbers[] = {r->median,       r->min,
                      r->max,          r->product,
                      r->bytes_stored, r->bytes_per_iteration,
                      rate(r) * 1e-9,  rate(r) / t->stream,
                      mnnz(t, r),      bench_gflops(t, r)};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    csv_number(f, r->ok || i == 4 ? numbers[i] : NAN);
  fprintf(f, ",%s,%d\n", r->validated ? "true" : "false", r->samples);
}

int bench_csv(const cli_options *o, const cli_table *tables, int count) {
  cli_buffer b;
  int rc = buffer_open(&b);
  if (rc) return rc;
  fputs("matrix,format,kernel,solver,precision,device,status,seconds_per_iteration_median,"
        "seconds_per_iteration_min,seconds_per_iteration_max,seconds_per_product,bytes_stored,"
        "bytes_per_iteration,gbytes_per_second,stream_fraction,mnnz_per_second,gflops,validated,"
        "samples\n",
        b.f);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < tables[i].count; j++) csv_row(b.f, &tables[i], &tables[i].row[j]);
  return buffer_write(&b, o->csv);
}
