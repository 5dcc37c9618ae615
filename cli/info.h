/* Declarations shared by the files of krylocl info. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "cli/ui/options.h"
#include "krylocl/explain.h"

struct cJSON;

typedef struct cli_info_facts { /* of one matrix */
  const char *path;
  kcl_csr *A;
  kcl_type precision;
  kcl_stats s;
} cli_info_facts;

/* Symmetry of the matrix in words. */
const char *cli_info_symmetry(const kcl_stats *s);

void cli_info_table_head(const cli_options *o);
void cli_info_table_line(const cli_options *o, const cli_info_facts *f);
void cli_info_csv_head(FILE *f);
/* Writes the line of one matrix, with the stored bytes of each format. */
int cli_info_csv_line(kcl_context *ctx, FILE *f, const cli_info_facts *x);

/* Refuses options that do not go with --arrays, or need it. */
int cli_info_check_arrays(const cli_options *o);
/* Shows the arrays of a matrix in the formats asked for: prints them, adds the list "storage" to the object and draws them, as the
 * options ask. */
int cli_info_show_arrays(kcl_context *ctx, const cli_options *o, const cli_info_facts *f,
                         struct cJSON *out);

#endif
