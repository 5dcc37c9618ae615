/* The main program of a fuzz target without libFuzzer: runs the files and the folders of files that are its operands, each
 * once, and half of each, and each with some bytes changed.
 *
 * FUZZ_SECONDS=n: goes on for n seconds with rounds of larger changes; FUZZ_SEED=n: other changes. */
#include "tests/check.h"
#include <dirent.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16, CHANGES = 40 };
static bool later; /* after the first round */

static void run(const uint8_t *data, size_t size) {
  uint8_t *copy =
      malloc(size ? size : 1); /* of exact size, so that a sanitizer sees what is read behind it */
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
  passed++;
}

static size_t below(size_t n) { return random_bits() % n; }

/* One change: a byte, a bit, a deleted or repeated part, or a number at the end of its range. Returns the new size. */
static size_t change(uint8_t *data, size_t size) {
  static const char *const numbers[] = {"-1", "0", "1e999", "2147483648", "9223372036854775807"};
  if (!size) return 0;
  const size_t at = below(size), part = 1 + below(size - at < 40 ? size - at : 40);
  const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
  switch (below(5)) {
  case 0: data[at] = (uint8_t)random_bits(); break;
  case 1: data[at] ^= (uint8_t)(1 << below(8)); break;
  case 2: memmove(data + at, data + at + part, size - at - part); return size - part;
  case 3:
    if (size + part > MOST) break;
    memmove(data + at + part, data + at, size - at);
    return size + part;
  default:
    for (size_t i = 0; number[i] && at + i < size; i++) data[at + i] = (uint8_t)number[i];
  }
  return size;
}

/* A copy with one to eight changes. */
static void run_changed(const uint8_t *data, size_t size) {
  static uint8_t copy[MOST];
  memcpy(copy, data, size);
  for (size_t i = 1 + below(8); i; i--) size = change(copy, size);
  run(copy, size);
}

static void run_file(const char *path) {
  static uint8_t data[MOST];
  FILE *f = fopen(path, "rb");
  size_t size = f ? fread(data, 1, sizeof data, f) : 0;
  if (!f || fclose(f)) return;
  if (later) {
    for (int i = 0; i < CHANGES; i++) run_changed(data, size);
    return;
  }
  run(data, size), run(data, size / 2);
  for (int i = 0; i < CHANGES && size; i++) {
    size_t at = random_bits() % size;
    uint8_t old = data[at];
    data[at] = i % 2 ? (uint8_t)random_bits() : (uint8_t) "0 19\n-.eE:(,)"[random_bits() % 13];
    run(data, size);
    data[at] = old;
  }
}

static void run_operand(const char *name) {
  DIR *folder = opendir(name);
  if (!folder) run_file(name);
  for (struct dirent *d; folder && (d = readdir(folder));) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", name, d->d_name);
    if (*d->d_name != '.') run_file(path);
  }
  if (folder) closedir(folder);
}

static long number_of(const char *name) { return getenv(name) ? atol(getenv(name)) : 0; }

int main(int argc, char **argv) {
  const time_t end = time(NULL) + number_of("FUZZ_SECONDS");
  random_state ^= (uint64_t)number_of("FUZZ_SEED") * 0x9E3779B97F4A7C15u;
  do {
    for (int i = 1; i < argc; i++) run_operand(argv[i]);
    later = true;
  } while (passed && time(NULL) < end);
  CHECKF(passed > 0, "no corpus");
  return check_report();
}
