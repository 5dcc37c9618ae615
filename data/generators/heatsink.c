/* Steady heat in a finned aluminium heat sink on a chip: -div(k grad T) = q, k dT/dn = -h T outside.
 *
 *   |  |  |  |   10 fins 2.25 x 31.5 mm every 6.75 mm, 90 mm long      aluminium  200 W/mK
 *   ==========   base 63 x 90 x 6.75 mm                                aluminium
 *      ====      spreader 36 x 36 x 2.25 mm, on it 0.1 mm of paste     copper 390, paste 4 W/mK
 *       ==       die 18 x 18 x 2.25 mm, source of 65 W                 silicon 120 W/mK
 *
 * T: rise above ambient in K; h = 25 W/m2K on every outer face. Finite volumes on cubes of
 * 90 mm / SIZE; air cells are not unknowns; resistances of half cells (and of paste) are in series, which
 * is the harmonic mean (Patankar 1980). A in W/K, b in W: row sums are conductances to ambient, so that
 * 1'A T = 1'b = 65 W. Symmetric positive definite. */
#include "data/generators/generate.h"
#include "data/generators/heatsink.h"

enum { AIR, DIE, SPREADER, SINK };
static const double length = 90e-3, width = 63e-3, height = 42.75e-3;              /* m, y x z */
static const double die_top = 2.25e-3, spreader_top = 4.5e-3, base_top = 11.25e-3; /* m, z */
static const double die_half = 9e-3, spreader_half = 18e-3; /* m, x and y from the middle */
static const double pitch = 6.75e-3, fin = 2.25e-3;         /* m */
static const double conductivity[4] = {0, 120, 390, 200};   /* W/mK */
static const double paste = 0.1e-3 / 4, convection = 25, power = 65; /* m2K/W, W/m2K, W */

typedef struct heatsink_body {
  kcl_grid grid;
  double h;               /* edge of a cell, m */
  int64_t unknowns, dies; /* cells: not air, in the die */
  int32_t *unknown;       /* [cells], -1 in air */
  int32_t *cell;          /* [unknowns] */
} heatsink_body;

static void free_body(heatsink_body *s) { free(s->unknown), free(s->cell); }

/* Material at the centre of cell c. x and y are distances from the axis of symmetry. */
static int material_at(const heatsink_body *s, const int64_t c[3]) {
  double x = fabs((double)(2 * c[0] + 1 - s->grid.n[0])) * s->h / 2;
  double y = fabs((double)(2 * c[1] + 1 - s->grid.n[1])) * s->h / 2;
  double z = ((double)c[2] + 0.5) * s->h;
  if (z < die_top) return x < die_half && y < die_half ? DIE : AIR;
  if (z < spreader_top) return x < spreader_half && y < spreader_half ? SPREADER : AIR;
  if (z < base_top) return SINK;
  return fabs(fmod(x, pitch) - pitch / 2) < fin / 2 ? SINK : AIR;
}

/* W/K through the face between a cell of `here` and its neighbour, or the outside. */
static double conductance(const heatsink_body *s, int here, int there) {
  double area = s->h * s->h, half = s->h / 2 / conductivity[here];
  if (there == AIR) return area / (half + 1 / convection);
  bool pasted = (here == SPREADER && there == SINK) || (here == SINK && there == SPREADER);
  return area / (half + s->h / 2 / conductivity[there] + (pasted ? paste : 0));
}

static int heatsink_row(const void *self, int64_t i, int32_t *col, double *val) {
  const heatsink_body *s = self;
  int64_t c[3], n[3], cell = s->cell[i];
  int k = 0, diagonal = 0;
  double sum = 0;
  kcl_grid_cell(&s->grid, cell, c);
  int here = material_at(s, c);
  for (int d = KCL_DOWN; d <= KCL_UP; d++) {
    int64_t j = kcl_grid_neighbour(&s->grid, cell, c, d);
    bool solid = j >= 0 && s->unknown[j] >= 0;
    kcl_grid_cell(&s->grid, solid ? j : cell, n);
    double face = d == KCL_CENTRE ? 0 : conductance(s, here, solid ? material_at(s, n) : AIR);
    sum += face;
    if (!solid) continue;
    if (d == KCL_CENTRE) diagonal = k;
    if (col) col[k] = s->unknown[j], val[k] = -face;
    k++;
  }
  if (col) val[diagonal] = sum;
  return k;
}

static int number_cells(kcl_context *ctx, heatsink_body *s) {
  int64_t cells = kcl_grid_cells(&s->grid), c[3];
  const char *what = "the cells of the heat sink";
  int rc = kcl_alloc(ctx, cells, sizeof *s->unknown, what, (void **)&s->unknown);
  if (!rc) rc = kcl_alloc(ctx, cells, sizeof *s->cell, what, (void **)&s->cell);
  for (int64_t i = 0; !rc && i < cells; i++) {
    kcl_grid_cell(&s->grid, i, c);
    int here = material_at(s, c);
    s->dies += here == DIE;
    s->unknown[i] = here == AIR ? -1 : (int32_t)s->unknowns;
    if (here != AIR) s->cell[s->unknowns++] = (int32_t)i;
  }
  return rc;
}

/* Frees nothing on failure: the caller owns s->unknown and s->cell either way. */
static int build_body(kcl_context *ctx, int64_t size, heatsink_body *s) {
  *s = (heatsink_body){.h = length / (double)size};
  if (size < 40)
    return kcl_fail(ctx, KCL_USAGE,
                    "heatsink needs a SIZE of at least 40 cells along its 90 mm: "
                    "with fewer the thinnest parts (2.25 mm) would vanish between cells");
  if (size > 1600)
    return kcl_fail(ctx, KCL_USAGE,
                    "heatsink takes a SIZE of at most 1600 (column indices have 32 bits)");
  s->grid.n[0] = llround(width / s->h);
  s->grid.n[1] = size;
  s->grid.n[2] = llround(height / s->h);
  return number_cells(ctx, s);
}

int kcl_heatsink_map(kcl_context *ctx, int64_t size, int64_t nxyz[3], double spacing[3],
                     int32_t **unknown_of_cell) {
  KCL_OWNED_BY(free_body) heatsink_body s = {.h = 0};
  *unknown_of_cell = NULL;
  KCL_CALL(build_body(ctx, size, &s));
  for (int a = 0; a < 3; a++) nxyz[a] = s.grid.n[a], spacing[a] = s.h;
  *unknown_of_cell = s.unknown, s.unknown = NULL;
  return KCL_OK;
}

static void heat(const heatsink_body *s, double *b) {
  int64_t c[3];
  for (int64_t i = 0; i < s->unknowns; i++) {
    kcl_grid_cell(&s->grid, s->cell[i], c);
    if (material_at(s, c) == DIE) b[i] = power / (double)s->dies;
  }
}

static int heatsink_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                         kcl_dense **b) {
  KCL_OWNED_BY(free_body) heatsink_body s = {.h = 0};
  if (n_sizes != 1)
    return kcl_fail(ctx, KCL_USAGE,
                    "heatsink takes one number, the cells along its 90 mm: heatsink:80");
  KCL_CALL(build_body(ctx, size[0], &s));
  kcl_rows rows = {s.unknowns, KCL_D, KCL_SYMMETRIC, KCL_REAL, heatsink_row, &s};
  KCL_CALL(kcl_rows_matrix(ctx, &rows, A));
  KCL_CALL(kcl_rhs_zero(ctx, *A, b));
  if (b) heat(&s, (*b)->val);
  return KCL_OK;
}

const kcl_generator kcl_gen_heatsink = {
    .name = "heatsink",
    .example = "heatsink:80",
    .summary = "heat in a finned cooler on a 65 W chip, SIZE cells along 90 mm, SPD",
    .make = heatsink_make};
