/* Between the files of the recorder. */
#ifndef KCL_RECORD_H
#define KCL_RECORD_H

#include "core/program/program.h"

/* Room for one more element in a list of `count`; NULL and a sticky status when memory is out. */
void *kcl_program_grow(kcl_program *k, void **list, int count, size_t size);

#endif
