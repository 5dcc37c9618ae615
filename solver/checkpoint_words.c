/* See checkpoint.h: what decides the bits of an iteration, as text. Not among it: tolerances and limits, which decide when a solve
 * ends; threads, which have no influence; method, preconditioner and format, which a solver can take from the checkpoint. */
#include "core/base/sum64.h"
#include "solver/checkpoint.h"
#include "solver/engine/given.h"

static bool decides_bits(const char *option) {
  static const char *const others[] = {"solver", "precond",  "format",   "tol",
                                       "atol",   "max-iter", "no-direct"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(option, others[i])) return false;
  return true;
}

static void put_options(FILE *f, const kcl_options *o) {
  fputs("options", f);
  for (int i = 0; i < kcl_option_count(); i++) {
    const char *name = kcl_option_at(i).name, *value = kcl_options_get(o, name);
    if (decides_bits(name) && strcmp(value, "default")) fprintf(f, " %s=%s", name, value);
  }
  if (o->near_null)
    fprintf(f, " near-null=%016llx",
            (unsigned long long)kcl_sum64(
                o->near_null->val,
                (size_t)(o->near_null->rows * o->near_null->cols) * sizeof(double), 0));
  fputc('\n', f);
}

static uint64_t add_number(uint64_t h, int64_t v) { return kcl_sum64(&v, sizeof v, h); }

/* Checksum of all vectors and stages: preconditioners with other levels or fill have another. */
static uint64_t sum_of_program(const kcl_program *k) {
  uint64_t h = (uint64_t)k->slots;
  for (kcl_vec v = 0; v < k->vectors; v++)
    h = add_number(add_number(h, k->vector[v].n), kcl_vector_stored(k, v));
  for (int p = 0; p < KCL_PHASES; p++)
    for (int i = 0; i < k->stages[p]; i++) {
      const kcl_stage *s = &k->stage[p][i];
      h = add_number(add_number(add_number(h, s->n), s->scalars), s->vectors);
      h = add_number(add_number(h, s->A ? s->y : -1), s->A ? s->x : -1);
      h = add_number(h, s->A ? s->A->origin.source.nnz : 0);
    }
  return h;
}

static int print_own_words(const kcl_solver *s, const kcl_engine *e, char **out, size_t *size) {
  const kcl_context *ctx = s->system.ctx;
  const kcl_device *d = &ctx->device;
  size_t length;
  FILE *f = open_memstream(out, &length);
  if (!f) return kcl_fail(s->system.ctx, KCL_MEMORY, "out of memory: a checkpoint");
  fprintf(f, "library %s\n", kcl_version());
  fprintf(f, "device %s, %s, %s\n", d->name, d->kind, d->driver);
  fprintf(f, "precision %c\n", kcl_type_letter(e->program->type));
  put_options(f, &s->system.options);
  if (ctx->opencl) fprintf(f, "kernel %s\n", e->kernel);
  fprintf(f, "program %016llx\n", (unsigned long long)sum_of_program(e->program));
  const bool lost = ferror(f);
  if (!fclose(f) && !lost) return *size = length + 1, KCL_OK;
  free(*out), *out = NULL;
  return kcl_fail(s->system.ctx, KCL_MEMORY, "out of memory: a checkpoint");
}

/* The rows of this rank, and all that decides its bits. */
static uint64_t sum_of_part(const kcl_solver *s, const kcl_engine *e, const char *words) {
  const kcl_ranks *r = kcl_system_ranks(&s->system);
  const char *format = kcl_engine_format(e);
  uint64_t h = kcl_sum64(words, strlen(words), kcl_sum64(format, strlen(format), 0));
  h = add_number(add_number(add_number(h, r->rank), r->first_row), s->system.A->rows);
  h = add_number(h, (int64_t)e->executor.state_bytes(&e->executor));
  return kcl_mix_bits(h);
}

/* Rank 0's words, and a line for the parts of all ranks. */
static int join_words(const kcl_solver *s, const kcl_engine *e, char **words, size_t *size) {
  const kcl_system *t = &s->system;
  enum { LINE = 40 };
  const uint64_t parts = kcl_checkpoint_total(t, sum_of_part(s, e, *words));
  int64_t length = kcl_ranks_decide(kcl_system_ranks(t), (int64_t)strlen(*words));
  char *all;
  int rc = kcl_alloc(t->ctx, length + LINE, 1, "a checkpoint", (void **)&all);
  if ((rc = kcl_ranks_agree(kcl_system_ranks(t), rc))) return free(all), rc;
  if (kcl_checkpoint_here(t)) memcpy(all, *words, (size_t)length);
  t->distribution->tell(t->distribution, all, (size_t)length);
  length += snprintf(all + length, LINE, "partition %016llx\n", (unsigned long long)parts);
  free(*words);
  *words = all, *size = (size_t)length + 1;
  return KCL_OK;
}

int kcl_checkpoint_words(const kcl_solver *s, const kcl_engine *e, char **out, size_t *size) {
  *out = NULL;
  int rc = kcl_ranks_agree(kcl_system_ranks(&s->system), print_own_words(s, e, out, size));
  if (!rc && s->system.distribution) rc = join_words(s, e, out, size);
  if (rc) free(*out), *out = NULL;
  return rc;
}

int kcl_checkpoint_sum_b(kcl_loop *l, int rhs, uint64_t *out) {
  const kcl_csr *A = l->system->A;
  const kcl_ranks *r = kcl_system_ranks(l->system);
  const kcl_rhs *v = &l->rhs[rhs];
  void *copy = NULL;
  int rc = v->b ? KCL_OK : kcl_fetch_column(l->system, &v->b_column, A->rows, &copy);
  if (!rc)
    *out = kcl_fingerprint_vector(A->type, v->b ? v->b : copy, A->rows, r ? r->first_row : 0);
  free(copy);
  if ((rc = kcl_ranks_agree(kcl_system_ranks(l->system), rc))) return rc;
  *out = kcl_checkpoint_total(l->system, *out);
  return KCL_OK;
}
