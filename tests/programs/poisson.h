/* Shared by the programs of this folder: the 5-point Laplacian on m x m points, and how they end. */
#ifndef POISSON_H
#define POISSON_H

#include <krylocl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the library's message, unless a call succeeded. */
static inline void must(int status) {
  if (!status) return;
  fprintf(stderr, "status %d: %s\n", status, kcl_error());
  exit(status);
}

/* Ends the program with this text, unless it is true. */
static inline void expect(int is_true, const char *text) {
  if (is_true) return;
  fprintf(stderr, "not so: %s\n", text);
  exit(1);
}

/* 4 u_ij - u_(i-1)j - u_i(j-1) - u_i(j+1) - u_(i+1)j, zero outside: compressed rows, in arrays of the caller's: start [m^2 + 1], col
 * and val [5 m^2]. */
static inline kcl_entries poisson_entries(int m, int32_t *start, int32_t *col, double *val) {
  int k = 0;
  for (int row = 0; row < m * m; row++) {
    const int step[5] = {-m, -1, 0, 1, m};
    const int inside[5] = {row >= m, row % m > 0, 1, row % m < m - 1, row < m * (m - 1)};
    start[row] = k;
    for (int s = 0; s < 5; s++)
      if (inside[s]) col[k] = row + step[s], val[k++] = s == 2 ? 4 : -1;
  }
  start[m * m] = k;
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = m * m,
                       .cols = m * m,
                       .nnz = k,
                       .row = start,
                       .col = col,
                       .val = val,
                       .layout = KCL_CSR,
                       .row_bits = 32,
                       .col_bits = 32,
                       .type = 'd'};
}

#endif
