/* Fuzz target: files of tunables. What is read is written and reads back. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_put(data, size);
  if (kcl_tune_read(fuzz_ctx, path)) {
    FUZZ_REQUIRE(strlen(kcl_error()) > 10);
    return 0;
  }
  FUZZ_REQUIRE(!kcl_tune_write(fuzz_ctx, fuzz_path("t.mtx"), "a remark\nof two lines"));
  FUZZ_REQUIRE(!kcl_tune_read(fuzz_ctx, fuzz_path("t.mtx")));
  for (int i = 0; i < kcl_tunable_count(); i++) {
    kcl_tunable t;
    FUZZ_REQUIRE(!kcl_tunable_get(fuzz_ctx, i, &t));
    FUZZ_REQUIRE(!t.value || (t.value >= t.min && t.value <= t.max && !(t.value & (t.value - 1))));
  }
  return 0;
}
