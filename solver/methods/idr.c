/* IDR(s) for general A, here s = 4: residuals in shrinking spaces, made orthogonal to s fixed vectors p.
 * Sonneveld & van Gijzen (2008), bi-orthogonal as in van Gijzen & Sonneveld (2011), algorithm 2, whose
 * orthogonalisation takes all dot products of a step in one reduction, as in Collignon & van Gijzen (2011).
 * Preconditioned from the right: r is the true residual b - A x.
 *
 * A pass over the loop is s + 1 iterations of one product each: 2 s + 3 stages, and besides A 106 n s, 118 n s with
 * Jacobi.
 */
#include "core/program/ranks.h"
#include "solver/methods/method.h"

enum { S = 4 };

typedef struct vars {
  kcl_vec x, r, z, v, mv, t, p[S], g[S], u[S]; /* z = M^-1 r, mv = M^-1 v, g = A u */
  kcl_slot f[S], m[S][S];                      /* f_i = p_i^H r, m_ij = p_i^H g_j, 0 for i < j */
  kcl_slot a[S], c[S], d[S], b, rr, tr, tt, omega, cosine, larger, t1;
} vars;

/* s = s - a b */
static void idr_subtract(kcl_program *k, const vars *v, kcl_slot s, kcl_slot a, kcl_slot b) {
  kcl_multiply(k, v->t1, plus(a), plus(b));
  kcl_add(k, s, plus(s), minus(v->t1));
}

/* c solves the lower right triangle of m c = f from `first` on, and gives the next direction there:
 * u = omega M^-1 (r - G c) + U c. */
static void solve_triangle(kcl_program *k, const vars *v, int first) {
  for (int i = first; i < S; i++) {
    kcl_assign(k, v->c[i], plus(v->f[i]));
    for (int j = first; j < i; j++) idr_subtract(k, v, v->c[i], v->m[i][j], v->c[j]);
    kcl_divide(k, v->c[i], plus(v->c[i]), plus(v->m[i][i]));
  }
}

static void idr_direction(kcl_program *k, const vars *v, int first) {
  kcl_vec u = v->u[first], from = v->r;
  for (int i = first; i < S; i++, from = v->v)
    kcl_lincomb(k, v->v, KCL_ONE, from, minus(v->c[i]), v->g[i]); /* v = r - G c            */
  kcl_precondition(k, v->mv, v->v, false);
  kcl_lincomb(k, u, plus(v->c[first]), u, plus(v->omega), v->mv); /* u = omega M^-1 v       */
  for (int i = first + 1; i < S; i++)
    kcl_lincomb(k, u, KCL_ONE, u, plus(v->c[i]), v->u[i]); /*     + U c              */
}

/* Scalars of step n from d = P^H g_n: a makes g_n orthogonal to p_0 ... p_(n-1), column n of m follows,
 * and b makes r orthogonal to p_n as well. */
static void idr_orthogonalise(kcl_program *k, const vars *v, int n) {
  for (int i = 0; i < S; i++) {
    for (int j = 0; j < n && j < i; j++) idr_subtract(k, v, v->d[i], v->a[j], v->m[i][j]);
    if (i < n)
      kcl_divide(k, v->a[i], plus(v->d[i]), plus(v->m[i][i]));
    else
      kcl_assign(k, v->m[i][n], plus(v->d[i]));
  }
  kcl_need_nonzero(k, v->m[n][n], KCL_BREAKDOWN_SIGMA);
  kcl_divide(k, v->b, plus(v->f[n]), plus(v->m[n][n])); /* b = f_n / m_nn         */
  for (int i = n + 1; i < S; i++) idr_subtract(k, v, v->f[i], v->b, v->m[i][n]);
}

static void idr_step(kcl_program *k, const vars *v, int n) {
  kcl_apply(k, v->g[n], kcl_A(k), v->u[n]);                          /* g_n = A u_n            */
  for (int i = 0; i < S; i++) kcl_dot(k, v->d[i], v->p[i], v->g[n]); /* d = P^H g_n          */
  idr_orthogonalise(k, v, n);
  solve_triangle(k, v, n + 1);
  for (int i = 0; i < n; i++) {
    kcl_lincomb(k, v->g[n], KCL_ONE, v->g[n], minus(v->a[i]), v->g[i]); /* g_n = g_n - a_i g_i */
    kcl_lincomb(k, v->u[n], KCL_ONE, v->u[n], minus(v->a[i]), v->u[i]); /* u_n = u_n - a_i u_i */
  }
  kcl_lincomb(k, v->r, KCL_ONE, v->r, minus(v->b), v->g[n]); /* r = r - b g_n          */
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->b), v->u[n]);  /* x = x + b u_n          */
  if (n + 1 < S)
    idr_direction(k, v, n + 1);
  else
    kcl_precondition(k, v->z, v->r, false); /* z = M^-1 r             */
  kcl_dot(k, v->rr, v->r, v->r);            /* rr = r^H r             */
  kcl_end_iteration(k, v->rr);              /* small enough?          */
}

/* Into the next space: r = r - omega t with t = A M^-1 r. Where t and r are nearly orthogonal, omega is
 * made larger than the least residual would have it (Sleijpen & van der Vorst 1995). */
static void next_space(kcl_program *k, const vars *v) {
  kcl_apply(k, v->t, kcl_A(k), v->z);                /* t = A z                */
  kcl_dot(k, v->tr, v->t, v->r);                     /* tr = t^H r             */
  kcl_dot(k, v->tt, v->t, v->t);                     /* tt = t^H t             */
  kcl_divide(k, v->omega, plus(v->tr), plus(v->tt)); /* omega = tr / tt        */
  kcl_modulus(k, v->cosine, plus(v->tr));
  kcl_root(k, v->t1, plus(v->tt)), kcl_divide(k, v->cosine, plus(v->cosine), plus(v->t1));
  kcl_root(k, v->t1, plus(v->rr)), kcl_divide(k, v->cosine, plus(v->cosine), plus(v->t1));
  kcl_add(k, v->t1, plus(v->cosine), constant_coef(-0.7)); /* cosine = |tr| / |t| |r| */
  kcl_modulus(k, v->t1, plus(v->t1));
  kcl_add(k, v->larger, plus(v->cosine), constant_coef(0.7));
  kcl_add(k, v->larger, plus(v->larger), plus(v->t1));
  kcl_multiply(k, v->larger, constant_coef(0.5), plus(v->larger)); /* max(cosine, 0.7)       */
  kcl_divide(k, v->larger, plus(v->larger), plus(v->cosine));
  kcl_multiply(k, v->omega, plus(v->omega), plus(v->larger));     /* omega max / cosine     */
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->omega), v->z);      /* x = x + omega z        */
  kcl_lincomb(k, v->r, KCL_ONE, v->r, minus(v->omega), v->t);     /* r = r - omega t        */
  kcl_dot(k, v->rr, v->r, v->r);                                  /* rr = r^H r             */
  for (int i = 0; i < S; i++) kcl_dot(k, v->f[i], v->p[i], v->r); /* f = P^H r              */
  kcl_end_iteration(k, v->rr);                                    /* small enough?          */
  kcl_need_nonzero(k, v->omega, KCL_BREAKDOWN_OMEGA);             /* omega != 0, or stop    */
  solve_triangle(k, v, 0);
  idr_direction(k, v, 0);
}

static void idr_start(kcl_program *k, const vars *v) {
  kcl_residual(k, v->r, v->rr); /* r = b - A x            */
  kcl_precondition(k, v->z, v->r, false);
  for (int i = 0; i < S; i++) {
    kcl_dot(k, v->f[i], v->p[i], v->r); /* f = P^H r              */
    kcl_zero_vector(k, v->g[i]);        /* G = 0, U = 0 but u_0 = M^-1 r */
    if (i)
      kcl_zero_vector(k, v->u[i]);
    else
      kcl_copy_vector(k, v->u[0], v->z);
    for (int j = 0; j <= i; j++)
      kcl_assign(k, v->m[i][j], constant_coef(i == j)); /* m = I         */
  }
  kcl_assign(k, v->omega, KCL_ONE);
}

/* A random vector of norm about 1, the next of the stream, the same in every run and on any number of ranks: each keeps its
 * own rows. */
static kcl_vec shadow(kcl_program *k, int number, int64_t n, uint64_t *stream) {
  const kcl_ranks *ranks = kcl_program_ranks(k);
  uint64_t state = *stream;
  bool complex = kcl_type_complex(k->type);
  double *values = NULL;
  const int64_t parts = complex ? 2 : 1, all = parts * (ranks ? ranks->rows : n),
                first = ranks ? parts * ranks->first_row : 0;
  int rc = kcl_alloc(k->ctx, n * parts, sizeof *values, "a shadow vector", (void **)&values);
  for (int64_t i = 0; !rc && i < all; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia 2003 */
    if (i >= first && i < first + n * parts)
      values[i - first] = ((double)(state >> 11) * 0x1p-52 - 1) * sqrt(3 / (double)all);
  }
  *stream = state;
  kcl_vec p = rc ? k->x : kcl_constant(k, n, complex ? KCL_Z : KCL_D, values, "p%d", number);
  if (rc) k->status = rc;
  free(values);
  return p;
}

static void idr_record(kcl_program *k) {
  vars v = {
      .x = kcl_x(k), .r = kcl_vector(k, "r"), .v = kcl_vector(k, "v"), .t = kcl_vector(k, "t")};
  uint64_t stream = 88172645463325252u;
  v.z = kcl_preconditioned(k, v.r, "z"), v.mv = kcl_preconditioned(k, v.v, "mv");
  kcl_slot *slot[] = {&v.b, &v.rr, &v.tr, &v.tt, &v.omega, &v.cosine, &v.larger, &v.t1};
  kcl_new_scalars(k, "b rr tr tt omega cosine larger t1", slot);
  for (int i = 0; i < S; i++) {
    v.p[i] = shadow(k, i, k->n, &stream);
    v.g[i] = kcl_vector(k, "g%d", i), v.u[i] = kcl_vector(k, "u%d", i);
    v.f[i] = kcl_scalar(k, "f%d", i), v.a[i] = kcl_scalar(k, "a%d", i),
    v.c[i] = kcl_scalar(k, "c%d", i), v.d[i] = kcl_scalar(k, "d%d", i);
    for (int j = 0; j <= i; j++) v.m[i][j] = kcl_scalar(k, "m%d_%d", i, j);
  }
  kcl_begin(k, KCL_START);
  idr_start(k, &v);
  kcl_begin(k, KCL_LOOP);
  for (int n = 0; n < S; n++) idr_step(k, &v, n);
  next_space(k, &v);
}

const kcl_method kcl_method_idr = {.name = "idr",
                                   .summary =
                                       "induced dimension reduction, IDR(4), any square matrix",
                                   .source = "Sonneveld & van Gijzen 2008",
                                   .record = idr_record};
