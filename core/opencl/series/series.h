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

/* ---- series_source.c. The table of a series has `words` words per stage: function, elements, work-groups, then
 * arguments. */
enum { KCL_SERIES_ARGUMENTS = 3 };
int kcl_series_words(const kcl_program *k, const kcl_geometry *g);
/* A kind of stages: its first one. In an order in which hierarchies with the same kinds have the same source: by `key`. */
enum { KCL_MOST_KINDS = 256 };
typedef struct kcl_series_kind {
  int phase, number;
  char key[240]; /* the matrix's format, lanes and kinds of arrays, the operations */
} kcl_series_kind;
int kcl_series_kinds(const kcl_program *k, const kcl_geometry *g,
                     kcl_series_kind list[KCL_MOST_KINDS]); /* their number */
void kcl_put_series(kcl_source *t, const kcl_program *k, const kcl_geometry *g);

#endif
