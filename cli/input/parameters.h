/* Parameters of preconditioners: the library's options whose names have a point, such as amg.theta. */
#ifndef CLI_INPUT_PARAMETERS_H
#define CLI_INPUT_PARAMETERS_H

#include "krylocl/explain.h"

/* Parameter k, from 0; its name is NULL beyond the last one. */
kcl_option cli_parameter(int k);
/* Sets a list such as amg.theta=0.5,amg.degree=2; NULL: nothing. Faults are reported. */
int cli_parameters_set(const char *list, kcl_options *o);

#endif
