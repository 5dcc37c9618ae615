/* Series: consecutive small stages in one launch (docs/opencl.md). */
#ifndef KCL_OPENCL_SERIES_H
#define KCL_OPENCL_SERIES_H

#include "core/opencl/codegen/codegen.h"
#include "core/opencl/run/run.h"

/* ---- series.c */
void kcl_series_plan(kcl_run *r); /* r->series.geometry, if there are any */
/* Makes the table of r->series.program; launches l->stages stages from this one on. */
int kcl_series_open(kcl_run *r);
int kcl_series_launch(kcl_run *r, kcl_phase phase, int number, kcl_launch *l);
void kcl_series_close(kcl_run *r);

/* ---- series_parts.c. A stage of a series is a product, then operations on its rows. Neither depends on the other in the source, and
 * the lists do not depend on the system: the products are those of the stages and of the matrices that the program expects
 * (kcl_expect), the operations those of all stages that may share kernels; both in the order of their keys. */
enum { KCL_MOST_SERIES_PARTS = 64, KCL_SERIES_KEY = 1024 };
typedef struct kcl_series_part {
  kcl_stage stage;          /* one that has it; of a product, A may be an expected matrix */
  char key[KCL_SERIES_KEY]; /* equal for equal parts */
} kcl_series_part;
typedef struct kcl_series_parts {
  kcl_series_part *product, *operations; /* [products], [lists] */
  int products, lists;
} kcl_series_parts;
int kcl_series_parts_find(const kcl_program *k, const kcl_geometry *g, kcl_series_parts *out);
void kcl_series_parts_free(kcl_series_parts *p);
/* Their numbers for a stage. */
int kcl_series_product(const kcl_program *k, const kcl_series_parts *p, const kcl_stage *s);
int kcl_series_operations(const kcl_program *k, const kcl_series_parts *p, const kcl_stage *s);

/* ---- series_source.c. The words of a stage in the table of a series, as in kernels/series.cl. */
enum {
  KCL_WORD_PRODUCT,
  KCL_WORD_OPERATIONS,
  KCL_WORD_ELEMENTS,
  KCL_WORD_GROUPS,
  KCL_WORD_X,
  KCL_WORD_LANES,
  KCL_WORD_MATRIX, /* arrays, then integers */
  KCL_WORD_VECTOR = KCL_WORD_MATRIX + KCL_SERIES_MATRIX,
  KCL_WORD_SIZES =
      KCL_WORD_VECTOR +
      KCL_SERIES_VECTORS, /* of a guarded matrix: rows, columns, elements of each array */
  KCL_SIZE_WORDS = 2 + KCL_SERIES_MATRIX
};
static inline int kcl_series_size_words(const kcl_program *k) {
  return k->guarded ? KCL_SIZE_WORDS : 0;
}
static inline int kcl_series_words(const kcl_program *k) {
  return KCL_WORD_SIZES + kcl_series_size_words(k);
}
int kcl_put_series(kcl_source *t, const kcl_program *k, const kcl_geometry *g);

#endif
