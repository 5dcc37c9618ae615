/* The system A x = b on the host: files are read, types promoted to a common one, sizes checked. */
#include "cli/problem/problem.h"
#include "cli/input/input.h"
#include "cli/ranks/files.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

static kcl_type wanted_type(const cli_options *o, bool complex_data) {
  if (!o->precision) return complex_data ? KCL_Z : KCL_D;
  return (kcl_type)(strchr("sdcz", o->precision[0]) - "sdcz");
}

static kcl_type host_type(kcl_type t) { return kcl_type_complex(t) ? KCL_Z : KCL_D; }

/* Refuses to convert complex numbers to real ones. */
static int check_convertible(const char *name, kcl_type from, kcl_type to) {
  if (!kcl_type_complex(from) || kcl_type_complex(to)) return 0;
  return cli_fail(KCL_USAGE, "%s is complex: --precision c or z", name);
}

static int promote_matrix(kcl_context *ctx, kcl_type t, const char *name, kcl_csr **A) {
  if (*A == NULL || (*A)->type == t) return 0;
  kcl_csr *B = NULL;
  CLI_CALL(check_convertible(name, (*A)->type, t));
  CLI_CALL(cli_lib(kcl_csr_convert(ctx, *A, t, &B)));
  kcl_csr_free(A);
  *A = B;
  return 0;
}

static int promote_dense(kcl_context *ctx, kcl_type t, const char *name, kcl_dense **v) {
  if (*v == NULL || (*v)->type == t) return 0;
  kcl_dense *w = NULL;
  CLI_CALL(check_convertible(name, (*v)->type, t));
  CLI_CALL(cli_lib(kcl_dense_convert(ctx, *v, t, &w)));
  kcl_dense_free(v);
  *v = w;
  return 0;
}

static int check_size(const char *path, const kcl_dense *v, int64_t rows, const char *of) {
  if (v->rows == rows && v->cols > 0) return 0;
  return cli_fail(KCL_INPUT, "%s holds %s x %s numbers, the matrix has %s %s", path,
                  cli_count(v->rows).s, cli_count(v->cols).s, cli_count(rows).s, of);
}

/* b = A*1 */
static int set_ones_rhs(kcl_context *ctx, cli_problem *p) {
  CLI_CALL(cli_lib(kcl_dense_create(ctx, p->A->rows, 1, p->A->type, &p->b)));
  kcl_csr_product(p->A, NULL, NULL, p->b->val);
  p->ones = true;
  return 0;
}

/* Sets x: as read, a single column repeated for every column of b; zeros without a file. */
static int set_guess(kcl_context *ctx, cli_problem *p, const char *path, const kcl_dense *given) {
  const int64_t n = p->spread ? p->columns : p->A->cols;
  int rc = cli_lib(kcl_dense_create(ctx, n, p->b->cols, p->A->type, &p->x));
  if (rc || !given) return rc;
  CLI_CALL(check_size(path, given, n, "columns"));
  if (given->cols != 1 && given->cols != p->b->cols)
    return cli_fail(KCL_INPUT, "%s has %s columns, the right-hand side %s", path,
                    cli_count(given->cols).s, cli_count(p->b->cols).s);
  p->x_repeated = given->cols != p->b->cols;
  for (int64_t j = 0; j < p->b->cols; j++)
    memcpy(cli_column(p->x, j), cli_column(given, given->cols == 1 ? 0 : j),
           (size_t)p->x->rows * kcl_type_size(p->x->type));
  return 0;
}

static bool is_complex(const kcl_dense *v) { return v && kcl_type_complex(v->type); }

static int read_system(kcl_context *ctx, const cli_options *o, const char *path, cli_problem *p,
                       kcl_dense **b, kcl_dense **x0) {
  if (p->spread) return cli_ranks_read(ctx, o, path, p, b, x0);
  int rc = cli_read(ctx, o, path, &p->A, b, x0);
  if (!rc) p->whole = *p->A;
  p->whole.row_ptr = NULL;
  p->whole.col = NULL;
  p->whole.val = NULL;
  return rc;
}

/* Reads a vector file. own: the rows on this rank, if there are several. */
static int read_vector_file(kcl_context *ctx, const cli_options *o, const char *path,
                            const cli_problem *p, int64_t own, kcl_dense **out) {
  cli_busy(o, "reading %s", cli_base(path));
  if (p->spread) return cli_ranks_dense_read(ctx, path, own, out);
  return cli_lib(kcl_dense_read(ctx, path, out));
}

/* Mixes the bits of a counter: splitmix64, Steele, Lea & Flood 2014. */
static uint64_t mix_counter(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Fills x with ones or random numbers. first: the row of the whole vector that is row 0 of x. */
static void fill_vector(kcl_dense *x, int64_t first, bool ones) {
  const int64_t step = x->type == KCL_Z ? 2 : 1;
  for (int64_t i = 0; i < x->rows * x->cols * step; i++)
    x->val[i] = ones ? i % step == 0
                     : ldexp((double)(mix_counter((uint64_t)(first * step + i)) >> 11), -52) - 1;
}

/* Reads a vector by its name: all columns of a file, or n x cols numbers in the type of A for a word. */
static int load_vector(kcl_context *ctx, const cli_options *o, const char *name,
                       const cli_problem *p, int64_t n, int64_t cols, kcl_dense **out) {
  const kcl_type type = host_type(wanted_type(o, kcl_type_complex(p->A->type)));
  if (!cli_is_word(name)) return read_vector_file(ctx, o, name, p, n, out);
  int rc = cli_lib(kcl_dense_create(ctx, n, cols, type, out));
  if (!rc) fill_vector(*out, p->first_row, !strcmp(name, "ones"));
  return rc;
}

int cli_problem_load(kcl_context *ctx, const cli_options *o, const char *A, const char *b,
                     const char *x, cli_problem *p) {
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *given = NULL;
  double begin = cli_now();
  CLI_CALL(read_system(ctx, o, A, p, b ? NULL : &p->b, x || b ? NULL : &given));
  p->b_of_matrix = p->b != NULL;
  if (b) CLI_CALL(load_vector(ctx, o, b, p, p->A->rows, 1, &p->b));
  if (b) CLI_CALL(check_size(b, p->b, p->A->rows, "rows"));
  if (x) CLI_CALL(load_vector(ctx, o, x, p, p->spread ? p->columns : p->A->cols, 1, &given));
  p->precision =
      wanted_type(o, kcl_type_complex(p->A->type) || is_complex(p->b) || is_complex(given));
  CLI_CALL(promote_matrix(ctx, host_type(p->precision), A, &p->A));
  CLI_CALL(promote_dense(ctx, host_type(p->precision), b ? b : A, &p->b));
  CLI_CALL(promote_dense(ctx, host_type(p->precision), x ? x : A, &given));
  if (!p->b) CLI_CALL(set_ones_rhs(ctx, p));
  CLI_CALL(set_guess(ctx, p, x ? x : A, given));
  p->seconds_read = cli_now() - begin;
  return 0;
}

int cli_product_load(kcl_context *ctx, const cli_options *o, const char *A, const char *x,
                     cli_problem *p) {
  double begin = cli_now();
  CLI_CALL(cli_read(ctx, o, A, &p->A, NULL, NULL));
  const int64_t n = o->adjoint ? p->A->rows : p->A->cols;
  CLI_CALL(load_vector(ctx, o, x, p, n, 1, &p->x));
  CLI_CALL(check_size(x, p->x, n, o->adjoint ? "rows" : "columns"));
  p->precision = wanted_type(o, kcl_type_complex(p->A->type) || is_complex(p->x));
  CLI_CALL(promote_dense(ctx, host_type(p->precision), x, &p->x));
  CLI_CALL(promote_matrix(ctx, p->precision, A, &p->A));
  p->seconds_read = cli_now() - begin;
  return 0;
}

int cli_addend_load(kcl_context *ctx, const cli_options *o, const char *y, const cli_problem *p,
                    kcl_dense **out) {
  const int64_t n = o->adjoint ? p->A->cols : p->A->rows, cols = p->x->cols;
  CLI_CALL(load_vector(ctx, o, y, p, n, cols, out));
  CLI_CALL(check_size(y, *out, n, o->adjoint ? "columns" : "rows"));
  if ((*out)->cols != cols)
    CLI_CALL(cli_fail(KCL_INPUT, "%s has %s columns, x has %s", y, cli_count((*out)->cols).s,
                      cli_count(cols).s));
  return promote_dense(ctx, host_type(p->precision), y, out);
}

int cli_near_null_load(kcl_context *ctx, const cli_options *o, cli_problem *p) {
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *at = NULL;
  if (o->near_null && o->coordinates)
    return cli_fail(KCL_USAGE, "--near-null and --coordinates: one of them is enough");
  if (o->near_null) return cli_lib(kcl_dense_read(ctx, o->near_null, &p->near_null));
  if (!o->coordinates) return 0;
  CLI_CALL(cli_lib(kcl_dense_read(ctx, o->coordinates, &at)));
  return cli_lib(kcl_rigid_modes(ctx, at, &p->near_null));
}

void cli_problem_free(cli_problem *p) {
  kcl_csr_free(&p->A);
  kcl_dense_free(&p->near_null);
  kcl_dense_free(&p->b);
  kcl_dense_free(&p->x);
}

int cli_matrix_load(kcl_context *ctx, const cli_options *o, const char *path, kcl_csr **A,
                    kcl_type *precision) {
  CLI_CALL(cli_read(ctx, o, path, A, NULL, NULL));
  *precision = wanted_type(o, kcl_type_complex((*A)->type));
  return promote_matrix(ctx, host_type(*precision), path, A);
}

void cli_report_matrix(const cli_options *o, const char *path, const kcl_csr *A, double seconds) {
  cli_say(o, "matrix      %s: %s x %s, %s nonzeros, %s %s, read in %s\n", cli_base(path),
          cli_count(A->rows).s, cli_count(A->cols).s, cli_count(A->nnz).s, kcl_field_name(A->field),
          kcl_symmetry_name(A->symmetry), cli_seconds(seconds).s);
}
