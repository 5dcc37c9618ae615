/* What the two writers of OpenCL text share: codegen.c, a kernel a stage, and codegen_stay.c. */
#ifndef KCL_CODEGEN_H
#define KCL_CODEGEN_H

#include "core/opencl.h"

typedef struct kcl_text {
  char *data;
  size_t length, room;
  bool failed;
} kcl_text;
void kcl_put(kcl_text *t, const char *format, ...) KCL_PRINTF(2, 3);

/* What is different in a kernel that stays; NULL in one of a stage. Held vectors are v[turn], turn counting a
 * work-item's elements; sums of rows that come early wait in row[turn]. */
typedef struct kcl_staying {
  const kcl_geometry *g;
  int lanes;     /* work-items that share an element */
  bool replaces; /* the stages are those of REPLACE, every so many passes */
} kcl_staying;

/* ---- of a kernel that stays */
static inline const kcl_matrix *kcl_matrix_of(const kcl_stage *s, const kcl_staying *stay) {
  return stay && stay->g->near ? stay->g->near : s->A;
}
bool kcl_holds(const kcl_program *k, const kcl_staying *stay, kcl_vec v);
/* Other work-items gather what is written here, so they are shown it (grid.clh). */
bool kcl_shows(const kcl_program *k, const kcl_staying *stay, const kcl_stage *s, kcl_vec v);
/* Is the product of a stage that stays done while the sums before it are still under way? */
bool kcl_comes_early(const kcl_program *k, const kcl_stage *s, const kcl_staying *stay);
void kcl_put_staying_kernel(kcl_text *t, const kcl_program *k, const kcl_geometry *g);

/* ---- of any kernel; stay: NULL in one of a stage */
void kcl_put_scalar_op(kcl_text *t, int width, const kcl_op *o, kcl_slot target);
void kcl_put_fold(kcl_text *t, const kcl_stage *before);
void kcl_put_hand_over(kcl_text *t, int width, const kcl_stage *last);
enum {
  KCL_NAMES,
  KCL_NAMES_TYPED,
  KCL_NAMES_WRITTEN
}; /* the last: typed, scratch as prepare() sees it */
void kcl_put_arrays(kcl_text *t, const kcl_matrix *m, int typed, const char *prefix);
void kcl_put_format(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                    const kcl_staying *stay, bool cpu);
void kcl_put_product(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                     const char *prefix, const kcl_staying *stay, bool cpu);
void kcl_put_own_elements(kcl_text *t, const kcl_staying *stay);
void kcl_put_elementwise(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                         const char *prefix, const kcl_staying *stay, bool cpu);

#endif
