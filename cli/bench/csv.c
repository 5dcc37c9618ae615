/* The CSV of krylocl bench: a line per row, the sequential reference among them. */
#include "cli/bench/bench.h"
#include "cli/ui/csv.h"
#include "cli/ui/output.h"

static void put_csv_text(FILE *f, const char *v) { cli_csv_text(f, v), fputc(',', f); }

static void put_csv_count(FILE *f, int64_t v) { fprintf(f, "%lld,", (long long)v); }

static void put_csv_identity(FILE *f, const cli_bench_run *b, const cli_bench_row *r) {
  const cli_bench_matrix *A = &b->matrices[r->matrix];
  const cli_bench_place *p = r->place < 0 ? NULL : &b->places[r->place];
  char status[640];
  put_csv_text(f, A->name);
  put_csv_count(f, A->rows);
  put_csv_count(f, A->cols);
  put_csv_count(f, A->nnz);
  put_csv_text(f, r->format);
  put_csv_text(f, r->measured.kernel);
  put_csv_text(f, r->method);
  put_csv_text(f, r->precond);
  fprintf(f, "%c,", kcl_type_letter(r->type));
  put_csv_text(f, p ? p->device.name : "");
  put_csv_text(f, p ? p->place : "");
  put_csv_text(f, p ? p->device.kind : "");
  put_csv_count(f, p && p->device.platform < 0 ? p->device.compute_units : p ? 0 : 1);
  cli_bench_status(r, status, sizeof status);
  cli_csv_text(f, status);
}

static void put_csv_figures(FILE *f, const cli_bench_run *b, const cli_bench_row *r) {
  const kcl_bench_row *m = &r->measured;
  const kcl_summary *i = &r->iteration, *p = &r->product;
  const bool iterates = !cli_bench_alone(r);
  const cli_bench_break_even e = cli_bench_pays(b, r);
  const double stream = cli_bench_fraction(b, r), speedup = cli_bench_speedup(b, r);
  const double all[] = {iterates ? i->median : NAN,
                        iterates && i->confidence > 0 ? i->low : NAN,
                        iterates && i->confidence > 0 ? i->high : NAN,
                        iterates ? i->min : NAN,
                        iterates ? i->max : NAN,
                        p->median,
                        p->confidence > 0 ? p->low : NAN,
                        p->confidence > 0 ? p->high : NAN,
                        m->bytes_stored,
                        m->bytes_product,
                        iterates ? m->bytes_iteration : NAN,
                        cli_bench_rate(r) * 1e-9,
                        stream > 0 ? stream : NAN,
                        cli_bench_mnnz(b, r),
                        cli_bench_gflops(b, r),
                        speedup > 0 ? speedup : NAN,
                        m->seconds_convert,
                        m->seconds_upload,
                        m->seconds_compile,
                        e.against ? e.after : NAN};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    cli_csv_number(f, r->state == CLI_BENCH_OK || (k == 8 && m->bytes_stored > 0) ? all[k] : NAN);
}

static void put_csv_row(FILE *f, const cli_bench_run *b, const cli_bench_row *r) {
  const kcl_samples *s = cli_bench_samples(r);
  put_csv_identity(f, b, r);
  put_csv_figures(f, b, r);
  fprintf(f, ",%d,%d,%d,%s,%s,%s", r->measured.nrhs, s->count, s->iterations,
          r->state == CLI_BENCH_OK && cli_bench_noisy(r) ? "true" : "false",
          cli_bench_inconsistent(r) ? "true" : "false", r->measured.validated ? "true" : "false");
  cli_csv_number(f, r->transfer.count ? r->transfer.median : NAN);
  cli_csv_number(f, r->transfer.count ? cli_bench_with_matrix(r) : NAN);
  cli_bench_profile_csv(f, r);
  fputc('\n', f);
}

int cli_bench_csv(const cli_bench_run *b, const char *path) {
  cli_buffer buffer;
  CLI_CALL(cli_buffer_open(&buffer));
  fputs("matrix,rows,cols,nnz,format,kernel,solver,precond,precision,device,place,kind,threads,"
        "status,seconds_per_iteration_median,seconds_per_iteration_low,"
        "seconds_per_iteration_high,seconds_per_iteration_min,seconds_per_iteration_max,"
        "seconds_per_product,seconds_per_product_low,seconds_per_product_high,bytes_stored,"
        "bytes_per_product,bytes_per_iteration,gbytes_per_second,stream_fraction,mnnz_per_second,"
        "gflops,speedup,seconds_convert,seconds_upload,seconds_compile,pays_after,nrhs,samples,"
        "iterations_per_sample,noisy,inconsistent,validated,seconds_with_vectors,"
        "seconds_with_matrix",
        buffer.f);
  fprintf(buffer.f, ",%s\n", cli_bench_profile_columns);
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].state != CLI_BENCH_TODO) put_csv_row(buffer.f, b, &b->rows[i]);
  return cli_buffer_write(&buffer, path);
}
