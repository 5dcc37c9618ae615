/* The arrays of an engine that a solve does not change. */
#include "core/device/device.h"
#include "solver/guard/arrays.h"

/* Memory of an executor on this device: an array on the host, or a buffer, all of it. */
static kcl_guarded_array guarded_memory(kcl_context *ctx, const char *what, void *memory,
                                        size_t bytes, bool writable) {
  kcl_buffer_place place;
  if (!ctx->opencl || !memory)
    return (kcl_guarded_array){.what = what, .data = memory, .bytes = bytes, .writable = writable};
  kcl_describe_buffer(ctx, memory, &place);
  return (kcl_guarded_array){
      .what = what, .buffer = memory, .bytes = place.bytes, .writable = true};
}

static int guard_matrix(kcl_guarded_arrays *g, const kcl_stored *m, const char *what,
                        bool writable) {
  int rc = KCL_OK;
  for (int i = 0; i < m->arrays && !rc; i++) {
    const kcl_array *a = &m->array[i];
    const size_t bytes = (size_t)a->count * kcl_array_element(a->kind, m->type);
    if (a->prepared) continue;
    rc = kcl_guarded_add(g, guarded_memory(g->ctx, what, m->device[i] ? m->device[i] : a->data,
                                           bytes, writable || !a->borrowed || m->origin.adopted));
  }
  if (rc || !m->step) return rc;
  return kcl_guarded_add(g, (kcl_guarded_array){.what = what,
                                                .data = m->step,
                                                .bytes = (size_t)(m->steps + 1) * sizeof *m->step,
                                                .writable = true});
}

static int guard_constant(kcl_guarded_arrays *g, kcl_engine *e, kcl_vec v) {
  const kcl_program *k = e->program;
  const size_t bytes = (size_t)k->vector[v].n * kcl_type_size(kcl_vector_stored(k, v));
  return kcl_guarded_add(g, guarded_memory(e->ctx, "a vector of the preconditioner",
                                           e->executor.memory(&e->executor, v), bytes, true));
}

static int guard_table(kcl_guarded_arrays *g, kcl_engine *e) {
  void *table = e->executor.table ? e->executor.table(&e->executor) : NULL;
  return kcl_guarded_add(g, guarded_memory(e->ctx, "a table of stages", table, 0, true));
}

int kcl_guarded_engine(kcl_guarded_arrays *g, kcl_engine *e, bool writable) {
  const kcl_program *k = e->program;
  int rc = KCL_OK;
  kcl_guarded_free(g);
  g->ctx = e->ctx;
  for (int i = 0; i < k->ops && !rc; i++) {
    const kcl_stored *m = k->op[i].matrix;
    const bool of_system = m == k->A || m == k->AH;
    rc =
        guard_matrix(g, m, of_system ? "the matrix" : "the preconditioner", !of_system || writable);
  }
  for (kcl_vec v = 0; v < k->vectors && !rc; v++)
    if (kcl_vector_shared(k, v)) rc = guard_constant(g, e, v);
  return rc ? rc : guard_table(g, e);
}
