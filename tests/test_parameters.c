/* Parameters of preconditioners: each changes what theory says that it changes, in that direction; a set-up checks a text that
 * was written by hand; without one, nothing changes.
 */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static kcl_context *ctx;

/* Iterations of a solve, and the levels, rows, nonzeros and bytes of its preconditioner. */
typedef struct outcome {
  double iterations, levels, rows, nonzeros, bytes;
} outcome;

static int set_up_system(const kcl_csr *A, const kcl_options *o, kcl_solver **s) {
  *s = NULL;
  return kcl_setup(ctx, A, o, s);
}

static outcome solve_with(const char *system, const char *options) {
  kcl_options o = kcl_defaults;
  kcl_setup_info u = {0};
  kcl_report r = {0};
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  CHECKF(!kcl_generate(ctx, system, &A, NULL), "%s", kcl_error());
  double *b = malloc((size_t)A->rows * sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  if (!b || !x) exit(1);
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1 + (double)(i % 3);
  CHECKF(!kcl_options_parse(&o, options), "%s", kcl_error());
  if (CHECKF(!set_up_system(A, &o, &s), "%s: %s", options, kcl_error())) {
    CHECKF(!kcl_solve_one(s, b, x, &r) && r.converged, "%s: %s", options,
           kcl_reason_text(r.reason));
    kcl_solver_info(s, &u);
  }
  kcl_solver_free(&s), kcl_csr_free(&A), free(b), free(x);
  return (outcome){.iterations = (double)r.iterations,
                   .levels = u.precond_levels,
                   .rows = u.precond_rows,
                   .nonzeros = u.precond_nonzeros,
                   .bytes = u.bytes_precond};
}

/* ---------------------------------------------------------------- each in its direction */

/* With the value `more` of the parameter a quantity is larger than with the value `less`. */
typedef struct direction {
  const char *name, *less, *more, *system, *options;
  size_t quantity;
} direction;

#define OF(quantity) offsetof(outcome, quantity)
static const char cg[] = "solver=cg format=csr-scalar",
                  bicgstab[] = "solver=bicgstab format=csr-scalar";

static const direction directions[] = {
    {"chebyshev.degree", "8", "2", "poisson2d:40", cg, OF(iterations)},
    {"block-jacobi.block", "8", "1", "poisson2d:40", cg, OF(iterations)},
    {"fsai.power", "3", "1", "poisson2d:40", cg, OF(iterations)},
    {"fsai.drop", "0.5", "0", "poisson2d:40", cg, OF(bytes)},
    {"fsai.fill", "2", "8", "poisson2d:40", cg, OF(bytes)},
    {"spai.power", "3", "1", "convection:20", bicgstab, OF(iterations)},
    {"spai.fill", "3", "5", "convection:20", bicgstab, OF(bytes)},
    {"ilut.drop", "0.1", "0.00001", "convection:40", bicgstab, OF(nonzeros)},
    {"ilut.drop", "0.00001", "0.1", "convection:40", bicgstab, OF(iterations)},
    {"ilut.fill", "8", "30", "convection:40", bicgstab, OF(nonzeros)},
    {"ilut.fill", "30", "4", "convection:40", bicgstab, OF(iterations)},
    {"ilu.level", "2", "0", "convection:40", bicgstab, OF(iterations)},
    {"ilu.level", "0", "2", "convection:40", bicgstab, OF(nonzeros)},
    {"ic.level", "2", "0", "poisson2d:40", cg, OF(iterations)},
    {"ic.level", "0", "2", "poisson2d:40", cg, OF(nonzeros)},
    {"ic.shift", "0", "0.5", "poisson2d:40", cg, OF(iterations)},
    {"amg.theta", "0", "0.9", "poisson2d:60", cg, OF(rows)},
    {"amg.p-max", "1", "8", "poisson2d:60", cg, OF(bytes)},
    {"amg.degree", "4", "1", "poisson2d:60", cg, OF(iterations)},
    {"amg.coarsest", "1000", "20", "poisson2d:60", cg, OF(levels)},
    {"amg.max-levels", "2", "25", "poisson2d:60", cg, OF(levels)},
    {"amg.max-complexity", "1.2", "3", "poisson2d:60", cg, OF(nonzeros)},
    {"sa.theta", "0", "0.9", "aniso2d:60", cg, OF(rows)},
    {"sa.degree", "8", "2", "poisson2d:60", cg, OF(iterations)},
    {"sa.cycles", "2", "1", "poisson2d:100", cg, OF(iterations)},
    {"sa.coarsest", "1000", "20", "poisson2d:60", cg, OF(levels)},
    {"sa.max-levels", "2", "25", "poisson2d:60", cg, OF(levels)},
    {"sa.max-complexity", "1.02", "3", "poisson2d:60", cg, OF(nonzeros)}};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

static double quantity_with(const direction *d, const char *value) {
  char options[200];
  snprintf(options, sizeof options, "precond=%.*s %s=%s %s", (int)strcspn(d->name, "."), d->name,
           d->name, value, d->options);
  const outcome r = solve_with(d->system, options);
  double quantity;
  memcpy(&quantity, (const char *)&r + d->quantity, sizeof quantity);
  return quantity;
}

static void test_directions(void) {
  for (int i = 0; i < DIRECTIONS; i++) {
    const direction *d = &directions[i];
    const double less = quantity_with(d, d->less), more = quantity_with(d, d->more);
    CHECKF(less < more, "%s on %s: %g with %s, %g with %s", d->name, d->system, less, d->less, more,
           d->more);
  }
}

static bool has_direction(const char *name) {
  bool has = false;
  for (int i = 0; i < DIRECTIONS; i++) has |= !strcmp(directions[i].name, name);
  return has;
}

/* The forms of amg share the parameters of amg. */
static void test_forms(void) {
  const char *const forms[] = {"amg-aggressive", "amg-w"};
  char options[200];
  for (int i = 0; i < 2; i++) {
    snprintf(options, sizeof options, "precond=%s amg.degree=1 %s", forms[i], cg);
    const double one = solve_with("poisson2d:60", options).iterations;
    snprintf(options, sizeof options, "precond=%s amg.degree=7 %s", forms[i], cg);
    CHECKF(solve_with("poisson2d:60", options).iterations < one, "%s", forms[i]);
  }
}

/* ---------------------------------------------------------------- texts */

/* Long values of all at once fit, and a default is no term; every parameter has a direction above. */
static void test_all_at_once(void) {
  kcl_options o = kcl_defaults;
  int count = 0;
  for (int i = 0; i < kcl_option_count(); i++) {
    const kcl_option p = kcl_option_at(i);
    char value[40];
    if (!strchr(p.name, '.')) continue;
    CHECKF(has_direction(p.name), "%s has no test of what it changes", p.name);
    snprintf(value, sizeof value, p.kind == KCL_OPTION_WHOLE ? "%.0f" : "%.4f", p.max * 0.9999);
    CHECKF(!kcl_options_set(&o, p.name, value), "%s", kcl_error());
    count++;
  }
  CHECK(count >= 20);
  for (int i = 0; i < kcl_option_count(); i++) {
    const kcl_option p = kcl_option_at(i);
    if (!strchr(p.name, '.')) continue;
    if (kcl_options_set(&o, p.name, p.default_text)) /* in words */
      CHECK(!kcl_options_set(&o, p.name, "default"));
  }
  CHECKF(!*o.parameters, "%s", o.parameters);
}

/* A text that a program wrote itself is checked by a set-up, also where another preconditioner is used. */
static void test_by_hand(void) {
  static const struct {
    const char *text, *word;
  } bad[] = {{"ilut.dorp=0.1", "did you mean ilut.drop?"},
             {"amg.theta=2", "number from 0 to 1"},
             {"amg.theta=0.5 sa.degree", "parameters:1:15: "},
             {"tol=0.1", "'tol' is no parameter"}};
  kcl_csr *A = NULL;
  kcl_solver *s;
  CHECK(!kcl_generate(ctx, "poisson2d:10", &A, NULL));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    kcl_options o = kcl_defaults;
    o.precond = "jacobi";
    strcpy(o.parameters, bad[i].text);
    CHECKF(set_up_system(A, &o, &s) == KCL_USAGE && strstr(kcl_error(), bad[i].word), "%s: %s",
           bad[i].text, kcl_error());
    kcl_solver_free(&s);
  }
  kcl_options o = kcl_defaults;
  memset(o.parameters, 'x', sizeof o.parameters);
  CHECK(set_up_system(A, &o, &s) == KCL_USAGE && strstr(kcl_error(), "no end"));
  o = kcl_defaults, o.precond = "chebyshev";
  strcpy(o.parameters, " chebyshev.degree = 2\n# more\n");
  kcl_setup_info u = {0};
  if (CHECKF(!set_up_system(A, &o, &s), "%s", kcl_error())) kcl_solver_info(s, &u);
  CHECKF(u.precond_note && !strcmp(u.precond_note, "degree 2"), "%s", u.precond_note);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* An update keeps the parameters. */
static void test_updated(void) {
  kcl_options o = kcl_defaults;
  kcl_setup_info u[2] = {{0}};
  kcl_csr *A = NULL;
  kcl_solver *s;
  CHECK(!kcl_generate(ctx, "poisson2d:60", &A, NULL));
  CHECK(!kcl_options_parse(&o, "solver=cg precond=amg amg.coarsest=1000 amg.max-levels=2"));
  if (CHECKF(!set_up_system(A, &o, &s), "%s", kcl_error())) {
    for (int i = 0; i < 2; i++) {
      CHECKF(!i || !update_hierarchy(s, A), "%s", kcl_error());
      kcl_solver_info(s, &u[i]);
      CHECK(u[i].precond_levels == 2);
    }
    CHECK(u[0].precond_nonzeros == u[1].precond_nonzeros &&
          u[0].bytes_precond == u[1].bytes_precond);
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* The memory of auto is of the parameters, too: what a solve with some remembers, only a solve with these recalls. */
static void test_memory(void) {
  const char *const texts[] = {"", "amg.theta=0.5", "amg.theta=0.5", "amg.theta=0.25",
                               "sa.cycles=1"};
  const bool known[] = {false, false, true, true, false};
  char folder[] = "/tmp/krylocl-parameters-XXXXXX", command[80];
  kcl_csr *A = NULL;
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  setenv("KRYLOCL_CACHE", folder, 1);
  CHECK(!kcl_generate(ctx, "poisson2d:40", &A, NULL));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    kcl_options o = kcl_defaults;
    kcl_solver *s;
    CHECK(!kcl_options_parse(&o, texts[i]));
    if (!CHECKF(!set_up_system(A, &o, &s), "%s", kcl_error())) continue;
    CHECKF(s->selection.recalled == known[i], "set-up %d with '%s'", (int)i, texts[i]);
    kcl_choice_remember(s->selection.key, &(kcl_choice){.iterations = 70});
    kcl_solver_free(&s);
  }
  kcl_csr_free(&A);
  setenv("KRYLOCL_CACHE", "", 1);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
}

int main(void) {
  setenv("KRYLOCL_CACHE", "", 1);
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx)) || !CHECK(!kcl_select(ctx, "cpu", 1)))
    return check_report();
  test_directions(), test_forms();
  test_all_at_once(), test_by_hand(), test_updated(), test_memory();
  kcl_context_free(&ctx);
  return check_report();
}
