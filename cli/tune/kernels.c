/* krylocl tune --kernels: fills the cache folder with compiled programs. A program depends on the structure of a system and on its
 * size only as far as format and layout do, so systems of a list stand for others. Each is set up with each method and
 * preconditioner; what is compiled already costs milliseconds. */
#include "cli/tune/kernels.h"
#include "cli/input/input.h"
#include "cli/problem/problem.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

/* A system that is generated, or the operand. */
typedef struct sample_system {
  const char *name;
  const char *formats; /* those that auto takes for such systems on one device or another */
  bool positive;       /* symmetric positive definite: for cg and its forms */
  bool large;          /* only for GPUs, whose layout depends on the size */
} sample_system;

#define GRID "model,pattern,sell-dict,pair"
#define UNLIKE_ROWS "model,pattern,csr-sym,csr-vector,sell"
#define ELEMENTS "model,csr-sym,csr-vector,csr-scalar,sell16"
static const sample_system systems[] = {{"poisson2d:150", GRID, true, false},
                                        {"poisson3d:30", GRID, true, false},
                                        {"jump2d:150", UNLIKE_ROWS, true, false},
                                        {"jump3d:30", UNLIKE_ROWS, true, false},
                                        {"heatsink:40", GRID, true, false},
                                        {"hpcg:28", GRID, true, false},
                                        {"wathen:60", ELEMENTS, true, false},
                                        {"elasticity:10x10x10", ELEMENTS, true, false},
                                        {"spd:20000x4", "model,csr-vector,sell", true, false},
                                        {"convection:150", GRID, false, false},
                                        {"convection:30x30x30", "model,csr-vector", false, false},
                                        {"poisson2d:400", GRID, true, true},
                                        {"poisson2d:300", "model,pattern", true, true},
                                        {"poisson2d:500", "model,pattern", true, true},
                                        {"poisson2d:570", "model,pattern", true, true},
                                        {"poisson2d:620", "model,pattern", true, true},
                                        {"jump2d:270", "model,pattern", true, true},
                                        {"jump2d:500", "model,pattern", true, true},
                                        {"poisson3d:60", "model", true, true},
                                        {"jump2d:400", "model", true, true},
                                        {"jump3d:60", "model", true, true},
                                        {"hpcg:60", "model", true, true},
                                        {"elasticity:30x30x30", "model", true, true},
                                        {"convection:500", "model", false, true},
                                        {"poisson2d:1000", GRID, true, true},
                                        {"poisson3d:100", "model", true, true},
                                        {"jump2d:1000", "model", true, true},
                                        {"jump3d:90", "model", true, true},
                                        {"hpcg:100", "model", true, true}};
#undef GRID
#undef UNLIKE_ROWS
#undef ELEMENTS

/* A way that auto begins with or may continue with. */
typedef struct method_pair {
  const char *solver, *precond;
  bool positive; /* for such systems; else for the others */
} method_pair;

static const method_pair pairs[] = {{"cg", "none", true},
                                    {"cg", "jacobi", true},
                                    {"cg", "sa", true},
                                    {"cg", "amg", true},
                                    {"cg-single", "none", true},
                                    {"cg-single", "jacobi", true},
                                    {"cg-pipelined", "none", true},
                                    {"cg-pipelined", "jacobi", true},
                                    {"minres", "none", true},
                                    {"idr", "none", false},
                                    {"idr", "jacobi", false},
                                    {"idr", "amg", false},
                                    {"idr", "ilu", false},
                                    {"idr", "ilut", false},
                                    {"bicgstab-l", "none", false}};
enum { SYSTEMS = sizeof systems / sizeof *systems, PAIRS = sizeof pairs / sizeof *pairs };

typedef struct compilation {
  kcl_context *ctx;
  const cli_options *o;
  double begin;
  int setups, refused,
      left;   /* solvers set up; those that a method or format did not suit; not begun */
  bool large; /* large systems, too */
} compilation;

static double context_number(const compilation *c, const char *name) {
  double value = 0;
  kcl_context_number(c->ctx, name, &value);
  return value;
}

static bool is_late(const compilation *c) {
  return cli_given(c->o, "seconds") && cli_now() - c->begin > (double)c->o->seconds;
}

static bool is_fault(int rc) { return rc == KCL_DEVICE || rc == KCL_MEMORY; }

/* Passes over ways that the system does not suit. */
static int set_up_once(compilation *c, const kcl_csr *A, kcl_type precision, const char *name,
                       const char *format, const method_pair *p) {
  kcl_options a;
  kcl_solver *s = NULL;
  kcl_options_init(&a);
  a.solver = p->solver, a.precond = p->precond, a.precision = precision;
  a.format = format;
  cli_busy(c->o, "%s in %s: %s, %s; %.0f programs", name, format, p->solver, p->precond,
           context_number(c, "programs_compiled"));
  const int rc = cli_solver_create(c->ctx, A, &a, &s);
  kcl_solver_free(&s);
  c->setups += rc == 0, c->refused += rc && !is_fault(rc);
  return is_fault(rc) ? cli_lib(rc) : 0;
}

/* In each format of the list. */
static int set_up_each(compilation *c, const kcl_csr *A, kcl_type precision, const sample_system *s,
                       const method_pair *p) {
  const char *list = c->o->format ? c->o->format : s->formats;
  int rc = 0;
  for (size_t n; *list && !rc; list += n + (list[n] == ',')) {
    char format[32];
    n = strcspn(list, ",");
    snprintf(format, sizeof format, "%.*s", (int)n, list);
    if (is_late(c))
      c->left++;
    else
      rc = set_up_once(c, A, precision, s->name, format, p);
  }
  return rc;
}

static bool is_asked_for(const cli_options *o, const method_pair *p) {
  return (!o->solver || !strcmp(o->solver, "auto") || !strcmp(o->solver, p->solver)) &&
         (!o->precond || !strcmp(o->precond, "auto") || !strcmp(o->precond, p->precond));
}

/* A method by name that is in no pair, with its preconditioner. */
static method_pair pair_by_name(const cli_options *o) {
  return (method_pair){o->solver ? o->solver : "auto", o->precond ? o->precond : "auto", true};
}

/* either: of both kinds of systems, the operand's being unknown. */
static int compile_for(compilation *c, const kcl_csr *A, kcl_type precision, const sample_system *s,
                       bool either) {
  int rc = 0, begun = 0;
  for (int i = 0; i < PAIRS && !rc; i++) {
    if (!is_asked_for(c->o, &pairs[i]) || (!either && pairs[i].positive != s->positive)) continue;
    begun++;
    rc = set_up_each(c, A, precision, s, &pairs[i]);
  }
  const method_pair named = pair_by_name(c->o);
  return rc || begun ? rc : set_up_each(c, A, precision, s, &named);
}

static int compile_system(compilation *c, const sample_system *s, bool either) {
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  kcl_type precision;
  cli_busy(c->o, "%s", s->name);
  CLI_CALL(cli_matrix_load(c->ctx, c->o, s->name, &A, &precision));
  return compile_for(c, A, precision, s, either);
}

static void say_compiled(const compilation *c) {
  const cli_options *o = c->o;
  const double compiled = context_number(c, "programs_compiled");
  cli_say(o, "systems     %d set-ups, %d more that a method or format does not suit\n", c->setups,
          c->refused);
  if (c->left) cli_say(o, "            %d not begun: --seconds\n", c->left);
  cli_say(o, "programs    %.0f compiled, %.0f from the cache, in %s, %s written\n", compiled,
          context_number(c, "programs_cached"), cli_seconds(cli_now() - c->begin).s,
          cli_bytes(context_number(c, "program_bytes")).s);
  if (compiled > 0 && context_number(c, "program_bytes") <= 0)
    cli_say(o, "            nothing was kept: there is no cache folder, see KRYLOCL_CACHE\n");
}

int cli_compile_kernels(kcl_context *ctx, const cli_options *o) {
  compilation c = {.ctx = ctx, .o = o};
  kcl_device device;
  CLI_CALL(cli_device(ctx, o, &device));
  cli_report_device(o, &device);
  if (device.platform < 0)
    CLI_CALL(cli_fail(KCL_USAGE, "the cpu has no kernels to compile: add --device opencl"));
  cli_busy(o, "measuring the memory rate");
  (void)context_number(&c, "stream_rate"); /* which needs kernels, too */
  c.begin = cli_now(), c.large = !strcmp(device.kind, "gpu");
  if (o->count)
    CLI_CALL(compile_system(&c, &(sample_system){.name = o->files[0], .formats = "model"}, true));
  for (int i = 0; i < SYSTEMS && !o->count; i++)
    if (!systems[i].large || c.large) CLI_CALL(compile_system(&c, &systems[i], false));
  say_compiled(&c);
  return 0;
}
