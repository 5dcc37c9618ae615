/* kcl_mpi_same: options and names that must be the same on all ranks are compared with those of rank 0. A rank that differs ends
 * the call on all, and the message has both. */
#include "distributed/distributed.h"
#include <stdio.h>

enum { CAPACITY = 4096 };

static int length_of_line(const char *line) { return (int)strcspn(line, "\n"); }

/* Both to the first line in which they differ, or to their ends. */
static void find_difference(const char **own, const char **theirs) {
  while (**own && length_of_line(*own) == length_of_line(*theirs) &&
         !strncmp(*own, *theirs, (size_t)length_of_line(*own)))
    *own += length_of_line(*own) + 1, *theirs += length_of_line(*theirs) + 1;
}

int kcl_mpi_same(kcl_context *ctx, MPI_Comm comm, const char *lines) {
  char all[CAPACITY] = "";
  const char *own = lines, *theirs = all;
  MPI_Request request;
  int rc = KCL_OK;
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  snprintf(all, sizeof all, "%s", lines ? lines : "");
  MPI_Ibcast(all, sizeof all, MPI_CHAR, 0, comm, &request);
  kcl_comm_wait(1, &request);
  if (!(rc = kcl_need(ctx, "lines", lines))) find_difference(&own, &theirs);
  const int name = rc ? 0 : (int)strcspn(own, "="), value = name + 1;
  if (!rc && *own)
    rc = kcl_fail(ctx, KCL_USAGE, "%.*s is %.*s, and on rank 0 %.*s", name, own,
                  length_of_line(own) - value, own + value, length_of_line(theirs) - value,
                  theirs + value);
  return kcl_mpi_agree(ctx, comm, rc);
}

/* nrhs is that of rank 0; near_null is given out by rank 0 unless ranks have their own rows; progress is each rank's own. */
int kcl_comm_same_options(kcl_comm *c, kcl_mpi_layout layout, const kcl_options *o) {
  static const char *const symmetry[] = {"rounding", "exact", "assume"}, *const scale[] = {"auto",
                                                                                           "none"};
  char lines[CAPACITY];
  const bool rows = layout == KCL_MPI_ROWS;
  const int64_t near_null = rows && o->near_null ? o->near_null->cols : 0;
  snprintf(lines, sizeof lines,
           "layout=%s\nreproducible=%d\nsolver=%s\nprecond=%s\nparameters=%s\nformat=%s\nprecision="
           "%c\ntol=%.17g\natol=%.17g\n"
           "max_iter=%lld\nrestart=%d\nsymmetry=%s\nscale=%s\nmixed=%d\n"
           "number of near-null vectors=%lld\npartition=%s\nshares=%s\n",
           rows ? "KCL_MPI_ROWS" : "KCL_MPI_ROOT", c->ctx->reproducible, o->solver, o->precond,
           o->parameters, o->format, kcl_type_letter(o->precision), o->tol, o->atol,
           (long long)o->max_iter, o->restart, symmetry[o->symmetry], scale[o->scale], o->mixed,
           (long long)near_null, c->ctx->metis ? "metis" : "rows", kcl_shares_name(c->ctx));
  return kcl_mpi_same(c->ctx, c->comm, lines);
}
