/* Fuzz target: checkpoints. An input that begins with 'r' is a file as it is; any other is a list of changes, 16 bits of a place and a
 * byte each, of a good checkpoint, whose checksum is made to fit again: what the reader and the solve have to refuse or survive by
 * themselves; the number of ranks that wrote it and its version are fields as others. A resumed solve ends with a finite x, whatever was in the file. */
#include "core/base/sum64.h"
#include "solver/checkpoint/file.h"
#include "tests/calls.h"
#include "tests/fuzz/fuzz.h"

enum { ROWS = 36, MOST = 1 << 16 };

static kcl_solver *solver;
static double b[ROWS];
static unsigned char good[MOST];
static size_t good_size;

static int stop_early(void *user, const kcl_progress *p) { return (void)user, p->iteration >= 2; }

static void make_good(void) {
  static kcl_csr *A;
  double x[ROWS];
  kcl_report r;
  kcl_options o = kcl_defaults;
  const kcl_call c = {.size = sizeof c, .zero_guess = 1, .progress = stop_early};
  for (int i = 0; i < ROWS; i++) b[i] = 1 + i * 7 % 5;
  o.solver = "cg", o.precond = "none", o.format = "csr-scalar", o.no_direct = true,
  o.max_iter = 100;
  FUZZ_REQUIRE(!kcl_generate(fuzz_ctx, "poisson2d:6", &A, NULL));
  FUZZ_REQUIRE(!kcl_setup(fuzz_ctx, A, &o, &solver));
  FUZZ_REQUIRE(!kcl_solver_checkpoint(solver, fuzz_path("t.kcl"), 0));
  FUZZ_REQUIRE(!kcl_solve_call(solver, &c, 1, b, x, &r) && r.checkpoints == 1);
  FUZZ_REQUIRE(!kcl_solver_checkpoint(solver, NULL, 0));
  FILE *f = fopen(fuzz_path("t.kcl"), "rb");
  FUZZ_REQUIRE(f && (good_size = fread(good, 1, sizeof good, f)) > 1000 && feof(f) && !fclose(f));
}

static const char *changed(const uint8_t *data, size_t size) {
  static unsigned char file[MOST];
  memcpy(file, good, good_size);
  for (; size >= 3; data += 3, size -= 3)
    file[(data[0] + 256u * data[1]) % (good_size - 8)] = data[2];
  const uint64_t sum = kcl_sum64(file, good_size - 8, 0); /* one block */
  memcpy(file + good_size - 8, &sum, 8);
  return fuzz_put(file, good_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  double x[ROWS] = {0};
  kcl_report r;
  fuzz_begin();
  if (!solver) make_good();
  const bool raw = size && data[0] == 'r';
  const char *path = raw ? fuzz_put(data + 1, size - 1) : changed(data, size);
  int rc = kcl_solver_resume(solver, path);
  FUZZ_REQUIRE(!rc || ((rc == KCL_INPUT || rc == KCL_MEMORY) && strstr(kcl_error(), "checkpoint")));
  if (rc) return 0;
  rc = kcl_solve_one(solver, b, x, &r);
  FUZZ_REQUIRE(!rc || ((rc == KCL_INPUT || rc == KCL_MEMORY) && strlen(kcl_error()) > 10));
  if (!rc) FUZZ_REQUIRE(fuzz_finite(x, ROWS));
  if (!rc && r.converged) FUZZ_REQUIRE(r.true_relative_residual <= 1e-8);
  return 0;
}
