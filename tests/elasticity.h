/* Coordinates, from which rigid body modes are made. */
#ifndef ELASTICITY_H
#define ELASTICITY_H

#include "solver/calls.h"
#include <stdlib.h>

/* Coordinates of the nodes of elasticity:NxNxN (data/generators/elasticity.c). */
static inline kcl_dense *coordinates(kcl_context *ctx, int64_t n) {
  kcl_dense *X = NULL;
  const int64_t nodes = n * (n + 1) * (n + 1);
  if (kcl_dense_create(ctx, nodes, 3, KCL_D, &X)) exit(1);
  for (int64_t i = 0; i < nodes; i++) {
    const int64_t x = i % n + 1, y = i / n % (n + 1), z = i / n / (n + 1);
    X->val[i] = (double)x, X->val[nodes + i] = (double)y, X->val[2 * nodes + i] = (double)z;
  }
  return X;
}

#endif
