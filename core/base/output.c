/* See output.h. */
#include "core/base/output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(kcl_context *ctx, const kcl_output *o) {
  return kcl_fail(ctx, KCL_INPUT, "%s: cannot write: %s", o->name, strerror(errno));
}

/* Descriptors 0 to 2 are the standard streams, even where the caller closed them: a file that was given one of their
 * numbers would receive the messages too. */
static int above_standard(int file) {
  if (file < 0 || file > STDERR_FILENO) return file;
  int other = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return other;
}

/* The path in /proc through which the open file can be linked. */
static const char *proc_path(const kcl_output *o, char *capacity, size_t size) {
  snprintf(capacity, size, "/proc/self/fd/%d", o->file);
  return capacity;
}

enum { MOST_PATH = 4096 };

/* The folder of a file. */
static void find_folder(const char *path, char folder[MOST_PATH]) {
  const char *slash = strrchr(path, '/');
  snprintf(folder, MOST_PATH, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

#ifdef O_TMPFILE
static int open_unnamed(const char *beside) {
  char folder[MOST_PATH];
  find_folder(beside, folder);
  return above_standard(open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
}
#else
static int open_unnamed(const char *beside) { return (void)beside, -1; }
#endif

int kcl_file_target(const char *path, char *target, size_t size) {
  enum { MOST_LINKS = 40 };
  char link[MOST_PATH];
  int n = path && target ? snprintf(target, size, "%s", path) : -1;
  for (int i = 0; n >= 0 && (size_t)n < size; i++) {
    ssize_t length = readlink(target, link, sizeof link - 1);
    if (length < 0) return KCL_OK;
    if (i == MOST_LINKS) {
      errno = ELOOP;
      return KCL_USAGE;
    }
    link[length] = 0;
    char *slash = strrchr(target, '/');
    size_t kept = *link == '/' || !slash ? 0 : (size_t)(slash + 1 - target);
    n = (int)kept + snprintf(target + kept, size - kept, "%s", link);
  }
  errno = ENAMETOOLONG;
  return KCL_USAGE;
}

static int open_beside(kcl_context *ctx, const char *path, bool named, kcl_output *o) {
  static atomic_int number;
  char target[MOST_PATH];
  if (kcl_file_target(path, target, sizeof target)) return cannot(ctx, o);
  o->final = strdup(target);
  size_t capacity = strlen(target) + 40;
  o->temporary = o->final ? malloc(capacity) : NULL;
  if (!o->temporary) return kcl_fail(ctx, KCL_MEMORY, "%s: out of memory", path);
  snprintf(o->temporary, capacity, "%s.%ld.%d.tmp", o->final, (long)getpid(),
           atomic_fetch_add(&number, 1));
  char self[40];
  o->file = named ? -1 : open_unnamed(o->final);
  o->unnamed = o->file >= 0 && access(proc_path(o, self, sizeof self), F_OK) == 0;
  if (o->unnamed) return KCL_OK;
  if (o->file >= 0) close(o->file);
  o->file = above_standard(open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  return o->file < 0 ? cannot(ctx, o) : KCL_OK;
}

static void forget_paths(kcl_output *o) {
  free(o->final), free(o->temporary);
  o->final = o->temporary = NULL, o->file = -1;
}

static bool packs(const char *path) {
  const size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

static int open_output(kcl_context *ctx, const char *path, bool named, kcl_output *o) {
  struct stat info;
  int rc = KCL_OK;
  *o = (kcl_output){.name = path, .file = -1, .pack = packs(path)};
  if (strcmp(path, "-") == 0) {
    o->name = "standard output", o->file = STDOUT_FILENO;
    return KCL_OK;
  }
#if !defined HAVE_LIBDEFLATE && !defined HAVE_ZLIB
  if (o->pack)
    return kcl_fail(ctx, KCL_INPUT,
                    "%s: cannot write .gz: this library was built without libdeflate and zlib",
                    path);
#endif
  bool there = stat(path, &info) == 0;
  if (there && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return cannot(ctx, o);
  }
  if (there && access(path, W_OK)) return cannot(ctx, o);
  if (there && !S_ISREG(info.st_mode)) {
    o->file = above_standard(open(path, O_WRONLY | O_CLOEXEC));
    return o->file < 0 ? cannot(ctx, o) : KCL_OK;
  }
  rc = open_beside(ctx, path, named, o);
  if (!rc && there) (void)!fchmod(o->file, info.st_mode & 07777);
  if (rc) forget_paths(o);
  return rc;
}

int kcl_output_open(kcl_context *ctx, const char *path, kcl_output *o) {
  return open_output(ctx, path, false, o);
}

int kcl_output_open_named(kcl_context *ctx, const char *path, kcl_output *o) {
  return open_output(ctx, path, true, o);
}

bool kcl_output_is_plain(const char *path) {
  struct stat info;
  return strcmp(path, "-") && !packs(path) && (stat(path, &info) || S_ISREG(info.st_mode));
}

bool kcl_output_join(const char *path, const char *temporary, kcl_output *o) {
  *o = (kcl_output){.name = path, .file = above_standard(open(temporary, O_WRONLY | O_CLOEXEC))};
  return o->file >= 0;
}

int kcl_output_seek(kcl_context *ctx, kcl_output *o, int64_t at) {
  return lseek(o->file, (off_t)at, SEEK_SET) < 0 ? cannot(ctx, o) : KCL_OK;
}

int kcl_output_write(kcl_context *ctx, kcl_output *o, const void *data, size_t size) {
  for (const char *p = data; size;) {
    ssize_t n = write(o->file, p, size);
    if (n < 0 && errno != EINTR) return cannot(ctx, o);
    if (n > 0) p += n, size -= (size_t)n;
  }
  return KCL_OK;
}

static atomic_bool synchronised;

void kcl_files_synchronise(bool on) { synchronised = on; }

/* Files of a caller; those of the cache have no context. Pipes and some devices cannot be synchronised. */
static int synchronise_output(kcl_context *ctx, const kcl_output *o) {
  if (!ctx || !synchronised || !fsync(o->file)) return KCL_OK;
  return errno == EINVAL || errno == EROFS ? KCL_OK : cannot(ctx, o);
}

void kcl_folder_synchronise(const char *path) {
  char folder[MOST_PATH];
  find_folder(path, folder);
  const int at = open(folder, O_RDONLY | O_CLOEXEC);
  if (at >= 0) fsync(at), close(at);
}

int kcl_output_close(kcl_context *ctx, kcl_output *o, int rc) {
  char self[40];
  if (!rc) rc = synchronise_output(ctx, o);
  if (o->unnamed && !rc &&
      linkat(AT_FDCWD, proc_path(o, self, sizeof self), AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW))
    rc = cannot(ctx, o);
  if (o->file > STDERR_FILENO && close(o->file) && !rc) rc = cannot(ctx, o);
  if (o->temporary && o->file >= 0) {
    if (!rc && rename(o->temporary, o->final)) rc = cannot(ctx, o);
    if (rc) unlink(o->temporary);
    if (!rc && ctx && synchronised) kcl_folder_synchronise(o->final);
  }
  forget_paths(o);
  return rc;
}

int kcl_file_write(kcl_context *ctx, const char *path, const void *data, size_t size) {
  kcl_output o = {.file = -1};
  KCL_CALL(kcl_need(ctx, "path", path));
  if (size) KCL_CALL(kcl_need(ctx, "data", data));
  KCL_CALL(kcl_output_open(ctx, path, &o));
  return kcl_output_close(ctx, &o, kcl_output_write(ctx, &o, data, size));
}
