/* Kernels of GMRES: their number depends little on the iterations per cycle, since steps with different numbers of vectors share them. */
#include "core/opencl/executor.h"
#include "solver/methods/method.h"
#include "tests/conform.h"

extern const kcl_method kcl_method_gmres;

#ifndef KCL_NO_OPENCL
static int count_kernels(const kcl_program *k, const kcl_geometry *g) {
  kcl_parts p;
  int kernels = 0;
  if (!CHECKF(!kcl_parts_find(k, g, &p), "%s", kcl_error())) return 0;
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      kernels += p.of[phase][i].phase == phase && p.of[phase][i].number == i;
  kcl_parts_free(&p);
  return kernels;
}

/* Every stage is served by the kernel that it is given. */
static void check_served(const kcl_program *k, const kcl_geometry *g) {
  kcl_turns_arguments a;
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) {
    const int leader = kcl_stage_leader(k, g, KCL_LOOP, i);
    CHECKF(kcl_stage_leader(k, g, KCL_LOOP, leader) == leader, "stage %d: %d leads no other", i,
           leader);
    CHECKF(leader == i || kcl_stage_serves(k, KCL_LOOP, leader, i, &a), "stage %d by %d", i,
           leader);
  }
}

/* most: kernels, in the layout of a CPU and of a GPU. */
static void check_restart(kcl_context *ctx, const kcl_csr *A, kcl_stored *m, int restart,
                          const int most[2]) {
  kcl_program *k = NULL;
  if (kcl_program_create(ctx, A->type, A->rows, A->cols, &k)) exit(1);
  k->A = m, k->restart = restart;
  kcl_method_gmres.record(k);
  CHECK(!kcl_program_end(k));
  kcl_geometry g = kcl_choose_geometry(k);
  for (int gpu = 0; gpu < 2; gpu++) {
    g.group = gpu ? 256 : 1;
    const int kernels = count_kernels(k, &g);
    int stages = 0;
    for (int phase = 0; phase < KCL_PHASES; phase++) stages += k->stages[phase];
    printf("gmres(%d): %d kernels for %d stages\n", restart, kernels, stages);
    CHECKF(kernels <= most[gpu], "gmres(%d): %d kernels for %d stages, at most %d", restart,
           kernels, stages, most[gpu]);
    check_served(k, &g);
  }
  kcl_program_free(&k);
}

static void test_kernels(kcl_context *ctx, const kcl_csr *A) {
  const kcl_format *f;
  kcl_stored *m = NULL;
  if (!ctx->opencl) return;
  if (!CHECK(!kcl_format_find(ctx, "ell", A->type, &f) && !kcl_stored_build(ctx, f, A, &m))) return;
  check_restart(ctx, A, m, 5, (int[]){12, 20});
  check_restart(ctx, A, m, 20, (int[]){20, 65});
  check_restart(ctx, A, m, 50, (int[]){48, 48});
  kcl_stored_free(&m);
}
#else
static void test_kernels(kcl_context *ctx, const kcl_csr *A) {
  (void)ctx, (void)A, skip("kernels of stages: built without OpenCL");
}
#endif

int main(void) {
  kcl_csr *A;
  open_places();
  CHECK(!kcl_generate(places[0].ctx, "poisson2d:9", &A, NULL));
  for (int i = 0; i < place_count; i++) test_kernels(places[i].ctx, A);
  kcl_csr_free(&A), close_places();
  return check_report();
}
