/* Sizes of the structs of krylocl.h, for solve.f90. */
#include <krylocl.h>

size_t size_in_c(int which);

size_t size_in_c(int which) {
  const size_t sizes[] = {sizeof(kcl_entries), sizeof(kcl_vectors), sizeof(kcl_call),
                          sizeof(kcl_result), sizeof(kcl_progress)};
  return sizes[which];
}
