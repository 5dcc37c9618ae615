/* The structure of a matrix in the JSON of krylocl bench, for the pictures of krylocl report: its rows by length, and its
 * entries in a raster whose cells are digits, 0 empty, 1 to 9 by the logarithm of their number. */
#include "cli/bench/bench.h"
#include "cli/ui/json.h"

int cli_bench_picture(const kcl_csr *A, cli_bench_matrix *out) {
  cli_raster r;
  CLI_CALL(cli_raster_count(A, CLI_BENCH_RASTER, &r));
  out->length_count = cli_row_lengths(A, out->lengths);
  out->raster_x = r.nx;
  out->raster_y = r.ny;
  out->raster_max = r.max;
  cli_raster_digits(&r, out->raster);
  free(r.cell);
  return 0;
}

void cli_bench_picture_json(cJSON *o, cJSON *row_length, const cli_bench_matrix *A) {
  if (A->length_count) {
    cJSON *bins = cJSON_AddArrayToObject(row_length, "histogram");
    for (int i = 0; i < A->length_count; i++) {
      const cli_lengths *l = &A->lengths[i];
      const double bin[] = {(double)l->from, (double)l->to, (double)l->rows};
      cJSON_AddItemToArray(bins, cJSON_CreateDoubleArray(bin, 3));
    }
  }
  if (!A->raster_x || !A->raster_y) return;
  cJSON *p = cJSON_AddObjectToObject(o, "picture");
  cli_json_count(p, "most", A->raster_max);
  cJSON *lines = cJSON_AddArrayToObject(p, "cells");
  for (int64_t y = 0; y < A->raster_y; y++) {
    char line[CLI_BENCH_RASTER + 1];
    snprintf(line, sizeof line, "%.*s", (int)A->raster_x, A->raster + y * A->raster_x);
    cJSON_AddItemToArray(lines, cJSON_CreateString(line));
  }
}

static int64_t count_at(const cJSON *list, int i) {
  const cJSON *v = cJSON_GetArrayItem(list, i);
  return cJSON_IsNumber(v) ? cli_json_to_count(v->valuedouble, INT64_MAX) : 0;
}

static void read_cells(const cJSON *lines, cli_bench_matrix *out) {
  const cJSON *one;
  int64_t y = 0, x = 0;
  cJSON_ArrayForEach(one, lines) {
    const char *line = cJSON_GetStringValue(one);
    size_t n = line ? strlen(line) : 0;
    if (!y) x = (int64_t)n;
    if (!n || n > CLI_BENCH_RASTER || y == CLI_BENCH_RASTER || (int64_t)n != x) return;
    if (strspn(line, "0123456789") != n) return;
    memcpy(out->raster + y++ * x, line, n);
  }
  out->raster_x = x, out->raster_y = y;
}

void cli_bench_picture_read(const cJSON *o, cli_bench_matrix *out) {
  const cJSON *p = cli_field(o, "picture"), *one,
              *bins = cli_field(cli_field(o, "row_length"), "histogram");
  out->raster_max = cli_get_count(p, "most");
  out->raster_x = out->raster_y = out->length_count = 0;
  read_cells(cli_field(p, "cells"), out);
  cJSON_ArrayForEach(one, bins) if (out->length_count < CLI_LENGTHS)
      out->lengths[out->length_count++] =
      (cli_lengths){count_at(one, 0), count_at(one, 1), count_at(one, 2)};
}
