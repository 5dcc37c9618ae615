/* The structure of a matrix as pictures show it: its entries counted in the cells of a raster, and its rows counted by
 * their lengths. */
#include "cli/draw/structure.h"
#include "cli/ui/say.h"
#include <math.h>

/* The cell of index i, with `size` indices in all. */
static int64_t raster_cell(int64_t i, int64_t cells, int64_t size) {
  return size <= cells ? i : (int64_t)((double)i * (double)cells / (double)size);
}

int cli_raster_count(const kcl_csr *A, int most, cli_raster *r) {
  *r = (cli_raster){.nx = A->cols < most ? A->cols : most, .ny = A->rows < most ? A->rows : most};
  r->cell = calloc((size_t)(r->nx * r->ny + 1), sizeof *r->cell);
  if (!r->cell) return cli_fail(KCL_MEMORY, "out of memory: the picture");
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t *c =
          &r->cell[raster_cell(i, r->ny, A->rows) * r->nx + raster_cell(A->col[k], r->nx, A->cols)];
      if (++*c > r->max) r->max = *c;
    }
  return 0;
}

void cli_raster_digits(const cli_raster *r, char *digits) {
  for (int64_t i = 0; i < r->nx * r->ny; i++)
    digits[i] =
        r->cell[i] == 0
            ? '0'
            : (char)('0' + (int)ceil(9 * log1p((double)r->cell[i]) / log1p((double)r->max)));
}

/* The bin of a length: one for each length, or by powers of two: 0, 1, 2 to 3, 4 to 7 ... */
static int bin_of(int64_t length, int64_t least, bool powers) {
  int b = 0;
  if (!powers) return (int)(length - least);
  for (; length; length >>= 1) b++;
  return b;
}

int cli_row_lengths(const kcl_csr *A, cli_lengths bin[CLI_LENGTHS]) {
  int64_t least = A->rows ? INT64_MAX : 0, most = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    int64_t n = A->row_ptr[i + 1] - A->row_ptr[i];
    if (n < least) least = n;
    if (n > most) most = n;
  }
  const bool powers = most - least >= 32;
  const int first = bin_of(least, least, powers), count = bin_of(most, least, powers) - first + 1;
  for (int b = 0; b < count; b++) {
    const int64_t power = b + first ? INT64_C(1) << (b + first - 1) : 0;
    bin[b] = (cli_lengths){.from = least + b, .to = least + b};
    if (powers) bin[b] = (cli_lengths){.from = power, .to = power ? 2 * power - 1 : 0};
  }
  for (int64_t i = 0; i < A->rows; i++)
    bin[bin_of(A->row_ptr[i + 1] - A->row_ptr[i], least, powers) - first].rows++;
  return A->rows ? count : 0;
}
