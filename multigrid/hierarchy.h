/* Between levels.c, which builds a hierarchy, and cycle.c, which records its cycle: the data of such a preconditioner. */
#ifndef KCL_HIERARCHY_H
#define KCL_HIERARCHY_H

#include "multigrid/levels.h"

enum { KCL_NO_MATRIX = -1 };

typedef struct kcl_level {
  int64_t n;
  int degree;               /* of the polynomial that smooths; 1: a step with a diagonal */
  int A, P, R;              /* numbers of M's matrices; A of level 0: KCL_NO_MATRIX */
  int inverse;              /* of the coarsest; or KCL_NO_MATRIX */
  int d;                    /* number of M's vector for smoothing */
  bool twice;               /* corrected by two cycles of the next level */
  kcl_galerkin_shape shape; /* of the next level's system */
} kcl_level;

typedef struct kcl_hierarchy {
  int levels;
  int degree, aggressive, coarsest; /* as in the plan */
  double twice;
  bool hermitian;
  kcl_level level[KCL_MOST_LEVELS];
} kcl_hierarchy;

#endif
