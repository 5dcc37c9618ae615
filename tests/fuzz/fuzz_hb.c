/* Fuzz target: Harwell-Boeing and Rutherford-Boeing files. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_matrix(data, size, "t.rb");
}
