/* Fields of JSON objects. */
#ifndef CLI_UI_JSON_H
#define CLI_UI_JSON_H

#include "krylocl.h"

struct cJSON;

void json_number(struct cJSON *o, const char *key, double v); /* 17 digits; null if not finite */
void json_count(struct cJSON *o, const char *key, int64_t v);
void json_text(struct cJSON *o, const char *key, const char *v);
void json_bool(struct cJSON *o, const char *key, bool v);
void json_matrix(struct cJSON *o, const char *path, const kcl_csr *A);
void json_device(struct cJSON *o, const kcl_device *d);
void json_stream(struct cJSON *o, const kcl_stream *s); /* the object "stream" */
void json_compare(struct cJSON *o, const kcl_solution_error *c);

/* Rows and columns of zeros; the first: from 0, -1: none. */
void json_zeros(struct cJSON *o, int64_t rows, int64_t first_row, int64_t cols, int64_t first_col);
int json_write(const char *path, const struct cJSON *o);

/* A count in a JSON file, which may hold any number: v, or 0 where it is not within 0 to most (below 9e15). */
int64_t json_to_count(double v, int64_t most);

#endif
