/* Fields of JSON objects. */
#ifndef CLI_UI_JSON_H
#define CLI_UI_JSON_H

#include "krylocl/check.h"
#include "krylocl/device.h"
#include <cjson/cJSON.h>
#include <math.h>

/* Adds a number with 17 digits; null if it is not finite. */
void cli_json_number(cJSON *o, const char *key, double v);
void cli_json_count(cJSON *o, const char *key, int64_t v);
void cli_json_text(cJSON *o, const char *key, const char *v);
void cli_json_bool(cJSON *o, const char *key, bool v);
void cli_json_matrix(cJSON *o, const char *path, const kcl_csr *A);
void cli_json_device(cJSON *o, const kcl_device *d);
/* Adds the object "stream". */
void cli_json_stream(cJSON *o, const kcl_stream *s);
void cli_json_compare(cJSON *o, const kcl_solution_error *c);

/* Adds the numbers of zero rows and columns. first_row and first_col count from 0; -1: none. */
void cli_json_zeros(cJSON *o, int64_t rows, int64_t first_row, int64_t cols, int64_t first_col);
void cli_json_letter(cJSON *o, const char *key, kcl_type t);
/* Adds an object to a list, and returns it. */
cJSON *cli_json_item(cJSON *list);
/* Writes the object to a file; "-": standard output; NULL: nowhere. o NULL: KCL_MEMORY. */
int cli_json_write(const char *path, const cJSON *o);
void cli_json_free(cJSON **o);
/* cli_json_write, and frees the object. */
int cli_json_finish(const char *path, cJSON *o);

/* ---------------------------------------------------------------- fields that are read */

/* The field of this name, or NULL. */
const cJSON *cli_field(const cJSON *o, const char *key);
/* The text of a field; "" where there is none. */
const char *cli_get_text(const cJSON *o, const char *key);
/* The number of a field; NAN, or `otherwise`, where there is none or it is not finite. */
double cli_get_number(const cJSON *o, const char *key);
double cli_get_or(const cJSON *o, const char *key, double otherwise);
/* v as a count if it lies within 0 to most and below 9e15, else 0: a JSON file may hold any number. */
int64_t cli_json_to_count(double v, int64_t most);
/* A field as cli_json_to_count; 0 where there is none. */
int64_t cli_get_count(const cJSON *o, const char *key);
int cli_get_int(const cJSON *o, const char *key);
/* True if the field is true. */
bool cli_get_bool(const cJSON *o, const char *key);

#endif
