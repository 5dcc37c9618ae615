/* A process without a loader of OpenCL: what the library says, and that the native executor solves. With a loader: test_api and
 * others; by the program: tests/loader.sh.
 */
#include "core/device/device.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *ask_missing(void *unused) {
  return (void)unused, (void *)(intptr_t)kcl_opencl_missing();
}

/* The first calls of a process come at once; all find what one of them did. */
static void test_first(void) {
  enum { THREADS = 8 };
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++)
    if (!CHECK(!pthread_create(&thread[i], NULL, ask_missing, NULL))) exit(1);
  for (int i = 0; i < THREADS; i++) {
    void *missing = NULL;
    pthread_join(thread[i], &missing);
    CHECK(missing && missing == (void *)(intptr_t)kcl_opencl_missing());
  }
}

static void test_refused(kcl_context *ctx) {
  kcl_device *list = NULL;
  int count = 0;
  char *text = NULL;
  CHECK(!kcl_device_list(ctx, &list, &count) && count == 1 && !strcmp(list[0].kind, "native"));
  free(list);
  CHECK(kcl_select(ctx, "opencl", 0) == KCL_DEVICE);
  CHECKF(strstr(kcl_error(), kcl_opencl_missing()), "%s", kcl_error());
  CHECK(kcl_select(ctx, "0:0", 0) == KCL_DEVICE);
  CHECK(kcl_select_opencl(ctx, NULL, NULL, &count) == KCL_DEVICE);
  CHECKF(!strcmp(kcl_error(), kcl_opencl_missing()), "%s", kcl_error());
  const kcl_device other = {.platform = 0, .device = 0};
  CHECK(kcl_device_properties(ctx, &other, &text) == KCL_DEVICE && !text);
  CHECK(kcl_device_extensions(ctx, &other, &text) == KCL_DEVICE && !text);
}

static void test_native(kcl_context *ctx) {
  enum { N = 900 };
  static double b[N], x[N];
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r = {0};
  for (int i = 0; i < N; i++) b[i] = 1;
  CHECK(!kcl_select(ctx, "auto", 0) && !kcl_generate(ctx, "poisson2d:30", &A, NULL));
  CHECK(!kcl_setup(ctx, A, NULL, &s) && !kcl_solve_one(s, b, x, &r) && r.converged);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  kcl_context *ctx = NULL;
  setenv("KRYLOCL_OPENCL", "/nonexistent", 1);
  test_first();
  const char *missing = kcl_opencl_missing();
  CHECKF(strstr(missing, "/nonexistent") || strstr(missing, "this build"), "%s", missing);
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  test_refused(ctx), test_native(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
