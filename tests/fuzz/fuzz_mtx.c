/* Fuzz target: Matrix Market files, coordinate and array. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_matrix(data, size, "t.mtx");
}
