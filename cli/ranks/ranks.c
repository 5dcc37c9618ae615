/* krylocl under mpirun. Rank 0 behaves as a single process. The other ranks print nothing; they read, set up,
 * solve and write x with it (files.c). A failure of one rank in the library is returned on all, and rank 0 prints
 * it. Between two calls of the library the other ranks wait for rank 0 to announce another solve. If rank 0 fails
 * meanwhile, it ends them by MPI_Abort. MPI is started only if a launcher has set its variables, so that a single
 * process does not pay for it. */
#include "cli/ranks/ranks.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"

static int rank, ranks = 1;

int cli_rank(void) { return rank; }
int cli_ranks(void) { return ranks; }

int cli_ranks_agreed(kcl_context *ctx, int rc) {
  const int all = cli_ranks_agree(ctx, rc);
  return rc ? all : cli_lib(all);
}

int cli_ranks_check(const cli_options *o) {
#ifndef HAVE_MPI
  if (o->partition) return cli_fail(KCL_DEVICE, "--partition: this program was built without MPI");
#endif
  return (void)o, KCL_OK;
}

#ifdef HAVE_MPI
#include "krylocl_mpi.h"
#include <signal.h>
#include <time.h>

static bool started, served; /* served: the other ranks wait for the next message of rank 0 */

bool cli_ranks_alone(void) { return !started; }
void cli_ranks_wait(bool waiting) { served = waiting; }

/* ---------------------------------------------------------------- starting and ending */

static int env_number(const char *variable) {
  const char *text = getenv(variable);
  return text ? atoi(text) : 0;
}

/* True if a launcher started several ranks: Open MPI; MPICH, Intel MPI and Slurm's PMI-2; Slurm's PMIx, which has
 * no variable for the size. */
static bool is_launched(void) {
  if (getenv("OMPI_COMM_WORLD_SIZE")) return env_number("OMPI_COMM_WORLD_SIZE") > 1;
  if (getenv("PMI_SIZE")) return env_number("PMI_SIZE") > 1;
  return getenv("PMIX_RANK") && env_number("SLURM_NTASKS") > 1;
}

/* Tasks of a step of Slurm whose srun does not speak PMI: each is a process of its own, and all write the same files. */
static void warn_of_tasks(void) {
  if (env_number("SLURM_STEP_NUM_TASKS") < 2 || getenv("OMPI_COMM_WORLD_SIZE") ||
      getenv("PMI_SIZE") || getenv("PMIX_RANK") || env_number("SLURM_PROCID"))
    return;
  fprintf(stderr,
          "krylocl: srun started %d tasks, and MPI is in none of them: each does all of the work "
          "alone. One solve on all: srun --mpi=pmix (srun --mpi=list names what it has)\n",
          env_number("SLURM_STEP_NUM_TASKS"));
}

/* Ends the program: under a launcher of another MPI each rank would take itself for the only one. */
static void leave_strangers(void) {
  cli_fail(KCL_DEVICE,
           "a launcher started several ranks and this program's MPI sees one: launcher and "
           "program are of different MPIs (Open MPI, MPICH)");
  MPI_Finalize();
  exit(KCL_DEVICE);
}

void cli_ranks_begin(int *argc, char ***argv) {
  int provided;
  warn_of_tasks();
  if (!is_launched()) return;
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0); /* waits inside Open MPI yield the processor */
  MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  started = true;
  if (ranks == 1) leave_strangers();
  const int word[] = {SIGINT, SIGTERM, SIGUSR1}; /* rank 0 heeds them, and ends the others' solve */
  for (int i = 0; i < 3; i++) signal(word[i], SIG_IGN);
  if (rank) signal(SIGHUP, SIG_IGN);
  if (rank) cli_silence();
}

/* "Open MPI v4.1.4" from "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0" from its first line. */
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

int cli_ranks_agree(kcl_context *ctx, int rc) {
  return ranks > 1 ? kcl_mpi_agree(ctx, MPI_COMM_WORLD, rc) : rc;
}

/* Prints the command line for kcl_mpi_same. A refused one has the reason in place of the options. */
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

static int compare_commands(kcl_context *ctx, const cli_options *o, bool refused) {
  cli_buffer b;
  int rc = cli_buffer_open(&b), all;
  if (!rc) print_command(b.f, o, refused);
  if (!rc) rc = cli_buffer_close(&b);
  all = kcl_mpi_same(ctx, MPI_COMM_WORLD, rc ? NULL : b.data);
  cli_buffer_free(&b);
  return all;
}

int cli_ranks_same(const cli_options *o, int rc) {
  kcl_context *ctx = NULL;
  if (ranks == 1) return rc;
  if (kcl_context_create(NULL, 0, &ctx)) return cli_fail(KCL_MEMORY, "out of memory");
  const int all = compare_commands(ctx, o, rc);
  if (!rc) rc = cli_lib(all);
  kcl_context_free(&ctx);
  return rc;
}

/* ---------------------------------------------------------------- words between ranks */

/* Waits without keeping a processor busy. */
static void wait_for_request(MPI_Request *request) {
  int there = 0;
  while (MPI_Test(request, &there, MPI_STATUS_IGNORE), !there)
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Counts of MPI are ints, so long data travels in parts. */
void cli_ranks_share_from(int from, void *data, size_t size) {
  const size_t most = 1 << 30;
  MPI_Request request;
  for (size_t at = 0; ranks > 1 && at < size; at += most) {
    const size_t part = size - at < most ? size - at : most;
    MPI_Ibcast((char *)data + at, (int)part, MPI_BYTE, from, MPI_COMM_WORLD, &request);
    wait_for_request(&request);
  }
}

void cli_ranks_share(void *data, size_t size) { cli_ranks_share_from(0, data, size); }

int cli_ranks_tell(int word) {
  cli_ranks_share(&word, sizeof word);
  return word;
}

double cli_ranks_largest(double own) {
  MPI_Request request;
  double pair[2] = {isnan(own) ? 0 : own, isnan(own)}; /* MPI does not order NaN */
  MPI_Iallreduce(MPI_IN_PLACE, pair, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  wait_for_request(&request);
  return pair[1] ? NAN : pair[0];
}

#else /* ---------------------------------------------------------------- built without MPI */

void cli_ranks_begin(int *argc, char ***argv) { (void)argc, (void)argv; }
int cli_ranks_end(int rc) { return rc; }
int cli_ranks_agree(kcl_context *ctx, int rc) { return (void)ctx, rc; }
int cli_ranks_same(const cli_options *o, int rc) { return (void)o, rc; }
cli_text cli_ranks_library(void) { return (cli_text){""}; }
int cli_ranks_tell(int word) { return word; }
void cli_ranks_share(void *data, size_t size) { (void)data, (void)size; }
void cli_ranks_share_from(int from, void *data, size_t size) { (void)from, (void)data, (void)size; }
double cli_ranks_largest(double own) { return own; }

#endif
