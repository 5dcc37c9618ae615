/* What the files of krylocl info share. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "cli/ui/options.h"
#include "krylocl.h"
#include <stdio.h>

typedef struct cli_info_facts { /* of one matrix */
  const char *path;
  kcl_csr *A;
  kcl_type precision;
  kcl_stats s;
} cli_info_facts;

const char *info_symmetry(const kcl_stats *s);

/* info_table.c */
void info_table_head(const cli_options *o);
void info_table_line(const cli_options *o, const cli_info_facts *f);
void info_csv_head(FILE *f);
int info_csv_line(kcl *ctx, FILE *f, const cli_info_facts *x);

#endif
