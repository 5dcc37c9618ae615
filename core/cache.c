/* See cache.h. */
#include "core/cache.h"
#include <errno.h>
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
  const char *own = getenv("KRYLOCL_CACHE"), *base = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  int n = -1;
  if (own)
    n = *own ? snprintf(path, room, "%s/%s/%s", own, sub, name) : -1;
  else if (base && *base == '/')
    n = snprintf(path, room, "%s/krylocl/%s/%s", base, sub, name);
  else if (home && *home == '/')
    n = snprintf(path, room, "%s/.cache/krylocl/%s/%s", home, sub, name);
  errno = ENOENT;
  return n < 0 || (size_t)n >= room ? -1 : make_folders(path);
}
