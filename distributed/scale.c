/* The scaling of a system on several ranks: that of one process (solver/scale.c), with the same exponents. Rows and own columns
 * have theirs here, and columns of the halo those of their owners. What follows from it: the matrices that devices get, norms of
 * R b, the rows of A^H. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- matrices */

static int convert(kcl_domain *d, kcl_type type, const kcl_scaling *s) {
  int rc = kcl_domain_convert(d, type, s);
  if (!rc && d->comm->ranks.block) rc = kcl_domain_order(d);
  return kcl_comm_agree(d->comm, rc);
}

static int convert_system(kcl_mpi_solver *m) {
  kcl_system *s = &m->system;
  int rc = convert(m->domain, s->options.precision, &s->scaling);
  s->converted = m->domain->device.interior;
  return rc;
}

static int equilibrate(kcl_mpi_solver *m) {
  kcl_system *s = &m->system;
  kcl_domain *d = m->domain;
  const double ratio = s->stats.row_ratio;
  kcl_stats scaled;
  int rc = kcl_equilibrate(m->ctx, s->A, kcl_scale_mirrored(s), &d->halo, &s->scaling);
  if (!rc) rc = convert_system(m);
  if (!rc) rc = kcl_domain_stats(d, &d->device, &scaled);
  if (rc) return rc;
  const bool refused = kcl_comm_largest(m->comm, kcl_scale_refused(s, &scaled)) > 0;
  if (refused)
    kcl_scaling_free(&s->scaling);
  else
    s->stats = scaled;
  kcl_scale_explain(s, ratio, refused);
  return refused ? convert_system(m) : KCL_OK;
}

int kcl_mpi_scale(kcl_mpi_solver *m) {
  return kcl_scale_wanted(&m->system) ? equilibrate(m) : convert_system(m);
}

/* u C A^H R, whose columns are A's rows. */
int kcl_mpi_scale_adjoint(kcl_mpi_solver *m) {
  const kcl_system *s = &m->system;
  kcl_domain *d = m->adjoint;
  kcl_scaling scaling = {.unit = s->scaling.unit, .row = s->scaling.col};
  int rc = KCL_OK;
  if (!s->scaling.row) return convert(d, s->options.precision, &s->scaling);
  rc = kcl_alloc(m->ctx, d->columns + d->halo.count, sizeof *scaling.col, "the scaling",
                 (void **)&scaling.col);
  KCL_TRY(kcl_comm_agree(m->comm, rc));
  for (int64_t i = 0; i < d->columns; i++) scaling.col[i] = s->scaling.row[i];
  kcl_domain_exchange(d, sizeof *scaling.col, scaling.col);
  rc = convert(d, s->options.precision, &scaling);
done:
  free(scaling.col);
  return rc;
}

/* ---------------------------------------------------------------- norms */

/* The largest of ilogb |v_i| + power_i of all ranks; INT_MIN of zeros; NaN and infinities count as 1024. */
static int top(kcl_comm *c, kcl_type type, const void *v, int64_t n, const int *power) {
  int most = INT_MIN;
  for (int64_t i = 0; i < n; i++) {
    const double a = kcl_abs(type, v, i);
    if (a == 0) continue;
    const int e = (a < INFINITY ? ilogb(a) : 1024) + power[i];
    most = e > most ? e : most;
  }
  return (int)kcl_comm_largest(c, most);
}

int kcl_comm_norm_scaled(kcl_comm *c, kcl_type type, const void *v, int64_t n, const int *power,
                         kcl_scaled_norm *out) {
  const kcl_type wide = kcl_type_complex(type) ? KCL_Z : KCL_D;
  const int most = top(c, type, v, n, power);
  void *copy = NULL;
  int e;
  *out = (kcl_scaled_norm){.norm = 0};
  if (most == INT_MIN) return KCL_OK;
  int rc = kcl_alloc(c->ctx, n, kcl_type_size(wide), "a vector", &copy);
  if ((rc = kcl_comm_agree(c, rc))) goto done;
  kcl_copy(wide, copy, type, v, n, 1);
  kcl_scale_vector(wide, copy, n, power, 1, -most);
  out->norm = frexp(kcl_comm_norm(c, wide, copy, n), &e);
  out->shift = -most - e;
done:
  free(copy);
  return rc;
}
