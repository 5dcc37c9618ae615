/* Fuzz target: right-hand sides, initial guesses and solutions, as Matrix Market or plain numbers. */
#include "tests/fuzz/fuzz.h"

static void round_trip(const kcl_dense *B) {
  kcl_dense *C = NULL;
  size_t n = (size_t)(B->rows * B->cols);
  FUZZ_REQUIRE(!kcl_dense_write(fuzz_ctx, fuzz_path("t.mtx"), B));
  FUZZ_REQUIRE(!kcl_dense_read(fuzz_ctx, fuzz_path("t.mtx"), &C));
  FUZZ_REQUIRE(C->rows == B->rows && C->cols == B->cols && C->type == B->type);
  FUZZ_REQUIRE(!n || !memcmp(B->val, C->val, n * kcl_type_size(B->type)));
  kcl_dense_free(&C);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kcl_dense *B = NULL, *C = NULL;
  const char *path = fuzz_put(data, size);
  if (kcl_dense_read(fuzz_ctx, path, &B)) {
    FUZZ_REQUIRE(!B && strlen(kcl_error()) > 10);
    return 0;
  }
  bool finite = fuzz_finite(B->val, B->rows * B->cols * (B->type == KCL_Z ? 2 : 1));
  if (B->rows * B->cols < 10000) {
    FUZZ_REQUIRE(!kcl_dense_convert(fuzz_ctx, B, KCL_Z, &C));
    if (finite) round_trip(B);
  }
  kcl_dense_free(&B), kcl_dense_free(&C);
  return 0;
}
