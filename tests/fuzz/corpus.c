/* The main program of a fuzz target without libFuzzer: runs the files and the folders of files that are its operands, each
 * once, and half of each, and each with some bytes changed. */
#include "tests/check.h"
#include <dirent.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16, CHANGES = 40 };

static void run(const uint8_t *data, size_t size) {
  uint8_t *copy =
      malloc(size ? size : 1); /* of exact size, so that a sanitizer sees what is read behind it */
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
  passed++;
}

static void run_file(const char *path) {
  static uint8_t data[MOST];
  FILE *f = fopen(path, "rb");
  size_t size = f ? fread(data, 1, sizeof data, f) : 0;
  if (!f || fclose(f)) return;
  run(data, size), run(data, size / 2);
  for (int i = 0; i < CHANGES && size; i++) {
    size_t at = random_bits() % size;
    uint8_t old = data[at];
    data[at] = i % 2 ? (uint8_t)random_bits() : (uint8_t) "0 19\n-.eE:(,)"[random_bits() % 13];
    run(data, size);
    data[at] = old;
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    if (!folder) run_file(argv[i]);
    for (struct dirent *d; folder && (d = readdir(folder));) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], d->d_name);
      if (*d->d_name != '.') run_file(path);
    }
    if (folder) closedir(folder);
  }
  CHECKF(passed > 0, "no corpus");
  return check_report();
}
