/* Flexible GMRES(m) for general A: as gmres, with another M in each application if need be. Saad (1993). Memory: m vectors more than
 * gmres has, if there is an M, which is applied once less per cycle. The iteration and its cost: gmres_cycle.c.
 */
#include "solver/methods/method.h"

static void fgmres_record(kcl_program *k) { kcl_gmres_record(k, true); }

const kcl_method kcl_method_fgmres = {.name = "fgmres",
                                      .summary = "flexible GMRES(m), M may vary, any square matrix",
                                      .source = "Saad 1993",
                                      .flexible = true,
                                      .restart = 20,
                                      .record = fgmres_record};
