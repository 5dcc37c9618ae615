/* The self-test of a driver at first use: kernels whose source a damaged compiler changes are put aside by name, the answer comes from another
 * format or from the native executor and is right, and the verdict is remembered between contexts. Right kernels are not put aside. */
#include "core/base/context.h"
#include "core/opencl/device/cl.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef KCL_NO_OPENCL

/* The next programs get `instead` for `text` in their source; text NULL: as it is. */
static const char *text, *instead;
static int sources;
static bool guard; /* of the solves */
static const char *precond = "jacobi";
static __typeof__(clCreateProgramWithSource) create_program;

static char *replace_text(const char *source) {
  char *out = malloc(2 * strlen(source) + 1), *to = out;
  while (*source) {
    if (!strncmp(source, text, strlen(text))) {
      to = stpcpy(to, instead), source += strlen(text);
    } else {
      *to++ = *source++;
    }
  }
  *to = 0;
  return out;
}

static cl_program create_damaged(cl_context c, cl_uint count, const char **source,
                                 const size_t *length, cl_int *code) {
  sources++;
  if (!text) return create_program(c, count, source, length, code);
  char *damaged = replace_text(*source);
  const char *of = damaged;
  cl_program p = create_program(c, 1, &of, NULL, code);
  free(damaged);
  return p;
}

typedef struct answer {
  int status;
  kcl_setup_info info;
  char format[40], put_aside[600], reason[400], note[100];
  kcl_report report;
  bool native;
} answer;

static answer solve_damaged(const char *from, const char *to, const char *format) {
  answer a = {.status = -1};
  kcl_context *ctx = NULL;
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  double b[900], x[900] = {0};
  kcl_options o = kcl_defaults;
  o.solver = "cg", o.precond = precond, o.format = format, o.guard = guard;
  text = from, instead = to, sources = 0;
  for (int i = 0; i < 900; i++) b[i] = random_number();
  if (!CHECK(!kcl_context_create("opencl", 0, &ctx) &&
             !kcl_generate(ctx, "poisson2d:30", &A, NULL)))
    goto done;
  a.status = kcl_setup(ctx, A, &o, &s);
  if (!a.status) a.status = kcl_solve_one(s, b, x, &a.report);
  if (!a.status) {
    kcl_solver_info(s, &a.info);
    snprintf(a.format, sizeof a.format, "%s", a.info.format);
    snprintf(a.put_aside, sizeof a.put_aside, "%s", a.info.put_aside);
    snprintf(a.reason, sizeof a.reason, "%s", a.info.format_reason);
    snprintf(a.note, sizeof a.note, "%s", a.info.precond_note);
  }
  a.native = !ctx->opencl;
done:
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_context_free(&ctx);
  text = NULL;
  return a;
}

/* A product of one format is wrong: another format solves. */
static void test_format(void) {
  answer a = solve_damaged("x[WITHIN(c[l], A_COLS)], sum[l])",
                           "x[WITHIN(c[l] ^ 1, A_COLS)], sum[l])", "sell");
  CHECKF(!a.status && a.report.converged, "status %d: %s", a.status, kcl_error());
  CHECKF(strcmp(a.format, "sell"), "format %s is not put aside", a.format);
  CHECKF(strstr(a.put_aside, "of cg in format sell"), "put aside: '%s'", a.put_aside);
  CHECKF(strstr(a.reason, "self-test"), "reason: %s", a.reason);
  CHECK(!a.native);
}

/* A product with one wrong element in one row. */
static void test_one_row(void) {
  answer a = solve_damaged("EMIT(i, sum);", "EMIT(i, i == 77 ? e_zero() : sum);", "csr-scalar");
  CHECKF(!a.status && a.report.converged, "status %d: %s", a.status, kcl_error());
  CHECKF(strstr(a.put_aside, "in format csr-scalar"), "put aside: '%s'", a.put_aside);
}

/* Vector operations are wrong in every format: the native executor solves. */
static void test_all(const char *from, const char *to) {
  answer a = solve_damaged(from, to, "csr-scalar");
  CHECKF(!a.status && a.report.converged, "status %d: %s", a.status, kcl_error());
  CHECKF(a.native, "'%s' to '%s': %s, put aside: '%s'", from, to, a.format, a.put_aside);
}

static void test_right(void) {
  answer a = solve_damaged(NULL, NULL, "sell");
  CHECKF(!a.status && a.report.converged, "status %d: %s", a.status, kcl_error());
  CHECKF(!strcmp(a.format, "sell") && !a.put_aside[0], "%s put aside: %s", a.format, a.put_aside);
  CHECK(!a.native);
}

/* In a cache folder of its own, without which contexts know nothing of each other. */
static void test_memory(void) {
  char folder[] = "/tmp/krylocl-selftest-XXXXXX", command[100];
  if (!CHECK(mkdtemp(folder))) return;
  setenv("KRYLOCL_CACHE", folder, 1);
  answer a = solve_damaged("EMIT(i, sum);", "EMIT(i, i == 77 ? e_zero() : sum);", "csr-scalar");
  answer b = solve_damaged(NULL, NULL, "csr-scalar");
  CHECKF(!a.status && !b.status && !strcmp(a.format, b.format) && !strcmp(a.put_aside, b.put_aside),
         "%s, then %s", a.put_aside, b.put_aside);
  CHECKF(!sources, "%d programs were compiled again", sources);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
  setenv("KRYLOCL_CACHE", "", 1);
}

/* Where nothing is said, kernels of stages are tested, and no program is compiled for it. */
static void test_default(void) {
  setenv("KRYLOCL_SELFTEST", "0", 1);
  solve_damaged(NULL, NULL, "csr-scalar");
  const int untested = sources;
  unsetenv("KRYLOCL_SELFTEST");
  solve_damaged(NULL, NULL, "csr-scalar");
  CHECKF(sources == untested, "%d programs, %d without a self-test", sources, untested);
  test_one_row();
}

/* Kernels with the sizes of their system are tested on it, and no program is compiled for that. */
static void test_guarded(void) {
  guard = true;
  setenv("KRYLOCL_SELFTEST", "0", 1);
  solve_damaged(NULL, NULL, "csr-scalar");
  const int untested = sources;
  unsetenv("KRYLOCL_SELFTEST");
  answer a = solve_damaged(NULL, NULL, "csr-scalar");
  CHECKF(sources == untested && !a.put_aside[0], "%d programs, %d without a self-test; '%s'",
         sources, untested, a.put_aside);
  test_one_row();
  guard = false;
}

/* On GPUs triangular factors are swept, which is no mistake of a driver. */
static void test_sweeps(void) {
  setenv("KRYLOCL_LAYOUT", "gpu", 1);
  precond = "ic";
  for (int g = 0; g < 2; g++) {
    guard = g;
    answer a = solve_damaged(NULL, NULL, "csr-scalar");
    CHECKF(!a.status && a.report.converged && !a.native && !a.put_aside[0] &&
               strstr(a.note, "sweeps"),
           "status %d, %s; %s, put aside: '%s'", a.status, kcl_error(), a.note, a.put_aside);
  }
  precond = "jacobi", guard = false;
  unsetenv("KRYLOCL_LAYOUT");
}

static void test_left_out(void) {
  setenv("KRYLOCL_SELFTEST", "0", 1);
  answer a = solve_damaged("EMIT(i, sum);", "EMIT(i, i == 77 ? e_zero() : sum);", "csr-scalar");
  CHECKF(!a.put_aside[0] && !a.report.converged, "put aside: '%s'", a.put_aside);
}
#endif

int main(void) {
  setenv("KRYLOCL_SELFTEST", "1", 1);
#ifndef KCL_NO_OPENCL
  kcl_context *ctx = NULL;
  setenv("KRYLOCL_CACHE", "", 1);
  if (kcl_context_create("opencl", 0, &ctx)) {
    skip("%s", kcl_error());
    return check_report();
  }
  kcl_context_free(&ctx);
  create_program = clCreateProgramWithSource;
  clCreateProgramWithSource = create_damaged;
  test_right();
  test_format();
  test_one_row();
  test_all("{ return a / b; }", "{ return a / b + a; }");
  test_memory();
  test_default();
  test_guarded();
  test_sweeps();
  test_left_out();
#endif
  return check_report();
}
