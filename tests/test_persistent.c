/* The persistent kernel with several work-groups that really run at once, under the thread sanitizer.
 *
 * The library runs on an OpenCL device as usual, but calls of the driver that build and launch kernels go through this
 * program. It keeps the source of the persistent kernel, has clang compile it for the host (with the sanitizer), and
 * carries each of its launches out by tests/work_groups.c: work-items are threads, groups run side by side, and global
 * memory is copied from the driver's buffers and back. So what is tested is the source the library generates and the
 * calls it makes: partial sums, totals, halos and flags as messages between groups, residual replacement, stops. The
 * answers must be those of one launch per stage, and the sanitizer must find no data race.
 *
 * Groups are made smaller (GROUP work-items) and waits shorter by changing three macros of the source. Not covered: the inline assembly for
 * NVIDIA's devices, and progress of groups that are not resident together.
 */
#include "core/opencl/executor.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

#ifdef KCL_NO_OPENCL
int main(void) {
  skip("the persistent kernel: this build is without OpenCL");
  return check_report();
}
#else
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS = 4, GROUP = 4, MOST_ARGUMENTS = 64, MOST_KERNELS = 256, ROOM = 4000 };

/* ---------------------------------------------------------------- what the library asks the driver for */

typedef struct argument {
  size_t size;
  uint64_t value;
  bool local;
} argument;
typedef struct persistent { /* a persistent kernel */
  cl_kernel kernel;
  cl_program program;
  char name[64];
  argument argument[MOST_ARGUMENTS];
  int arguments, compiled; /* compiled: 1 yes, -1 clang failed */
} persistent;
static persistent kernels[MOST_KERNELS];
static int kernel_count;
static struct {
  cl_program program;
  char *source;
} programs[MOST_KERNELS];
static atomic_int program_count; /* programs are compiled by several threads at once */
static cl_mem buffers[65536];
static size_t buffer_bytes[65536];
static int buffer_count;
static char folder[] = "/tmp/krylocl-groups-XXXXXX";
static int launches, scalar_bytes;
static bool in_use; /* after a solve: the persistent kernel, still */
static const char *clang_options = "";
static bool after_short; /* a solve of one iteration comes first, by the same solver */

/* The driver's functions, and those that stand before them. */
static __typeof__(clCreateBuffer) driver_buffer;
static __typeof__(clCreateProgramWithSource) driver_program;
static __typeof__(clCreateKernel) driver_kernel;
static __typeof__(clSetKernelArg) driver_argument;
static __typeof__(clEnqueueNDRangeKernel) driver_launch;

static int buffer_index(uint64_t value) {
  for (int i = buffer_count - 1; i >= 0; i--)
    if ((uint64_t)(uintptr_t)buffers[i] == value) return i;
  return -1;
}

static cl_mem note_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                          cl_int *code) {
  cl_mem m = driver_buffer(context, flags, size, host, code);
  buffers[buffer_count] = m, buffer_bytes[buffer_count++] = size;
  return m;
}

static cl_program note_program(cl_context context, cl_uint count, const char **strings,
                               const size_t *lengths, cl_int *code) {
  cl_program p = driver_program(context, count, strings, lengths, code);
  size_t all = 0;
  for (cl_uint i = 0; i < count; i++) all += lengths ? lengths[i] : strlen(strings[i]);
  char *source = calloc(1, all + 1), *at = source;
  for (cl_uint i = 0; i < count; i++) {
    size_t length = lengths ? lengths[i] : strlen(strings[i]);
    memcpy(at, strings[i], length), at += length;
  }
  const int own = program_count++;
  programs[own].program = p, programs[own].source = source;
  return p;
}

static cl_kernel note_kernel(cl_program program, const char *name, cl_int *code) {
  cl_kernel kernel = driver_kernel(program, name, code);
  for (int i = 0; i < kernel_count; i++) /* a released kernel's handle may come again */
    if (kernels[i].kernel == kernel) kernels[i].kernel = NULL;
  if (!strcmp(name, "persistent")) {
    persistent *p = &kernels[kernel_count++];
    *p = (persistent){.kernel = kernel, .program = program};
    snprintf(p->name, sizeof p->name, "%s", name);
  }
  return kernel;
}

static persistent *find(cl_kernel kernel) {
  for (int i = kernel_count - 1; i >= 0; i--)
    if (kernels[i].kernel == kernel) return &kernels[i];
  return NULL;
}

static cl_int note_argument(cl_kernel kernel, cl_uint i, size_t size, const void *value) {
  persistent *p = find(kernel);
  if (p && i < MOST_ARGUMENTS) {
    p->argument[i] = (argument){.size = size, .local = !value};
    if (value) memcpy(&p->argument[i].value, value, size < 8 ? size : 8);
    if ((int)i >= p->arguments) p->arguments = (int)i + 1;
  }
  return driver_argument(kernel, i, size, value);
}

/* ---------------------------------------------------------------- compiling and launching */

/* The exit status of a command without its output; addresses where the sanitizer expects them. */
static int execute(const char *command) {
  pid_t child = fork();
  int status;
  if (child == 0) {
    personality(ADDR_NO_RANDOMIZE);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

static void print_file(const char *name) {
  char line[ROOM];
  snprintf(line, sizeof line, "%s/%s", folder, name);
  FILE *f = fopen(line, "r");
  for (int i = 0; f && i < 40 && fgets(line, sizeof line, f); i++) printf("  | %s", line);
  if (f) fclose(f);
}

/* The number that a macro of the source has; *at: where it stands. */
static long macro(const char *source, const char *name, const char **at) {
  char line[64];
  snprintf(line, sizeof line, "#define %s ", name);
  const char *found = strstr(source, line);
  *at = found ? found + strlen(line) : NULL;
  return found ? strtol(*at, NULL, 10) : -1;
}

/* The source with groups of GROUP work-items, which then have more rows each, and waits that are given up after
 * minutes, should processors be few and busy. */
static bool write_source(const char *source) {
  enum { MACROS = 3 };
  static const char *const name[MACROS] = {"WG", "ROWS_PER_ITEM", "PATIENCE"};
  char path[ROOM];
  const char *at[MACROS], *from = source;
  long value[MACROS];
  for (int i = 0; i < MACROS; i++) {
    value[i] = macro(source, name[i], &at[i]);
    if (!CHECKF(at[i] && (!i || at[i] > at[i - 1]), "the source defines %s, after the others",
                name[i]))
      return false;
  }
  value[1] *= value[0] / GROUP, value[0] = GROUP, value[2] = 1 << 22;
  snprintf(path, sizeof path, "%s/kernel.cl", folder);
  FILE *f = fopen(path, "w");
  for (int i = 0; i < MACROS; i++) {
    fwrite(from, 1, (size_t)(at[i] - from), f), fprintf(f, "%ld\n", value[i]);
    from = strchr(at[i], '\n') + 1;
  }
  fputs(from, f);
  return CHECK(fclose(f) == 0);
}

static bool compile(persistent *p) {
  static const persistent *latest; /* the one that kernel.so is of */
  char command[ROOM];
  const char *source = NULL;
  if (p->compiled && latest == p) return p->compiled > 0;
  for (int i = 0; i < program_count; i++)
    if (programs[i].program == p->program) source = programs[i].source;
  p->compiled = -1, latest = p;
  if (!CHECKF(source, "the persistent kernel comes as source") || !write_source(source))
    return false;
  snprintf(command, sizeof command,
           "exec clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -O1 -g -fPIC -shared "
           "-fsanitize=thread -mllvm -tsan-distinguish-volatile=1 %s -o '%s/kernel.so' "
           "'%s/kernel.cl' >'%s/log' 2>&1",
           clang_options, folder, folder, folder);
  if (!CHECKF(execute(command) == 0, "clang compiles the persistent kernel"))
    print_file("log");
  else
    p->compiled = 1;
  return p->compiled > 0;
}

/* Every buffer among the arguments, one after the other, to the file or from it. */
static void copy_memory(cl_command_queue queue, const persistent *p, bool back) {
  char path[ROOM];
  snprintf(path, sizeof path, "%s/memory", folder);
  FILE *f = fopen(path, back ? "rb" : "wb");
  for (int i = 0; i < p->arguments; i++) {
    const argument *a = &p->argument[i];
    int b = a->local || a->size != sizeof(cl_mem) ? -1 : buffer_index(a->value);
    if (b < 0) continue;
    char *host = malloc(buffer_bytes[b]);
    if (!back) {
      clEnqueueReadBuffer(queue, buffers[b], CL_TRUE, 0, buffer_bytes[b], host, 0, NULL, NULL);
      fwrite(host, 1, buffer_bytes[b], f);
    } else if (fread(host, 1, buffer_bytes[b], f) == buffer_bytes[b]) {
      clEnqueueWriteBuffer(queue, buffers[b], CL_TRUE, 0, buffer_bytes[b], host, 0, NULL, NULL);
    }
    free(host);
  }
  fclose(f);
}

static void write_launch(const persistent *p, int groups) {
  char path[ROOM];
  snprintf(path, sizeof path, "%s/launch", folder);
  FILE *f = fopen(path, "w");
  fprintf(f, "%s %d %d %d %d\n", p->name, groups, GROUP, 2 * scalar_bytes, p->arguments);
  for (int i = 0; i < p->arguments; i++) {
    const argument *a = &p->argument[i];
    int b = a->local || a->size != sizeof(cl_mem) ? -1 : buffer_index(a->value);
    if (a->local)
      fprintf(f, "l %zu\n", a->size);
    else if (b >= 0)
      fprintf(f, "b %zu\n", buffer_bytes[b]);
    else
      fprintf(f, "s %lld\n", a->size == 4 ? (long long)(int32_t)a->value : (long long)a->value);
  }
  fclose(f);
}

static cl_int launch(cl_command_queue queue, persistent *p, int groups) {
  char command[ROOM];
  launches++;
  CHECKF(groups == GROUPS, "%d groups are launched", groups);
  if (!compile(p)) return CL_BUILD_PROGRAM_FAILURE;
  copy_memory(queue, p, false), write_launch(p, groups);
  snprintf(command, sizeof command,
           "TSAN_OPTIONS=exitcode=66 exec '%s/work_groups' '%s' >'%s/log' 2>&1", folder, folder,
           folder);
  int status = execute(command);
  if (!CHECKF(status == 0, "%d groups of the persistent kernel: %s (exit status %d)", groups,
              status == 66 ? "a data race" : "a failure", status))
    print_file("log");
  if (status) return CL_OUT_OF_RESOURCES;
  copy_memory(queue, p, true);
  return CL_SUCCESS;
}

static cl_int launch_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                            const size_t *offset, const size_t *global, const size_t *local,
                            cl_uint waits, const cl_event *list, cl_event *event) {
  persistent *p = find(kernel);
  if (p) return launch(queue, p, (int)(global[0] / local[0]));
  return driver_launch(queue, kernel, dimensions, offset, global, local, waits, list, event);
}

static void replace_calls(void) {
  driver_buffer = clCreateBuffer, clCreateBuffer = note_buffer;
  driver_program = clCreateProgramWithSource, clCreateProgramWithSource = note_program;
  driver_kernel = clCreateKernel, clCreateKernel = note_kernel;
  driver_argument = clSetKernelArg, clSetKernelArg = note_argument;
  driver_launch = clEnqueueNDRangeKernel, clEnqueueNDRangeKernel = launch_kernel;
}

/* ---------------------------------------------------------------- systems */

typedef struct job {
  const char *solver, *precond, *format, *kind, *mode; /* mode: KRYLOCL_PERSISTENT */
  kcl_type type;
  int64_t iterations;
  double tol;
} job;

/* An eigenvector of poisson2d:20, which CG solves for in one iteration. */
static int solve_short(kcl_solver *s, kcl_report *r) {
  enum { SIDE = 20 };
  const double pi = 3.14159265358979323846;
  static double b[SIDE * SIDE], x[SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE; i++) {
    const int row = i / SIDE + 1, column = i % SIDE + 1;
    b[i] = sin(row * pi / (SIDE + 1)) * sin(column * pi / (SIDE + 1)), x[i] = 0;
  }
  int rc = kcl_solve_one(s, b, x, r);
  CHECKF(!rc && r->iterations == 1, "a solve of one iteration: %lld", (long long)r->iterations);
  return rc;
}

/* x, or NULL; as one kernel with GROUPS groups, or with one launch per stage. */
static double *solve(const job *j, bool persistent_kernel, kcl_report *r, int64_t *n) {
  kcl_context *ctx = NULL;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  double *x = NULL;
  setenv("KRYLOCL_PERSISTENT", persistent_kernel ? j->mode : "0", 1);
  o.solver = j->solver, o.precond = j->precond, o.format = j->format;
  o.precision = j->type, o.tol = j->tol, o.max_iter = j->iterations;
  scalar_bytes = (int)kcl_type_size(j->type);
  int rc = kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, "opencl", 0);
  if (!rc) ctx->opencl->small_groups = false, ctx->opencl->units = ctx->opencl->concurrent = GROUPS;
  if (!rc) rc = kcl_generate(ctx, j->kind, &A, &b);
  if (!rc) x = calloc((size_t)A->rows, kcl_type_size(A->type)), *n = A->rows;
  if (!rc) rc = kcl_setup(ctx, A, &o, &s);
  if (!rc && after_short) rc = solve_short(s, r);
  if (!rc) rc = kcl_solve_one(s, b->val, x, r);
  CHECKF(!rc, "%s, %s: %.400s", j->solver, j->format, kcl_error());
  in_use = s && s->selection.engine->executor.replaces; /* false after a time-out */
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b), kcl_context_free(&ctx);
  if (rc) free(x), x = NULL;
  return x;
}

/* The sums of both runs are added in other orders: what that does to x grows with the iterations, so few are made. */
static void test_job(const job *j) {
  kcl_report r[2] = {{0}};
  int64_t n = 0;
  double *x[2], most = 0, apart = 0;
  launches = 0;
  x[0] = solve(j, false, &r[0], &n);
  CHECKF(launches == 0, "no persistent kernel was asked for");
  x[1] = solve(j, true, &r[1], &n);
  CHECKF(launches > 0, "%s, %s: the persistent kernel runs", j->solver, j->format);
  CHECKF(in_use, "%s, %s: no group of the persistent kernel is missed", j->solver, j->format);
  for (int64_t i = 0; x[0] && x[1] && i < n; i++) {
    most = fmax(most, fabs(x[0][i])), apart = fmax(apart, fabs(x[0][i] - x[1][i]));
  }
  bool single = j->type == KCL_S || j->type == KCL_C;
  CHECKF(most > 0 && apart <= (single ? 1e-3 : 1e-11) * most,
         "%s, %s, type %c, KRYLOCL_PERSISTENT=%s: x differs by %g of %g", j->solver, j->format,
         kcl_type_letter(j->type), j->mode, apart, most);
  CHECKF(llabs((long long)(r[0].iterations - r[1].iterations)) <= 1 && r[0].reason == r[1].reason,
         "%s, %s: %lld iterations and %s, with one launch per stage %lld and %s", j->solver,
         j->format, (long long)r[1].iterations, kcl_reason_text(r[1].reason),
         (long long)r[0].iterations, kcl_reason_text(r[0].reason));
  printf("%s, %s, %s, type %c, KRYLOCL_PERSISTENT=%s: %d launches, %lld iterations\n", j->solver,
         j->precond, j->format, kcl_type_letter(j->type), j->mode, launches,
         (long long)r[1].iterations);
  free(x[0]), free(x[1]);
}

/* Launches of unequal lengths, groups late by turns: what an earlier launch left in a mailbox, a published vector or a flag
 * is not taken for this one's, because sequence numbers go on from launch to launch. */
static void test_unequal(void) {
  static const job jobs[] = {{"cg", "none", "csr-scalar", "poisson2d:20", "1", KCL_D, 12, 1e-10},
                             {"cg", "none", "csr-scalar", "poisson2d:20", "2", KCL_D, 12, 1e-10}};
  clang_options = "-DLAG=1000000", after_short = true;
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) test_job(&jobs[i]);
  clang_options = "", after_short = false;
}

/* Can kernels be compiled for the host, and does the sanitizer run here? */
static bool able(void) {
  char command[ROOM];
  snprintf(command, sizeof command,
           "cd '%s' && echo 'kernel void k(global volatile int *x) { x[0] = 0; }' >probe.cl && "
           "clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fPIC -shared "
           "-fsanitize=thread -mllvm -tsan-distinguish-volatile=1 -o probe.so probe.cl >log 2>&1",
           folder);
  if (execute(command))
    return skip("the persistent kernel: no clang that compiles OpenCL C"), false;
  snprintf(command, sizeof command,
           "clang -fsanitize=thread -O1 -g -rdynamic tests/work_groups.c -o '%s/work_groups' -ldl "
           "-lpthread >'%s/log' 2>&1 && '%s/work_groups' >'%s/log' 2>&1",
           folder, folder, folder, folder);
  if (execute(command) == 2) return true;
  skip("the persistent kernel: no thread sanitizer");
  print_file("log");
  return false;
}

int main(void) {
  static const job jobs[] = {
      /* halos as messages; as flags; as lists of columns */
      {"cg", "none", "csr-scalar", "poisson2d:20", "1", KCL_S, 12, 1e-12},
      {"cg", "jacobi", "ell", "poisson2d:20", "2", KCL_D, 12, 1e-14},
      {"cg", "none", "csr-scalar", "poisson2d:20", "3", KCL_D, 8, 1e-14},
      {"cg-pipelined", "none", "ell", "poisson2d:20", "1", KCL_S, 20, 1e-12}, /* REPLACE after 16 */
      {"cg-pipelined", "jacobi", "csr-scalar", "poisson2d:20", "2", KCL_S, 20, 1e-12},
      {"bicgstab", "none", "csr-scalar", "convection:20", "1", KCL_D, 4, 1e-14},
      {"cg", "none", "ell", "poisson2d:20", "1", KCL_D, 100, 0.1}, /* a stop under way */
      {"cg", "chebyshev", "csr-scalar", "poisson2d:20", "1", KCL_D, 6, 1e-14}, /* four products */
      {"cg", "fsai", "ell", "poisson2d:20", "2", KCL_S, 6, 1e-12}, /* and three matrices */
  };
  kcl_context *ctx = NULL;
  setenv("KRYLOCL_LAYOUT", "gpu", 1), setenv("KRYLOCL_CACHE", "", 1);
  if (!mkdtemp(folder)) return 1;
  bool device =
      kcl_context_create(NULL, 0, &ctx) == KCL_OK && kcl_select(ctx, "opencl", 0) == KCL_OK;
  if (!device) skip("the persistent kernel: no OpenCL device");
  replace_calls();
  bool wide = device && ctx->device.has_double;
  kcl_context_free(&ctx);
  if (device && able())
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
      if (wide || jobs[i].type == KCL_S) test_job(&jobs[i]);
  if (device && able() && wide) test_unequal();
  for (int i = 0; i < program_count; i++) free(programs[i].source);
  char command[ROOM];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(execute(command) == 0);
  return check_report();
}
#endif
