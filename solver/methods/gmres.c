/* GMRES(m) for general A: the least residual over a Krylov space of m dimensions, then restarted from there;
 * m is options.restart, 20 by default. Saad & Schultz (1986), preconditioned from the right. The iteration and its cost:
 * gmres_cycle.c.
 */
#include "solver/methods/method.h"

static void gmres_record(kcl_program *k) { kcl_gmres_record(k, false); }

const kcl_method kcl_method_gmres = {.name = "gmres",
                                     .summary = "GMRES(m), restarted, any square matrix",
                                     .source = "Saad & Schultz 1986",
                                     .restart = 20,
                                     .record = gmres_record};
