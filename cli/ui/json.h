/* Fields of JSON objects. */
#ifndef CLI_UI_JSON_H
#define CLI_UI_JSON_H

#include "krylocl.h"
#include "krylocl/check.h"
#include "krylocl/device.h"
#include <stdbool.h>

struct cJSON;

/* Adds a number with 17 digits; null if it is not finite. */
void cli_json_number(struct cJSON *o, const char *key, double v);
void cli_json_count(struct cJSON *o, const char *key, int64_t v);
void cli_json_text(struct cJSON *o, const char *key, const char *v);
void cli_json_bool(struct cJSON *o, const char *key, bool v);
void cli_json_matrix(struct cJSON *o, const char *path, const kcl_csr *A);
void cli_json_device(struct cJSON *o, const kcl_device *d);
/* Adds the object "stream". */
void cli_json_stream(struct cJSON *o, const kcl_stream *s);
void cli_json_compare(struct cJSON *o, const kcl_solution_error *c);

/* Adds the numbers of zero rows and columns. first_row and first_col count from 0; -1: none. */
void cli_json_zeros(struct cJSON *o, int64_t rows, int64_t first_row, int64_t cols,
                    int64_t first_col);
/* Writes the object to a file; "-": standard output. */
int cli_json_write(const char *path, const struct cJSON *o);

/* v as a count if it lies within 0 to most and below 9e15, else 0: a JSON file may hold any number. */
int64_t cli_json_to_count(double v, int64_t most);

#endif
