/* Cycles of gmres and fgmres, preconditioned from the right: r is the true residual b - A x. Saad & Schultz (1986); flexible, Saad
 * (1993): z_j = M^-1 v_j is kept for each j, as M may be another one each time, and x = x + Z y in place of x + M^-1 V y.
 *
 * Each new vector is made orthogonal twice by classical Gram-Schmidt (Giraud, Langou & Rozloznik 2005), whose dot products are one
 * reduction each. Vectors are not normalised; the inverses of their norms are in slots.
 *
 * A pass over the loop is m iterations of one product each; in the j-th, j = 0 ... m-1, three stages move besides A (3 j + 8) n s,
 * with Jacobi (3 j + 11) n s. x is updated at the end, or when the estimate, which is what is tested, is small enough.
 */
#include "solver/methods/method.h"

enum { MOST = KCL_MAX_RESTART };
enum {
  TOGETHER = 29
}; /* vectors beside w that fit into a stage: the last ones are read once for sums and dots */

typedef struct vars {
  int m;                           /* iterations per cycle          */
  bool flexible;                   /* each z has memory of its own  */
  kcl_vec x, v[MOST + 1], z[MOST]; /* z_j = M^-1 v_j; v_j without M */
  kcl_slot h;                /* the first of the triangle R: triangle_entry()                 */
  kcl_slot c[MOST], s[MOST]; /* rotations                     */
  kcl_slot g[MOST + 1], by[MOST + 1];         /* the right-hand side they make; 1 / |v| */
  kcl_slot d[MOST], norm, rr, ww, t, t2, rho; /* norm: |v| of the newest */
} vars;

/* R_ij, 0 <= i <= j: the slots of its columns follow one another. */
static kcl_slot triangle_entry(const vars *v, int i, int j) { return v->h + j * (j + 1) / 2 + i; }

/* d = V^H w / |v|, added to column j of h; then w = w - V d. first: the column is new. */
static void gmres_orthogonalise(kcl_program *k, const vars *v, int j, bool first) {
  kcl_vec w = v->v[j + 1];
  for (int from = j / TOGETHER * TOGETHER; from >= 0; from -= TOGETHER)
    for (int i = from; i <= j && i < from + TOGETHER; i++)
      kcl_turn(k, i), kcl_dot(k, v->d[i], v->v[i], w);
  for (int i = 0; i <= j; i++) {
    kcl_turn(k, i);
    kcl_multiply(k, v->d[i], plus(v->d[i]), plus(v->by[i]));
    kcl_add(k, triangle_entry(v, i, j), plus(v->d[i]),
            first ? KCL_ZERO : plus(triangle_entry(v, i, j)));
    kcl_multiply(k, v->d[i], plus(v->d[i]), plus(v->by[i]));
  }
  for (int i = 0; i <= j; i++)
    kcl_turn(k, i), kcl_lincomb(k, w, KCL_ONE, w, minus(v->d[i]), v->v[i]);
  kcl_end_turns(k);
}

/* Vector j's norm is the root of ww. */
static void gmres_norm(kcl_program *k, const vars *v, int j) {
  kcl_root(k, v->norm, plus(v->ww));
  kcl_divide(k, v->by[j], KCL_ONE, plus(v->norm));
}

/* (a, b) = (c^* a + s b, c b - s a) */
static void gmres_rotate(kcl_program *k, const vars *v, int i, kcl_slot a, kcl_slot b) {
  kcl_multiply(k, v->t, conjugate(plus(v->c[i])), plus(a));
  kcl_multiply(k, v->t2, minus(v->s[i]), plus(a));
  kcl_multiply(k, a, plus(v->s[i]), plus(b));
  kcl_add(k, a, plus(a), plus(v->t));
  kcl_multiply(k, b, plus(v->c[i]), plus(b));
  kcl_add(k, b, plus(b), plus(v->t2));
}

/* The rotation that makes (a, b), b real, to (rho, 0): c = a / rho, s = b / rho. Squares of quotients, so
 * that nothing vanishes. */
static void new_rotation(kcl_program *k, const vars *v, int j, kcl_slot a, kcl_slot b) {
  kcl_modulus(k, v->t, plus(a));
  kcl_add(k, v->rho, plus(v->t), plus(b));
  kcl_divide(k, v->t, plus(v->t), plus(v->rho)), kcl_multiply(k, v->t, plus(v->t), plus(v->t));
  kcl_divide(k, v->t2, plus(b), plus(v->rho)), kcl_multiply(k, v->t2, plus(v->t2), plus(v->t2));
  kcl_add(k, v->t, plus(v->t), plus(v->t2));
  kcl_root(k, v->t, plus(v->t));
  kcl_multiply(k, v->rho, plus(v->rho), plus(v->t)); /* rho = (|a|^2 + b^2)^1/2 */
  kcl_divide(k, v->c[j], plus(a), plus(v->rho));
  kcl_divide(k, v->s[j], plus(b), plus(v->rho));
  kcl_assign(k, a, plus(v->rho));
}

/* Column j of the Hessenberg matrix becomes one of a triangle; rr is the estimate that follows. The j rotations share a stage with
 * the j + 2 dots of the next step, so they are counted as its last turns. */
static void gmres_triangular(kcl_program *k, const vars *v, int j) {
  for (int i = 0; i < j; i++)
    kcl_turn(k, i + 2), gmres_rotate(k, v, i, triangle_entry(v, i, j), triangle_entry(v, i + 1, j));
  kcl_end_turns(k);
  new_rotation(k, v, j, triangle_entry(v, j, j), v->norm);
  kcl_multiply(k, v->g[j + 1], minus(v->s[j]), plus(v->g[j]));       /* g_(j+1) = -s g_j       */
  kcl_multiply(k, v->g[j], conjugate(plus(v->c[j])), plus(v->g[j])); /* g_j = c^* g_j          */
  kcl_multiply(k, v->rr, plus(v->g[j + 1]), conjugate(plus(v->g[j + 1]))); /* rr = |g_(j+1)|^2    */
}

static void arnoldi(kcl_program *k, const vars *v, int j) {
  kcl_vec w = v->v[j + 1];
  kcl_apply(k, w, kcl_A(k), v->z[j]);                /* w = A M^-1 v_j         */
  kcl_lincomb(k, w, plus(v->by[j]), w, KCL_ZERO, w); /*     / |v_j|            */
  gmres_orthogonalise(k, v, j, true);
  gmres_orthogonalise(k, v, j, false);                          /* h_j = V^H w, w = w - V h_j */
  if (j + 1 < v->m) kcl_precondition(k, v->z[j + 1], w, false); /* z = M^-1 w             */
  kcl_dot(k, v->ww, w, w);
  gmres_norm(k, v, j + 1); /* h_(j+1)j = |w|         */
  gmres_triangular(k, v, j);
  kcl_end_iteration_in_cycle(k, v->rr); /* small enough?          */
}

/* sum = sum + U y, y in g */
static void add_directions(kcl_program *k, const vars *v, kcl_vec sum, const kcl_vec *u) {
  for (int i = 0; i < v->m; i++) kcl_lincomb(k, sum, KCL_ONE, sum, plus(v->g[i]), u[i]);
}

/* y solves R y = g, in g; columns that were not reached have zero on the diagonal and get zero. Then
 * x = x + Z y, or x + M^-1 V y. */
static void close_cycle(kcl_program *k, const vars *v) {
  for (int i = v->m - 1; i >= 0; i--) {
    for (int j = i + 1; j < v->m; j++) {
      kcl_multiply(k, v->t, plus(triangle_entry(v, i, j)), plus(v->g[j]));
      kcl_add(k, v->g[i], plus(v->g[i]), minus(v->t));
    }
    kcl_divide(k, v->g[i], plus(v->g[i]), plus(triangle_entry(v, i, i)));
  }
  for (int i = 0; i < v->m; i++) kcl_multiply(k, v->g[i], plus(v->g[i]), plus(v->by[i]));
  if (v->flexible || v->z[0] == v->v[0]) {
    add_directions(k, v, v->x, v->z);
    return;
  }
  kcl_vec sum = v->v[v->m], z = v->z[0];
  kcl_zero_vector(k, sum);
  add_directions(k, v, sum, v->v);
  kcl_precondition(k, z, sum, false);
  kcl_lincomb(k, v->x, KCL_ONE, v->x, KCL_ONE, z);
}

static void gmres_residual(kcl_program *k, const vars *v) {
  kcl_residual(k, v->v[0], v->rr);              /* v_0 = r = b - A x      */
  kcl_precondition(k, v->z[0], v->v[0], false); /* z = M^-1 v_0           */
}

static void record_cycle(kcl_program *k, const vars *v) {
  kcl_assign(k, v->ww, plus(v->rr));
  gmres_norm(k, v, 0);
  kcl_assign(k, v->g[0], plus(v->norm)); /* g = |r| e_0            */
  for (int j = 0; j < v->m; j++) kcl_assign(k, triangle_entry(v, j, j), KCL_ZERO);
  for (int j = 0; j < v->m; j++) arnoldi(k, v, j);
  kcl_enter_cycle_end(k);
  close_cycle(k, v);
  kcl_leave_cycle_end(k);
  gmres_residual(k, v);
}

/* One z serves all where M is the same. */
static void make_directions(kcl_program *k, vars *v) {
  const kcl_vec one = v->flexible ? v->v[0] : kcl_preconditioned(k, v->v[0], "z");
  for (int j = 0; j < v->m; j++)
    v->z[j] = v->flexible      ? kcl_preconditioned(k, v->v[j], "z%d", j)
              : one == v->v[0] ? v->v[j]
                               : one;
}

void kcl_gmres_record(kcl_program *k, bool flexible) {
  vars v = {.m = kcl_restart(k), .flexible = flexible, .x = kcl_x(k)};
  kcl_slot *slot[] = {&v.norm, &v.rr, &v.ww, &v.t, &v.t2, &v.rho};
  kcl_new_scalars(k, "norm rr ww t t2 rho", slot);
  for (int j = 0; j <= v.m; j++)
    v.v[j] = kcl_vector(k, "v%d", j), v.g[j] = kcl_scalar(k, "g%d", j),
    v.by[j] = kcl_scalar(k, "by%d", j);
  for (int j = 0; j < v.m; j++) {
    v.c[j] = kcl_scalar(k, "c%d", j), v.s[j] = kcl_scalar(k, "s%d", j),
    v.d[j] = kcl_scalar(k, "d%d", j);
  }
  v.h = k->slots;
  for (int j = 0; j < v.m; j++)
    for (int i = 0; i <= j; i++) kcl_scalar(k, "h%d_%d", j, i);
  make_directions(k, &v);
  kcl_begin(k, KCL_START);
  gmres_residual(k, &v);
  for (int j = 0; j < v.m; j++)
    for (int i = 0; i <= j; i++)
      kcl_assign(k, triangle_entry(&v, i, j), KCL_ZERO); /* nothing of an earlier solve */
  kcl_begin(k, KCL_LOOP);
  record_cycle(k, &v);
}
