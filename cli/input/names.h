/* Operands that are no files. */
#ifndef CLI_INPUT_NAMES_H
#define CLI_INPUT_NAMES_H

#include "cli/ui/options.h"

/* True for ones and random: vectors that are not read. random: numbers in [-1, 1), the same in every run. */
bool cli_is_word(const char *x);
/* True for a generated system such as poisson2d:9, unless there is such a file. */
bool cli_is_generated(const char *path);
/* True for a name such as HB/bcsstk16, unless there is such a file or a folder HB. */
bool cli_is_collection(const char *path);
/* Fetches a matrix of the collection unless it is cached, and writes its path. */
int cli_collection(kcl_context *ctx, const cli_options *o, const char *name, char *path,
                   size_t capacity);
/* Writes the path of Name_b.mtx beside Name.mtx; false if there is no such file. */
bool cli_collection_rhs(const char *matrix, char *path, size_t capacity);

#endif
