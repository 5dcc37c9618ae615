/* The rows of a shared matrix as devices have them: scaled by the exponents of solver/scale.c, in the precision of the solve. */
#include "distributed/distributed.h"

static int convert_domain(kcl_domain *d, kcl_type type, const kcl_scaling *s) {
  int rc = kcl_domain_convert(d, type, s);
  if (!rc && d->comm->ranks.sum_rows) rc = kcl_domain_order(d);
  return kcl_comm_agree(d->comm, rc);
}

int kcl_distributed_convert(kcl_distribution *self) {
  kcl_distributed *m = (kcl_distributed *)self;
  kcl_system *s = m->system;
  int rc = convert_domain(m->domain, s->options.precision, &s->scaling);
  s->converted = m->domain->device.interior;
  return rc;
}

int kcl_distributed_count(kcl_distribution *self, kcl_stats *out) {
  const kcl_distributed *m = (kcl_distributed *)self;
  return kcl_domain_stats(m->domain, &m->domain->device, out);
}

/* u C A^H R, whose columns are A's rows. */
int kcl_distributed_convert_adjoint(kcl_distributed *m) {
  const kcl_system *s = m->system;
  kcl_domain *d = m->adjoint;
  KCL_OWNED int *col = NULL;
  if (!s->scaling.row) return convert_domain(d, s->options.precision, &s->scaling);
  int rc = kcl_alloc(m->comm->ctx, d->columns + d->halo.count, sizeof *col, "the scaling",
                     (void **)&col);
  KCL_CALL(kcl_comm_agree(m->comm, rc));
  for (int64_t i = 0; i < d->columns; i++) col[i] = s->scaling.row[i];
  kcl_domain_exchange(d, sizeof *col, col);
  const kcl_scaling scaling = {.unit = s->scaling.unit, .row = s->scaling.col, .col = col};
  return convert_domain(d, s->options.precision, &scaling);
}
