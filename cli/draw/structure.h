/* The structure of a matrix as a raster, and the lengths of its rows. */
#ifndef CLI_DRAW_STRUCTURE_H
#define CLI_DRAW_STRUCTURE_H

#include "krylocl/io.h"

typedef struct cli_raster {
  int64_t nx, ny, max; /* cells; most entries in one */
  int64_t *cell;       /* [ny, nx] entries, to be freed */
} cli_raster;
/* Counts the entries of A in a raster with at most `most` cells in each direction. */
int cli_raster_count(const kcl_csr *A, int most, cli_raster *out);

/* Writes digits [ny, nx]: 0 for an empty cell, else 1 to 9 by the logarithm of its count. */
void cli_raster_digits(const cli_raster *r, char *digits);

enum { CLI_LENGTHS = 65 };

typedef struct cli_lengths { /* rows of from to to entries */
  int64_t from, to, rows;
} cli_lengths;

/* Counts rows by length: one bin for each length if lengths differ by less than 32, else powers of two. Returns
 * the number of bins. */
int cli_row_lengths(const kcl_csr *A, cli_lengths bin[CLI_LENGTHS]);

#endif
