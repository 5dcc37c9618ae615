/* See cache.h. The file of an entry is named after a checksum of its key and contains
 *
 *   head   magic, version; bytes of key and data; checksum of both
 *   key    compared in full, so that two keys with the same checksum do no harm
 *   data
 *
 * Its modification time says when it was last used. */
#include "core/base/cache.h"
#include "core/base/output.h"
#include "core/base/sum64.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_PATH = 4096, VERSION = 1 };

typedef struct entry_head {
  char magic[8];
  uint64_t version, key, data, sum;
} entry_head;
static const char magic[8] = {'\x89', 'k', 'e', 'p', 't', '\r', '\n', '\x1a'};

/* ---------------------------------------------------------------- the folder */

/* The first refusal is kept for kcl_cache_refused: threads load programs too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char refusal[CACHE_PATH + 100];

static void refuse_folder(const char *path, const struct stat *s) {
  pthread_mutex_lock(&lock);
  if (!*refusal && s->st_uid != geteuid())
    snprintf(refusal, sizeof refusal, "the cache is not used: %s belongs to another user (%lu)",
             path, (unsigned long)s->st_uid);
  else if (!*refusal)
    snprintf(refusal, sizeof refusal,
             "the cache is not used: other users can write %s (chmod go-w removes that)", path);
  pthread_mutex_unlock(&lock);
}

const char *kcl_cache_refused(void) {
  pthread_mutex_lock(&lock);
  const char *text = *refusal ? refusal : NULL;
  pthread_mutex_unlock(&lock);
  return text;
}

/* Can only this user have written the file? Files in a closed folder are out of the reach of others. */
static bool is_private(const char *path, const struct stat *s, bool closed) {
  if (s->st_uid == geteuid() && (closed || !(s->st_mode & (S_IWGRP | S_IWOTH)))) return true;
  refuse_folder(path, s);
  errno = EPERM;
  return false;
}

/* The folders of the path; make: created like mkdir -p, accessible to this user only. Those from `root` bytes on are private. */
static int check_folders(char *path, size_t root, bool make) {
  for (char *p = path + 1; *p; p++) {
    struct stat info;
    if (*p != '/') continue;
    *p = 0;
    bool good = !make || !mkdir(path, 0700) || errno == EEXIST;
    if (good && p >= path + root) good = !stat(path, &info) && is_private(path, &info, false);
    *p = '/';
    if (!good) return -1;
  }
  return 0;
}

/* Writes the path, whose folders may be missing. Returns the length of the cache folder's path; 0: there is none. */
static size_t name_path(const char *sub, const char *name, char *path, size_t capacity) {
  const char *own = getenv("KRYLOCL_CACHE"), *base = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  int n = -1, root = 0;
  if (own)
    n = *own ? snprintf(path, capacity, "%s%n/%s/%s", own, &root, sub, name) : -1;
  else if (base && *base == '/')
    n = snprintf(path, capacity, "%s/krylocl%n/%s/%s", base, &root, sub, name);
  else if (home && *home == '/')
    n = snprintf(path, capacity, "%s/.cache/krylocl%n/%s/%s", home, &root, sub, name);
  errno = ENOENT;
  return n < 0 || (size_t)n >= capacity ? 0 : (size_t)root;
}

int kcl_cache_path(const char *sub, const char *name, char *path, size_t capacity) {
  const size_t root = name_path(sub, name, path, capacity);
  return root ? check_folders(path, root, true) : -1;
}

/* ---------------------------------------------------------------- entries */

int kcl_cache_open(const char *sub, const char *name) {
  char path[CACHE_PATH];
  struct stat in, info;
  const size_t root = name_path(sub, name, path, sizeof path);
  if (!root || check_folders(path, root, false)) return -1;
  char *slash = strrchr(path, '/');
  *slash = 0;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  *slash = '/';
  int file =
      folder < 0 ? -1 : openat(folder, slash + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool good = file >= 0 && !fstat(folder, &in) && is_private(path, &in, false) &&
              !fstat(file, &info) && S_ISREG(info.st_mode) &&
              is_private(path, &info, !(in.st_mode & (S_IRWXG | S_IRWXO)));
  if (folder >= 0) close(folder);
  if (good || file < 0) return file;
  close(file);
  return -1;
}

FILE *kcl_cache_stream(const char *sub, const char *name) {
  int file = kcl_cache_open(sub, name);
  FILE *f = file < 0 ? NULL : fdopen(file, "r");
  if (file >= 0 && !f) close(file);
  return f;
}

static const char *entry_name(const char *key, char name[24]) {
  snprintf(name, 24, "%016llx", (unsigned long long)kcl_sum64(key, strlen(key), VERSION));
  return name;
}

static bool read_fully(int file, void *to, size_t size) {
  for (char *p = to; size;) {
    ssize_t n = read(file, p, size);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) p += n, size -= (size_t)n;
  }
  return true;
}

static uint64_t sum_entry(const char *key, size_t key_size, const void *data, size_t size) {
  return kcl_sum64(data, size, kcl_sum64(key, key_size, VERSION));
}

/* Reads head and key of a file: is it an entry for this key, of the right length? */
static bool begins_entry(int file, const char *key, entry_head *h) {
  struct stat info;
  const size_t n = strlen(key);
  if (fstat(file, &info) || !read_fully(file, h, sizeof *h)) return false;
  if (memcmp(h->magic, magic, sizeof magic) || h->version != VERSION || h->key != n) return false;
  uint64_t bytes =
      (uint64_t)info.st_size; /* numbers from the file are not added up: they may overflow */
  if (bytes < sizeof *h + n || h->data != bytes - sizeof *h - n) return false;
  char *kept = malloc(n + 1);
  const bool same = kept && read_fully(file, kept, n) && memcmp(kept, key, n) == 0;
  free(kept);
  return same;
}

/* The data of this key; NULL unless the file is a valid entry for it. */
static void *read_cache_entry(int file, const char *key, size_t *size) {
  entry_head h;
  if (!begins_entry(file, key, &h)) return NULL;
  char *data = malloc(h.data + 1);
  if (data && read_fully(file, data, h.data) &&
      sum_entry(key, strlen(key), data, h.data) == h.sum) {
    *size = h.data;
    return data;
  }
  free(data);
  return NULL;
}

void *kcl_cache_get(const char *sub, const char *key, size_t *size) {
  char name[24];
  int file = kcl_cache_open(sub, entry_name(key, name));
  if (file < 0) return NULL;
  void *data = read_cache_entry(file, key, size);
  if (data) (void)futimens(file, NULL);
  close(file);
  return data;
}

bool kcl_cache_has(const char *sub, const char *key) {
  char name[24];
  entry_head h;
  int file = kcl_cache_open(sub, entry_name(key, name));
  const bool found = file >= 0 && begins_entry(file, key, &h);
  if (file >= 0) close(file);
  return found;
}

void kcl_cache_put(const char *sub, const char *key, const void *data, size_t size) {
  char path[CACHE_PATH], name[24];
  kcl_output o;
  size_t n = strlen(key);
  entry_head h = {.version = VERSION, .key = n, .data = size, .sum = sum_entry(key, n, data, size)};
  memcpy(h.magic, magic, sizeof magic);
  if (kcl_cache_path(sub, entry_name(key, name), path, sizeof path)) return;
  /* Kept from us by its mode, in a folder of ours. One that was missing may be another process's by now. */
  if (access(path, R_OK | W_OK) && errno == EACCES) unlink(path);
  if (kcl_output_open(NULL, path, &o)) return;
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
static size_t list_cache(DIR *folder, kept **all, long long *bytes) {
  size_t count = 0, capacity = 0;
  for (struct dirent *d; (d = readdir(folder));) {
    struct stat info;
    if (strlen(d->d_name) >= sizeof(*all)->name ||
        fstatat(dirfd(folder), d->d_name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISREG(info.st_mode))
      continue;
    if (count == capacity) {
      kept *more = realloc(*all, (capacity = 2 * capacity + 64) * sizeof *more);
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
  char path[CACHE_PATH];
  long long bytes = 0;
  kept *all = NULL;
  DIR *folder = kcl_cache_path(sub, "", path, sizeof path) ? NULL : opendir(path);
  if (!folder) return;
  size_t count = list_cache(folder, &all, &bytes);
  if (bytes > most) qsort(all, count, sizeof *all, by_use);
  for (size_t i = 0; i < count && bytes > most; i++)
    if (!unlinkat(dirfd(folder), all[i].name, 0)) bytes -= all[i].size;
  closedir(folder);
  free(all);
}
