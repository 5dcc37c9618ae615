/* The builder of the matrices of multigrid: on the host (builder_host.c), or on the device (builder_device.c, in builds with
 * OpenCL), which uploads A and makes the levels where they are used. A strategy (amg.c) and the hierarchy (levels.c) are written once over it.
 */
#ifndef KCL_BUILDER_H
#define KCL_BUILDER_H

#include "solver/contract/precond.h"
#include "multigrid/opencl/setup.h"

/* A real matrix that is being worked on, in double. */
typedef struct kcl_built {
  int64_t rows, cols, nnz;
  kcl_csr *csr, *owned;  /* on the host; owned: the same, unless it is the caller's */
  kcl_device_csr device; /* on the device */
} kcl_built;

/* Vectors that the next level must reproduce: near-null vectors, [rows, vectors], by rows. */
typedef struct kcl_near_null {
  int block, vectors; /* rows per node */
  const double *B;    /* on the host; NULL, and no `device`: a constant, of one row per node */
  double *owned;      /* the same, unless they are the caller's */
  void *device;       /* cl_mem, instead; NULL: they are on the host */
} kcl_near_null;

typedef struct kcl_builder kcl_builder;
typedef struct kcl_builder_ops {
  int (*take)(kcl_builder *b, const kcl_csr *A, kcl_built *out);
  void (*free)(kcl_builder *b, kcl_built *A); /* also of an empty one, which it becomes */
  /* No P, *made false: coarsening ends. */
  int (*interpolation)(kcl_builder *b, const kcl_built *A, const kcl_coarsening_rule *rule,
                       kcl_built *P, bool *made);
  /* Interpolation from aggregates of nodes; with P the near-null vectors become those of the next level. */
  int (*aggregation)(kcl_builder *b, const kcl_built *A, const kcl_aggregation_rule *rule,
                     kcl_built *P, bool *made);
  int (*transpose)(kcl_builder *b, kcl_built *A, kcl_built *out); /* both are to be kept */
  int (*product)(kcl_builder *b, const kcl_built *A, const kcl_built *B, kcl_built *out);
  /* R A P; pattern: its entries, of an earlier one, with its shape, and used up; or NULL, the shape is found. */
  int (*galerkin)(kcl_builder *b, const kcl_built *R, const kcl_built *A, const kcl_built *P,
                  kcl_built *pattern, kcl_galerkin_shape *shape, kcl_built *out);
  int (*truncate)(kcl_builder *b, const kcl_built *A, int most, kcl_built *out);
  int (*round)(kcl_builder *b, kcl_built *A); /* its values become floats */
  /* Adds the vector of the smoother to M. */
  int (*smoother)(kcl_builder *b, const kcl_built *A, kcl_smoother kind);
  int (*inverse)(kcl_builder *b, const kcl_built *A, kcl_csr **out); /* dense, on the host */
  int (*keep)(kcl_builder *b, kcl_built *A);                         /* becomes a matrix of M */
  /* A matrix that was kept, to be read; KCL_UNSUITED: it is not there. */
  int (*view)(kcl_builder *b, const kcl_stored *C, bool values, kcl_built *out);
  /* A and the near-null vectors move to the host, and b->ops with them; NULL: they are there. */
  int (*leave)(kcl_builder *b, kcl_built *A);
  /* KCL_UNSUITED: the values are not as an update expects; NULL: nothing is expected. */
  int (*finish)(kcl_builder *b);
  void (*close)(kcl_builder *b);
} kcl_builder_ops;
struct kcl_builder {
  kcl_preconditioner *M;
  const kcl_precond_request *request; /* of the set-up, for parameters */
  const kcl_stats *stats;             /* of the first level's A */
  struct kcl_distinct_rows *distinct; /* of that A, or NULL */
  const kcl_builder_ops *ops;
  kcl_device_setup *setup; /* of the device */
  bool narrow;             /* matrices of M are stored as float */
  bool updating;           /* what is wrong is found in the end, and then by a set-up */
  double largest;          /* eigenvalue of D^-1 A of the last smoother, if a polynomial */
  int doubt;               /* 0, or the note of whether its system is not definite */
  double entries_left;     /* entries that all further levels may have */
  kcl_near_null near_null;
};
void kcl_built_on_host(kcl_csr *C, kcl_built *out); /* owns C */

extern const kcl_builder_ops kcl_build_on_host;

/* Set-ups on an OpenCL device. */
typedef struct kcl_amg_device_ops {
  /* Can set-ups of this matrix be computed on the context's device? */
  bool (*possible)(const kcl_context *ctx, const kcl_csr *A);
  /* Are the kernels compiled, by this process or an earlier one? Then most of a cycle's are, too. aggregation: of smoothed
   * aggregation, or of the classical coarsening. */
  bool (*compiled)(kcl_context *ctx, kcl_type type, bool aggregation);
  /* Begins to load what a set-up of A will need, in the background. */
  void (*ahead)(kcl_context *ctx, const kcl_csr *A, kcl_type type, bool aggregation);
  kcl_builder_ops build;
} kcl_amg_device_ops;

extern const kcl_amg_device_ops *const kcl_amg_device_backend; /* NULL: a build without OpenCL */

#endif
