/* Pictures of a residual history and of the structure of a matrix. */
#ifndef CLI_DRAW_PLOT_H
#define CLI_DRAW_PLOT_H

#include "krylocl/io.h"

typedef struct cli_curve { /* one line of a convergence history */
  const double *v;
  int64_t n;
  double recomputed; /* the true residual at its end */
} cli_curve;

/* Draws residual histories [count]: .svg, or .png by gnuplot. */
int cli_plot_history(const char *path, const char *title, const cli_curve *curves, int64_t count,
                     double target);
/* Draws the positions of the entries of A, likewise. */
int cli_plot_structure(const char *path, const char *title, const kcl_csr *A);

#endif
