/* krylocl under mpirun: rank 0 is the program as ever; the others print nothing, they read, set up and solve with it, and write
 * x (ranks_files.c).
 *
 * A failure of one rank in the library is returned on all, and rank 0 prints it. Between two calls of the library the others
 * wait to be told whether there is another solve. What happens to rank 0 alone meanwhile ends them by MPI_Abort. MPI is
 * started only where a launcher has set its variables, so the program alone does not pay for it. */
#include "cli/cli.h"

static int rank, ranks = 1;

int cli_rank(void) { return rank; }
int cli_ranks(void) { return ranks; }

int cli_ranks_agreed(kcl *ctx, int rc) {
  const int all = cli_ranks_agree(ctx, rc);
  return rc ? all : cli_lib(ctx, all);
}

int cli_ranks_check(const cli_options *o) {
#ifndef HAVE_MPI
  if (o->reproducible || o->partition)
    return cli_fail(KCL_DEVICE, "--%s: this program was built without MPI",
                    o->partition ? "partition" : "reproducible");
#endif
  return (void)o, KCL_OK;
}

#ifdef HAVE_MPI
#include "krylocl_mpi.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool started,
    served; /* served: ranks other than 0 wait for its next word, and it for them */

/* The ordinary library does the work. */
static bool alone(void) { return !started; }

/* ---------------------------------------------------------------- starting and ending */

static int number(const char *variable) {
  const char *text = getenv(variable);
  return text ? atoi(text) : 0;
}

/* Open MPI; MPICH, Intel MPI and Slurm's PMI-2; Slurm's PMIx, which says no size. */
static bool launched(void) {
  if (getenv("OMPI_COMM_WORLD_SIZE")) return number("OMPI_COMM_WORLD_SIZE") > 1;
  if (getenv("PMI_SIZE")) return number("PMI_SIZE") > 1;
  return getenv("PMIX_RANK") && number("SLURM_NTASKS") > 1;
}

/* One rank, whose x has the bits of several. */
static bool reproducible(int argc, char **argv) {
  bool asked = false;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "--devices", 9) &&
        strchr(argv[i][9] || i + 1 == argc ? argv[i] : argv[i + 1], ','))
      return false; /* this process starts the ranks */
    asked = asked || !strcmp(argv[i], "--reproducible");
  }
  return asked && argc > 1 && !strcmp(argv[1], "solve");
}

/* Each rank of a launcher that this program's MPI does not know would take itself for the only one. */
static void leave_strangers(void) {
  cli_fail(KCL_DEVICE,
           "a launcher started several ranks and this program's MPI sees one: launcher and "
           "program are of different MPIs (Open MPI, MPICH)");
  MPI_Finalize();
  exit(KCL_DEVICE);
}

void cli_ranks_begin(int *argc, char ***argv) {
  int provided;
  if (!launched() && !reproducible(*argc, *argv)) return;
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0); /* waits inside Open MPI let others compute */
  MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  started = true;
  if (ranks == 1 && launched()) leave_strangers();
  const int word[] = {SIGINT, SIGTERM, SIGUSR1}; /* rank 0 heeds them, and ends the others' solve */
  for (int i = 0; i < 3; i++) signal(word[i], SIG_IGN);
  if (rank) signal(SIGHUP, SIG_IGN);
}

/* "Open MPI v4.1.4" of "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0" of its first line. */
cli_text cli_ranks_library(void) {
  char words[MPI_MAX_LIBRARY_VERSION_STRING];
  cli_text t;
  int length;
  MPI_Get_library_version(words, &length);
  snprintf(t.s, sizeof t.s, "%.*s", (int)strcspn(words, ",\n"), words);
  for (char *tab = t.s; (tab = strchr(tab, '\t'));) *tab = ' ';
  return t;
}

int cli_ranks_end(int rc) {
  if (!started) return rc;
  fflush(stdout);
  if (served && rc) MPI_Abort(MPI_COMM_WORLD, rc); /* others wait for this rank */
  MPI_Finalize();
  return rc;
}

int cli_ranks_agree(kcl *ctx, int rc) {
  return ranks > 1 ? kcl_mpi_agree(ctx, MPI_COMM_WORLD, rc) : rc;
}

/* For kcl_mpi_same. A command line that was refused has the reason instead of its options. */
static void print_command(FILE *f, const cli_options *o, bool refused) {
  fprintf(f, "krylocl=%s\n", kcl_version());
  const char *why = refused ? cli_failure() : "";
  fprintf(f, "the command line=%s%.*s\n", refused ? "refused: " : "accepted",
          (int)strcspn(why, "\n"), why);
  if (refused) return;
  fprintf(f, "the subcommand=%s\nthe number of operands=%d\n", o->command ? o->command : "none",
          o->count);
  cli_options_print(f, o);
}

static int compare_commands(kcl *ctx, const cli_options *o, bool refused) {
  cli_buffer b;
  int rc = buffer_open(&b), all;
  if (!rc) print_command(b.f, o, refused);
  if (!rc) rc = buffer_close(&b);
  all = kcl_mpi_same(ctx, MPI_COMM_WORLD, rc ? NULL : b.data);
  buffer_free(&b);
  return all;
}

int cli_ranks_same(const cli_options *o, int rc) {
  kcl *ctx = NULL;
  if (ranks == 1) return rc;
  if (kcl_create(&ctx)) return cli_fail(KCL_MEMORY, "out of memory");
  const int all = compare_commands(ctx, o, rc);
  if (!rc) rc = cli_lib(ctx, all);
  kcl_destroy(&ctx);
  return rc;
}

int cli_ranks_device(kcl *ctx, const cli_options *o) {
  char word[300];
  int rc = kcl_mpi_set_partition(ctx, o->partition);
  if (rc) return rc;
  kcl_mpi_set_reproducible(ctx, o->reproducible);
  if (alone()) return kcl_select(ctx, o->devices ? o->devices : o->device, 0);
  if (!o->devices) return kcl_mpi_select(ctx, MPI_COMM_WORLD, o->device);
  cli_device_of_rank(o, rank, word, sizeof word);
  kcl_mpi_set_weight(ctx, cli_share_of_rank(o, rank));
  return kcl_mpi_select(ctx, MPI_COMM_WORLD, word);
}

/* ---------------------------------------------------------------- a solve */

/* Without keeping a processor busy. */
static void wait_for(MPI_Request *request) {
  int there = 0;
  while (MPI_Test(request, &there, MPI_STATUS_IGNORE), !there)
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

void cli_ranks_share(void *data, size_t size) {
  MPI_Request request;
  if (ranks == 1) return;
  MPI_Ibcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

int cli_ranks_tell(int word) {
  cli_ranks_share(&word, sizeof word);
  return word;
}

double cli_ranks_largest(double own) {
  MPI_Request request;
  double pair[2] = {isnan(own) ? 0 : own, isnan(own)}; /* MPI does not order NaN */
  MPI_Iallreduce(MPI_IN_PLACE, pair, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return pair[1] ? NAN : pair[0];
}

int cli_setup(kcl *ctx, cli_run *r) {
  if (alone()) return kcl_setup(ctx, r->p.A, &r->asked, &r->solver);
  kcl_mpi_part part = {.A = r->p.A};
  int rc = r->p.spread
               ? kcl_mpi_setup_part(ctx, MPI_COMM_WORLD, &part, &r->asked, &r->shared)
               : kcl_mpi_setup(ctx, MPI_COMM_WORLD, r->p.A, KCL_MPI_ROOT, &r->asked, &r->shared);
  r->p.A = part.A;
  served = !rc;
  return rc;
}

/* NULL on a rank without vectors. */
static double *column(const kcl_dense *v, int64_t j) { return v ? cli_column(v, j) : NULL; }

int cli_solve_columns(kcl *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report) {
  (void)ctx;
  if (alone())
    return kcl_solve_many(r->solver, count, cli_column(r->p.b, j), cli_column(r->p.x, j), report);
  if (!rank) cli_ranks_tell((int)count);
  served = false;
  int rc = kcl_solve_many(r->shared, count, column(r->p.b, j), column(r->p.x, j), report);
  served = !rc;
  return rc;
}

/* kcl_mpi_share.seconds_alone needs the rates of devices; without them there is no prediction. */
static void know_rate(kcl *ctx, const cli_options *o) {
  kcl_device device;
  double rate;
  const bool reported = (!o->quiet || o->json) && !cli_interrupted();
  if (reported && !kcl_device_current(ctx, &device) && device.platform >= 0)
    kcl_stream_rate(ctx, &rate);
}

int cli_solves_end(kcl *ctx, cli_run *r) {
  if (alone()) return 0;
  if (!rank) cli_ranks_tell(0);
  served = false;
  know_rate(ctx, r->o);
  return cli_lib(ctx, kcl_mpi_shares(r->shared, &r->shares, &r->share_count));
}

void cli_describe(cli_run *r) {
  if (alone())
    kcl_solver_info(r->solver, &r->setup);
  else
    kcl_solver_info(r->shared, &r->setup);
}

void cli_setup_free(cli_run *r) {
  kcl_solver_free(&r->solver);
  kcl_solver_free(&r->shared);
  free(r->shares), r->shares = NULL;
}

/* ---------------------------------------------------------------- reports */

/* The most nonzeros of a rank over those of the share that it was to have. */
static double imbalance(const cli_run *r) {
  double most = 0, all = 0;
  for (int p = 0; p < r->share_count; p++) {
    const double own = (double)r->shares[p].nonzeros, share = r->shares[p].share;
    all += own, most = own > most * share ? own / share : most;
  }
  return all > 0 ? most / all : 1;
}

static const char *partition(const cli_run *r) {
  return r->o->partition ? r->o->partition : "rows";
}

/* The least that a device is predicted to take for an iteration alone; 0: no prediction. */
static double seconds_alone(const cli_run *r) {
  double least = INFINITY;
  for (int p = 0; p < r->share_count; p++)
    if (r->shares[p].seconds_alone > 0) least = fmin(least, r->shares[p].seconds_alone);
  return least < INFINITY ? least : 0;
}

/* Where one device is faster for sure: most predictions are within a third (docs/lab/2026-11-23-model.md). */
static void report_alone(const cli_run *r) {
  const kcl_report *p = &r->results[r->worst].report;
  const double one = seconds_alone(r), several = p->seconds_per_iteration;
  if (one > 0 && p->iterations >= 20 && 1.5 * one < several)
    cli_say(r->o, "hint        one device would take about %s per iteration, %d took %s\n",
            cli_seconds(one).s, ranks, cli_seconds(several).s);
}

static void report_rank(const cli_run *r, const kcl_mpi_share *s) {
  cli_say(r->o,
          "rank %-6d %s rows, %s of them with columns of others, %s nonzeros, %s elements of x "
          "from %d %s, %s\n",
          s->rank, cli_count(s->rows).s, cli_count(s->boundary_rows).s, cli_count(s->nonzeros).s,
          cli_count(s->halo).s, s->neighbours, s->neighbours == 1 ? "neighbour" : "neighbours",
          s->device);
}

void report_ranks(const cli_run *r) {
  int64_t halo = 0, most = 0;
  int others = 0;
  double waited = 0;
  if (ranks == 1 || !r->shares) return;
  for (int p = 0; p < r->share_count; p++) {
    const kcl_mpi_share *s = &r->shares[p];
    const double waits = s->seconds_halo + s->seconds_sum;
    halo += s->halo, most = s->halo > most ? s->halo : most;
    others = s->neighbours > others ? s->neighbours : others;
    if (s->seconds_solve > 0) waited += waits / s->seconds_solve / r->share_count;
  }
  cli_say(
      r->o,
      "ranks       %d, partition %s, imbalance %.2f, %s elements of x exchanged per product (at "
      "most %s by a rank, with %d others), %.0f %% of the iterations' time waiting\n",
      ranks, partition(r), imbalance(r), cli_count(halo).s, cli_count(most).s, others,
      100 * waited);
  for (int p = 0; r->o->verbose && p < r->share_count; p++) report_rank(r, &r->shares[p]);
  report_alone(r);
}

void json_ranks(struct cJSON *o, const cli_run *r) {
  int64_t halo = 0;
  if (ranks == 1 || !r->shares) return;
  cJSON *list = cJSON_AddArrayToObject(o, "ranks");
  for (int p = 0; p < r->share_count; p++) {
    const kcl_mpi_share *s = &r->shares[p];
    cJSON *one = cJSON_CreateObject();
    json_count(one, "rank", s->rank), json_text(one, "device", s->device);
    json_count(one, "threads", s->threads), json_text(one, "format", s->format);
    json_count(one, "first_row", s->first_row), json_count(one, "rows", s->rows);
    json_count(one, "first_column", s->first_column), json_count(one, "columns", s->columns);
    json_count(one, "nonzeros", s->nonzeros), json_number(one, "share", s->share);
    json_count(one, "boundary_rows", s->boundary_rows);
    json_count(one, "neighbours", s->neighbours), json_count(one, "halo", s->halo);
    json_count(one, "sends", s->sends);
    json_number(one, "seconds_partition", s->seconds_partition);
    json_number(one, "seconds_solve", s->seconds_solve);
    json_number(one, "seconds_halo", s->seconds_halo);
    json_number(one, "seconds_sum", s->seconds_sum);
    if (s->seconds_alone > 0) json_number(one, "seconds_alone", s->seconds_alone);
    cJSON_AddItemToArray(list, one);
    halo += s->halo;
  }
  json_text(o, "partition", partition(r));
  json_count(o, "communication_volume", halo);
  json_number(o, "imbalance", imbalance(r));
  if (seconds_alone(r) > 0) json_number(o, "seconds_per_iteration_alone", seconds_alone(r));
}

#else /* ---------------------------------------------------------------- built without MPI */

void cli_ranks_begin(int *argc, char ***argv) { (void)argc, (void)argv; }
int cli_ranks_end(int rc) { return rc; }
int cli_ranks_agree(kcl *ctx, int rc) { return (void)ctx, rc; }
int cli_ranks_same(const cli_options *o, int rc) { return (void)o, rc; }
int cli_ranks_device(kcl *ctx, const cli_options *o) {
  return kcl_select(ctx, o->devices ? o->devices : o->device, 0);
}
cli_text cli_ranks_library(void) { return (cli_text){""}; }
int cli_setup(kcl *ctx, cli_run *r) { return kcl_setup(ctx, r->p.A, &r->asked, &r->solver); }
int cli_solve_columns(kcl *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report) {
  (void)ctx;
  return kcl_solve_many(r->solver, count, cli_column(r->p.b, j), cli_column(r->p.x, j), report);
}
int cli_solves_end(kcl *ctx, cli_run *r) { return (void)ctx, (void)r, 0; }
void cli_describe(cli_run *r) { kcl_solver_info(r->solver, &r->setup); }
void cli_setup_free(cli_run *r) { kcl_solver_free(&r->solver); }
int cli_ranks_tell(int word) { return word; }
void cli_ranks_share(void *data, size_t size) { (void)data, (void)size; }
double cli_ranks_largest(double own) { return own; }
void report_ranks(const cli_run *r) { (void)r; }
void json_ranks(struct cJSON *o, const cli_run *r) { (void)o, (void)r; }

#endif
