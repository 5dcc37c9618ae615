/* Where the unknowns of the generator heatsink:SIZE lie, for drawing.
 *
 * Cells are numbered x + nx (y + ny z): x across the fins, y along them, z up from the chip; the
 * unknowns are the cells that are not air, in that order. */
#ifndef KCL_HEATSINK_H
#define KCL_HEATSINK_H
#include "core/base/base.h"

/* nxyz: cells per axis; spacing: their edges in m; unknown_of_cell [nz, ny, nx]: -1 in air, to be freed
 * with free(). */
int kcl_heatsink_map(kcl_context *ctx, int64_t size, int64_t nxyz[3], double spacing[3],
                     int32_t **unknown_of_cell);
#endif
