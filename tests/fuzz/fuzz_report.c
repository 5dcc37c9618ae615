/* Fuzz target: results of bench and solve, JSON that krylocl report reads and writes as text. */
#include "cli/report/report.h"
#include "cli/ui/options.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *paths[] = {"the input"}, *text = malloc(size + 1);
  cli_options o = {.count = 1};
  cli_report_data r = {.o = &o};
  fuzz_begin();
  FUZZ_REQUIRE(text);
  memcpy(text, data, size), text[size] = 0;
  const int rc = cli_report_read(&r, paths, 1, text);
  FUZZ_REQUIRE(rc == 0 || rc == KCL_INPUT || rc == KCL_MEMORY);
  for (int i = 0; i < r.run.row_count && !rc; i++) {
    const cli_bench_row *row = &r.run.rows[i];
    FUZZ_REQUIRE(row->matrix >= 0 && row->matrix < r.run.matrix_count);
    FUZZ_REQUIRE(row->place >= -1 && row->place < r.run.place_count);
  }
  cli_report_free(&r), free(text);
  return 0;
}
