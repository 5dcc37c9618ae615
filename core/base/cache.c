/* See cache.h. The file of an entry is named after a checksum of its key and contains
 *
 *   head   magic, version; bytes of key and data; checksum of both
 *   key    compared in full, so that two keys with the same checksum do no harm
 *   data
 *
 * Its modification time is that of the last use. */
#include "core/base/cache.h"
#include "core/base/output.h"
#include "core/base/sum64.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 4096, VERSION = 1 };

typedef struct head {
  char magic[8];
  uint64_t version, key, data, sum;
} head;
static const char magic[8] = {'\x89', 'k', 'e', 'p', 't', '\r', '\n', '\x1a'};

/* ---------------------------------------------------------------- the folder */

/* All folders of the path, as mkdir -p does, accessible to this user only. */
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

/* The path alone: folders may be missing. */
static int name_path(const char *sub, const char *name, char *path, size_t room) {
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
  return n < 0 || (size_t)n >= room ? -1 : 0;
}

int kcl_cache_path(const char *sub, const char *name, char *path, size_t room) {
  return name_path(sub, name, path, room) ? -1 : make_folders(path);
}

/* ---------------------------------------------------------------- entries */

static int entry_path(const char *sub, const char *key, char *path) {
  char name[24];
  snprintf(name, sizeof name, "%016llx", (unsigned long long)kcl_sum64(key, strlen(key), VERSION));
  return name_path(sub, name, path, ROOM);
}

static bool read_all(int file, void *to, size_t size) {
  for (char *p = to; size;) {
    ssize_t n = read(file, p, size);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) p += n, size -= (size_t)n;
  }
  return true;
}

static uint64_t sum_of(const char *key, size_t key_size, const void *data, size_t size) {
  return kcl_sum64(data, size, kcl_sum64(key, key_size, VERSION));
}

/* The data of this key; NULL unless the file is a valid entry for it. */
static void *read_entry(int file, const char *key, size_t *size) {
  struct stat info;
  head h;
  size_t n = strlen(key);
  if (fstat(file, &info) || !read_all(file, &h, sizeof h)) return NULL;
  if (memcmp(h.magic, magic, sizeof magic) || h.version != VERSION || h.key != n) return NULL;
  uint64_t bytes =
      (uint64_t)info.st_size; /* numbers from the file are not added up: they may overflow */
  if (bytes < sizeof h + n || h.data != bytes - sizeof h - n) return NULL;
  char *kept = malloc(n + 1), *data = malloc(h.data + 1);
  bool good = kept && data && read_all(file, kept, n) && memcmp(kept, key, n) == 0 &&
              read_all(file, data, h.data) && sum_of(key, n, data, h.data) == h.sum;
  free(kept);
  if (good) return *size = h.data, data;
  free(data);
  return NULL;
}

void *kcl_cache_get(const char *sub, const char *key, size_t *size) {
  char path[ROOM];
  int file = entry_path(sub, key, path) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  void *data = read_entry(file, key, size);
  if (data) (void)futimens(file, NULL);
  close(file);
  return data;
}

void kcl_cache_put(const char *sub, const char *key, const void *data, size_t size) {
  char path[ROOM];
  kcl_output o;
  size_t n = strlen(key);
  head h = {.version = VERSION, .key = n, .data = size, .sum = sum_of(key, n, data, size)};
  memcpy(h.magic, magic, sizeof magic);
  if (entry_path(sub, key, path) || make_folders(path) || kcl_output_open(NULL, path, &o)) return;
  int rc = fchmod(o.file, 0600);
  if (!rc) rc = kcl_output_write(NULL, &o, &h, sizeof h);
  if (!rc) rc = kcl_output_write(NULL, &o, key, n);
  if (!rc) rc = kcl_output_write(NULL, &o, data, size);
  (void)kcl_output_close(NULL, &o, rc);
}

/* ---------------------------------------------------------------- the limit */

typedef struct kept {
  struct timespec used;
  long long size;
  char name[64];
} kept;

static int by_use(const void *a, const void *b) {
  const struct timespec *p = &((const kept *)a)->used, *q = &((const kept *)b)->used;
  if (p->tv_sec != q->tv_sec) return p->tv_sec < q->tv_sec ? -1 : 1;
  return p->tv_nsec < q->tv_nsec ? -1 : p->tv_nsec > q->tv_nsec;
}

/* The regular files of a folder; returns their number and adds up their sizes. */
static size_t list(DIR *folder, kept **all, long long *bytes) {
  size_t count = 0, room = 0;
  for (struct dirent *d; (d = readdir(folder));) {
    struct stat info;
    if (strlen(d->d_name) >= sizeof(*all)->name ||
        fstatat(dirfd(folder), d->d_name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISREG(info.st_mode))
      continue;
    if (count == room) {
      kept *more = realloc(*all, (room = 2 * room + 64) * sizeof *more);
      if (!more) break;
      *all = more;
    }
    kept *k = &(*all)[count++];
    *k = (kept){.used = info.st_mtim, .size = info.st_size};
    snprintf(k->name, sizeof k->name, "%.63s", d->d_name);
    *bytes += k->size;
  }
  return count;
}

void kcl_cache_trim(const char *sub, long long most) {
  char path[ROOM];
  long long bytes = 0;
  kept *all = NULL;
  DIR *folder = kcl_cache_path(sub, "", path, sizeof path) ? NULL : opendir(path);
  if (!folder) return;
  size_t count = list(folder, &all, &bytes);
  if (bytes > most) qsort(all, count, sizeof *all, by_use);
  for (size_t i = 0; i < count && bytes > most; i++)
    if (!unlinkat(dirfd(folder), all[i].name, 0)) bytes -= all[i].size;
  closedir(folder);
  free(all);
}
