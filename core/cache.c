/* Where what costs time to find out is kept between runs. */
#include "core/cache.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Every folder on the way, as mkdir -p does, for this user alone. */
static int make_folders(char *path) {
  for (char *p = path + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    int failed = mkdir(path, 0700) && errno != EEXIST;
    *p = '/';
    if (failed) return -1;
  }
  return 0;
}

int kcl_cache_path(const char *sub, const char *name, char *path, size_t room) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool given = base && *base == '/';
  if (!given && !(home && *home == '/')) return -1;
  int n = snprintf(path, room, "%s%s/krylocl/%s/%s", given ? base : home, given ? "" : "/.cache",
                   sub, name);
  return n < 0 || (size_t)n >= room ? -1 : make_folders(path);
}
