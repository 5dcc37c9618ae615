/* Operations of a recorded program in the words of the paper: "p = z + beta p". */
#ifndef KCL_FORMULA_H
#define KCL_FORMULA_H

#include "core/program/program.h"

const char *kcl_phase_name(kcl_phase phase); /* "LOOP" */
/* Prints all operations of a stage in order, separated by "; ". Truncated where there is no room. */
void kcl_stage_formula(const kcl_program *k, const kcl_stage *s, char *text, size_t capacity);

#endif
