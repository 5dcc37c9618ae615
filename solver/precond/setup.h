/* Check and set-up of a preconditioner for a system and a method; the registry. */
#ifndef KCL_PRECOND_SETUP_H
#define KCL_PRECOND_SETUP_H

#include "solver/contract/precond.h"
#include "solver/methods/method.h"

/* KCL_USAGE: the preconditioner does not suit A, or not the method. */
int kcl_precond_check(const kcl_precond_request *q, const kcl_precond_kind *kind,
                      const kcl_method *m);
/* M of A for this method: checked, set up. *out is NULL for M = I. */
int kcl_precond_setup(const kcl_precond_request *q, const kcl_precond_kind *kind,
                      const kcl_method *m, kcl_preconditioner **out);
bool kcl_precond_serves(const kcl_preconditioner *M, const kcl_precond_kind *kind,
                        const kcl_method *m);

/* A function of the caller's (shell.c); not in the registry. */
extern const kcl_precond_kind kcl_precond_shell;

/* ---------------------------------------------------------------- the registry: registry.c */

extern const int kcl_precond_count;
const kcl_precond_kind *kcl_precond_at(int i); /* 0 <= i < count */
int kcl_precond_find(kcl_context *ctx, const char *name, const kcl_precond_kind **out);
/* Parameter i of all preconditioners, from 0; NULL beyond the last one. */
const kcl_option *kcl_parameter_at(int i);

#endif
