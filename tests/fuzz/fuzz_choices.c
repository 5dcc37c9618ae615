/* Fuzz target: the memory of auto, one file of the cache folder. What is recalled has its bounds, and is remembered and recalled again
 * with the digits that are written; lines of other keys stay. */
#include "core/tuning/choices.h"
#include "tests/fuzz/fuzz.h"
#include <sys/stat.h>

static const char KEY[] = "device | driver | 0 | 3 x 3 7 00 | d auto auto 1 | ",
                  OTHER[] = "other | driver | 0 | 3 x 3 7 00 | d auto auto 1 | ";

static const char *file_path(void) { return fuzz_path("tune/choices.txt"); }

static void leave_memory(void) {
  unlink(file_path());
  rmdir(fuzz_path("tune"));
}

/* The input follows the key on its first line. */
static void put_memory(const uint8_t *data, size_t size) {
  fuzz_begin();
  if (setenv("KRYLOCL_CACHE", fuzz_folder, 1) || mkdir(fuzz_path("tune"), 0700) == 0)
    atexit(leave_memory);
  FILE *f = fopen(file_path(), "w");
  FUZZ_REQUIRE(f && fprintf(f, "%s1 0 | cg none csr 1 1;\n%s", OTHER, KEY) > 0);
  FUZZ_REQUIRE(fwrite(data, 1, size, f) == size && !fclose(f));
}

static void check_choice(const kcl_choice *c) {
  FUZZ_REQUIRE(c->iterations >= 0 && c->missed >= 0 && c->missed < 1e9);
  FUZZ_REQUIRE(c->count >= 0 && c->count <= KCL_MOST_TIMINGS);
  for (int i = 0; i < c->count; i++) {
    const kcl_timing *t = &c->timing[i];
    FUZZ_REQUIRE(memchr(t->method, 0, sizeof t->method) && memchr(t->precond, 0, KCL_NAME) &&
                 memchr(t->format, 0, KCL_NAME));
    FUZZ_REQUIRE(t->setup >= 0 && t->setup < 1e9 && t->iteration > 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kcl_choice c, again, other;
  put_memory(data, size);
  const bool found = kcl_choice_recall(KEY, &c);
  check_choice(&c);
  FUZZ_REQUIRE(found || (!c.count && !c.iterations));
  kcl_choice_remember(KEY, &c);
  if (kcl_choice_recall(KEY, &again)) {
    check_choice(&again);
    FUZZ_REQUIRE(again.iterations == c.iterations && again.count == c.count);
    for (int i = 0; i < c.count; i++)
      FUZZ_REQUIRE(!strcmp(c.timing[i].method, again.timing[i].method) &&
                   (c.timing[i].iteration < INFINITY) == (again.timing[i].iteration < INFINITY));
  } else
    FUZZ_REQUIRE(false);
  FUZZ_REQUIRE(kcl_choice_recall(OTHER, &other) && other.count == 1);
  return 0;
}
