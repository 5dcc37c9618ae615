/* kcl_files_synchronise: a file is synchronised before it has its name, its folder afterwards; without it neither is, and a failure leaves
 * the previous file. This program's fsync stands in for that of the C library. */
#include "tests/data_test.h"
#include <errno.h>
#include <unistd.h>

static int files, folders, wrong_order;
static const char *result; /* the file that is written */
static bool fails;

int fsync(int file) {
  struct stat info;
  const bool named = access(result, F_OK) == 0;
  CHECK(!fstat(file, &info));
  if (S_ISDIR(info.st_mode)) {
    folders++, wrong_order += !named;
    return 0;
  }
  files++, wrong_order += named;
  errno = EIO;
  return fails ? -1 : 0;
}

/* The status of writing these bytes to a new file. */
static int write_counted(const char *name) {
  result = path_of(name);
  remove(result);
  files = folders = wrong_order = 0;
  return kcl_file_write(ctx, result, "text\n", 5);
}

static void test_by_default(void) {
  CHECK(write_counted("default.txt") == KCL_OK && !files && !folders);
}

static void test_synchronised(void) {
  kcl_files_synchronise(true);
  CHECKF(write_counted("durable.txt") == KCL_OK && files == 1 && folders == 1 && !wrong_order,
         "%d files, %d folders, %d too early or too late", files, folders, wrong_order);
  kcl_files_synchronise(false);
}

static void test_failure(void) {
  kcl_files_synchronise(true), fails = true;
  CHECK(write_counted("failed.txt") == KCL_INPUT && strstr(kcl_error(), "cannot write"));
  CHECK(access(result, F_OK) != 0 && !folders);
  kcl_files_synchronise(false), fails = false;
}

int main(void) {
  static const test tests[] = {{"by default", test_by_default},
                               {"synchronised", test_synchronised},
                               {"a disk that fails", test_failure}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
