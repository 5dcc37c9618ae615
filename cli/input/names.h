/* Operands that are no files. */
#ifndef CLI_INPUT_NAMES_H
#define CLI_INPUT_NAMES_H

#include "cli/ui/options.h"
#include "krylocl.h"

bool cli_is_word(const char *x); /* ones, or random: numbers in [-1, 1), the same in every run */
bool cli_is_generated(const char *path); /* a generated system such as poisson2d:9 and not a file */
bool cli_is_collection(const char *path); /* a name such as HB/bcsstk16 and not a file */
int cli_collection(kcl *ctx, const cli_options *o, const char *name, char *path, size_t room);
bool cli_collection_rhs(const char *matrix, char *path, size_t room);

#endif
