/* "KIND:SIZE" to a matrix: the registry of generators and the parsing of their argument.
 *
 *   SIZE = N | NxM | NxMxK, decimal numbers of at least 1      poisson2d:100  poisson3d:100x80x60
 */
#include "data/generators/generate.h"

#define KCL_GENERATOR(symbol) extern const kcl_generator symbol;
#include "data/generators/list.def"
#undef KCL_GENERATOR

#define KCL_GENERATOR(symbol) &symbol,
const kcl_generator *const kcl_generators[] = {
#include "data/generators/list.def"
};
#undef KCL_GENERATOR
const int kcl_generator_count = (int)(sizeof kcl_generators / sizeof *kcl_generators);

static const char *generator_name(int i) { return kcl_generators[i]->name; }

/* Parses a number >= 1 at *s and moves *s behind it; 0 if there is none or it is above 2^31 - 1. */
static int64_t parse_positive(const char **s) {
  int64_t n = 0;
  for (; **s >= '0' && **s <= '9'; (*s)++)
    if (n <= INT32_MAX) n = 10 * n + (**s - '0');
  return n <= INT32_MAX ? n : 0;
}

static int parse_numbers_of_size(kcl_context *ctx, const char *kind_size, const char *s,
                                 int64_t size[3], int *n_sizes) {
  *n_sizes = 0;
  while (*n_sizes < 3) {
    size[*n_sizes] = parse_positive(&s);
    if (size[(*n_sizes)++] < 1) break;
    if (!*s) return KCL_OK;
    if (*s++ != 'x') break;
  }
  return kcl_fail(
      ctx, KCL_USAGE,
      "'%.99s': the size after the colon is one to three whole numbers from 1 to 2147483647 "
      "joined by x, such as 100 or 100x80x60",
      kind_size);
}

/* The generator and the numbers of its size. */
static int choose_generator(kcl_context *ctx, const char *kind_size, const kcl_generator **g,
                            int64_t size[3], int *n_sizes) {
  char kind[64] = "";
  int i, rc = kcl_need(ctx, "kind_size", kind_size);
  if (rc) return rc;
  const char *colon = strchr(kind_size, ':');
  size_t length = colon ? (size_t)(colon - kind_size) : strlen(kind_size);
  memcpy(kind, kind_size, length < sizeof kind ? length : sizeof kind - 1);
  KCL_CALL(kcl_find_name(ctx, "generator", kind, kcl_generator_count, generator_name, &i));
  *g = kcl_generators[i];
  if (!colon)
    return kcl_fail(ctx, KCL_USAGE, "'%s' lacks its size: write %s:SIZE, such as %s", kind, kind,
                    (*g)->example);
  return parse_numbers_of_size(ctx, kind_size, colon + 1, size, n_sizes);
}

static int describe_system(kcl_context *ctx, const kcl_generator *g, const int64_t *size,
                           int n_sizes, kcl_formula *out) {
  if (g->grid_row)
    return kcl_grid_formula(ctx, g->name, g->grid_dims, size, n_sizes, g->grid_row, out);
  return g->describe(ctx, size, n_sizes, out);
}

int kcl_generate_describe(kcl_context *ctx, const char *kind_size, kcl_formula *out) {
  const kcl_generator *g;
  int64_t size[3];
  int n_sizes, rc = choose_generator(ctx, kind_size, &g, size, &n_sizes);
  *out = (kcl_formula){0};
  return rc || g->make ? rc : describe_system(ctx, g, size, n_sizes, out);
}

static int make_all(kcl_context *ctx, const kcl_generator *g, const int64_t *size, int n_sizes,
                    kcl_csr **A, kcl_dense **b) {
  KCL_OWNED_BY(kcl_formula_free) kcl_formula f = {0};
  if (g->make) return g->make(ctx, size, n_sizes, A, b);
  KCL_CALL(describe_system(ctx, g, size, n_sizes, &f));
  return kcl_formula_rows(ctx, &f, 0, f.rows.rows, A, b);
}

int kcl_generate(kcl_context *ctx, const char *kind_size, kcl_csr **A, kcl_dense **b) {
  const kcl_generator *g;
  int64_t size[3];
  int n_sizes;
  if (b) *b = NULL;
  KCL_CALL(kcl_need(ctx, "A", A));
  *A = NULL;
  int rc = choose_generator(ctx, kind_size, &g, size, &n_sizes);
  if (!rc) rc = make_all(ctx, g, size, n_sizes, A, b);
  if (rc) kcl_csr_free(A);
  if (rc && b) kcl_dense_free(b);
  return rc;
}
