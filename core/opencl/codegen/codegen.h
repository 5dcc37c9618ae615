/* One stage as it is written into one kernel: shared by the writers of OpenCL source. */
#ifndef KCL_OPENCL_CODEGEN_H
#define KCL_OPENCL_CODEGEN_H

#include "core/opencl/codegen/geometry.h"
#include "core/opencl/codegen/source.h"

typedef struct kcl_emit {
  const kcl_program *k;
  const kcl_geometry *g;
  const kcl_stage *s;
  kcl_phase phase;
  int number;   /* of the stage in its phase */
  bool unnamed; /* its kernel serves other stages, too (stage_shared.c): vectors are v0, v1 ... */
  char id[32];  /* a suffix of names: kcl_stage_id */
  bool cpu;     /* CPU layout: a work-group is one work-item */
  bool persistent;   /* the stage is a part of the persistent kernel */
  bool turns;        /* its kernel is told how many turns its loops have */
  bool passes_state; /* its kernel serves other programs, too: it is told the sizes of the state */
} kcl_emit;

kcl_emit kcl_emit_stage(const kcl_program *k, const kcl_geometry *g, kcl_phase phase, int number);
/* Likewise, for the stage that owns a kernel. */
kcl_emit kcl_emit_owner(const kcl_program *k, const kcl_geometry *g, const kcl_stage_kernel *at);
/* The suffix of a stage's names in source, such as 1_0. The preconditioner's own stages, which may be any number, do not count. */
void kcl_stage_id(const kcl_program *k, int phase, int number, char id[32]);

/* Names in generated source: a vector's and a slot's are the method's own. */
static inline const char *kcl_vec_name(const kcl_program *k, kcl_vec v) {
  return k->vector[v].name.s;
}
static inline const char *kcl_slot_name(const kcl_program *k, kcl_slot s) { return k->slot[s].s; }

/* A vector's name in the source of a stage: the method's own, or its place in a stage without names. */
const char *kcl_emit_vec(const kcl_emit *e, kcl_vec v);

/* Is the vector stored as float, in a program of type double? */
static inline bool kcl_emit_narrow(const kcl_emit *e, kcl_vec v) { return e->k->vector[v].narrow; }

/* The matrix of the stage's product, its columns renumbered where the geometry says so; and the prefix of its arrays. */
const kcl_stored *kcl_emit_matrix(const kcl_emit *e);
const char *kcl_emit_prefix(const kcl_emit *e);

/* Is the number of work-items per row an argument of the stage's kernel? Then matrices of levels share it. (series_plan.c) */
bool kcl_lanes_are_argument(const kcl_emit *e);
/* Is it alone in its program, and reads no slots? Then programs of other methods share it. (series_plan.c) */
bool kcl_stage_passes_state(const kcl_program *k, const kcl_stage_kernel *at);

/* ---- scalars.c */
enum { KCL_AT_ONCE = 4 };                /* dots reduced with common barriers (kernels/stage.clh) */
int kcl_at_once(int dots);               /* how many of these are */
int kcl_most_dots(const kcl_program *k); /* the constant MOST_DOTS */
void kcl_put_scalar_ops(kcl_source *t, const kcl_emit *e, const bool *only, bool which);
void kcl_put_factors(kcl_source *t, const kcl_emit *e);    /* coefficients of vector operations */
int kcl_stage_factors(const kcl_stage *s, kcl_coef *list); /* each once, whatever its sign */
void kcl_put_factor_name(kcl_source *t, const kcl_emit *e, kcl_coef c);
/* Partial sums to slots; turns: only those of turns up to turns_before. */
void kcl_put_reduce(kcl_source *t, const kcl_program *k, const kcl_stage *before, bool turns);
void kcl_put_partials(kcl_source *t, const kcl_emit *e);
void kcl_put_seed(kcl_source *t, const kcl_program *k, const kcl_stage *last);

/* ---- elements.c: the function elements_ID */
void kcl_put_elements(kcl_source *t, const kcl_emit *e);
/* Its arguments: parameters with types (typed) or what is passed on. In a kernel and in a format's function vectors are
 * v_NAME, coefficients f_NAME, so that they meet no names of the format. */
void kcl_put_vectors(kcl_source *t, const kcl_emit *e, bool typed);
void kcl_put_extras(kcl_source *t, const kcl_emit *e, bool typed);
void kcl_put_call(kcl_source *t, const kcl_emit *e, const char *value); /* value: of y, or NULL */
void kcl_put_emit_macro(kcl_source *t, const kcl_emit *e);
void kcl_put_sums(kcl_source *t, const kcl_emit *e); /* of dots, zero */

/* ---- product.c: the format's file, and the loop of a stage */
enum {
  KCL_ARRAYS_NAMED,
  KCL_ARRAYS_TYPED,
  KCL_ARRAYS_WRITTEN
}; /* the last: prepared arrays as prepare() sees them */
void kcl_put_arrays(kcl_source *t, const kcl_stored *m, int typed, const char *prefix);
void kcl_put_format(kcl_source *t, const kcl_emit *e);
void kcl_put_product(kcl_source *t, const kcl_emit *e);
void kcl_put_loop(kcl_source *t, const kcl_emit *e);
void kcl_put_own_elements(kcl_source *t,
                          const kcl_emit *e); /* for (...), persistent: as rows are shared */

/* ---- persistent_plan.c: what of a program the persistent kernel needs (and whether it can be) */
bool kcl_in_registers(const kcl_emit *e, kcl_vec v);
bool kcl_publishes(const kcl_emit *e,
                   kcl_vec v);        /* does the stage write what other groups gather? */
bool kcl_overlaps(const kcl_emit *e); /* does its product overlap the reduction before it? */
const kcl_stage *kcl_persistent_before(const kcl_program *k, const kcl_stage *s);
bool kcl_ends_in_flight(
    const kcl_stage *s); /* does it end with a reduction (or barrier) in flight? */

/* ---- stage_source.c: a stage as a kernel */
/* Scalars of local memory that are the last argument of the stage's kernel, for its product with A; 0: it has no such argument. */
int64_t kcl_stage_scratch(const kcl_emit *e, const kcl_stored *A);
void kcl_put_stage_comment(kcl_source *t, const kcl_emit *e); /* its operations, one per line */
void kcl_put_stage_kernel(kcl_source *t, const kcl_program *k, const kcl_geometry *g,
                          const kcl_stage_kernel *at);

#endif
