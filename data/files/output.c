/* Output that appears under its name only when it is complete: written to a temporary file beside it (an
 * unnamed one if the system has such) and renamed. Devices, pipes and standard output are written in
 * place. A name that ends in .gz is packed as a sequence of gzip members (RFC 1952), so that threads can
 * pack parts in parallel.
 */
#include "data/files/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#elif defined HAVE_ZLIB
#include <zlib.h>
#endif

static int cannot(kcl *ctx, const kcl_output *o) {
  return kcl_fail(ctx, KCL_INPUT, "%s: cannot write: %s", o->name, strerror(errno));
}

/* The path in /proc through which the open file can be linked. */
static const char *proc_path(const kcl_output *o, char *room, size_t size) {
  snprintf(room, size, "/proc/self/fd/%d", o->file);
  return room;
}

#ifdef O_TMPFILE
static int open_unnamed(const char *beside) {
  char folder[4096];
  const char *slash = strrchr(beside, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - beside) + 1 : 1,
           slash ? beside : ".");
  return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}
#else
static int open_unnamed(const char *beside) { return (void)beside, -1; }
#endif

/* A symbolic link is followed: its target is replaced, not the link. */
static int open_beside(kcl *ctx, const char *path, kcl_output *o) {
  static atomic_int number;
  o->final = realpath(path, NULL);
  if (!o->final) o->final = strdup(path);
  size_t room = o->final ? strlen(o->final) + 40 : 0;
  o->temporary = o->final ? malloc(room) : NULL;
  if (!o->temporary) return kcl_fail(ctx, KCL_MEMORY, "%s: out of memory", path);
  snprintf(o->temporary, room, "%s.%ld.%d.tmp", o->final, (long)getpid(),
           atomic_fetch_add(&number, 1));
  char self[40];
  o->file = open_unnamed(o->final);
  o->unnamed = o->file >= 0 && access(proc_path(o, self, sizeof self), F_OK) == 0;
  if (o->unnamed) return KCL_OK;
  if (o->file >= 0) close(o->file);
  o->file = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return o->file < 0 ? cannot(ctx, o) : KCL_OK;
}

static void forget(kcl_output *o) {
  free(o->final), free(o->temporary);
  o->final = o->temporary = NULL, o->file = -1;
}

int kcl_output_open(kcl *ctx, const char *path, kcl_output *o) {
  struct stat info;
  size_t n = strlen(path);
  int rc = KCL_OK;
  *o = (kcl_output){.name = path, .file = -1, .pack = n > 3 && strcmp(path + n - 3, ".gz") == 0};
  if (strcmp(path, "-") == 0) {
    o->name = "standard output", o->file = 1;
    return KCL_OK;
  }
#if !defined HAVE_LIBDEFLATE && !defined HAVE_ZLIB
  if (o->pack)
    return kcl_fail(ctx, KCL_INPUT,
                    "%s: cannot write .gz: this library was built without libdeflate and zlib",
                    path);
#endif
  bool there = stat(path, &info) == 0;
  if (there && S_ISDIR(info.st_mode)) return errno = EISDIR, cannot(ctx, o);
  if (there && access(path, W_OK)) return cannot(ctx, o);
  if (there && !S_ISREG(info.st_mode)) {
    o->file = open(path, O_WRONLY | O_CLOEXEC);
    return o->file < 0 ? cannot(ctx, o) : KCL_OK;
  }
  rc = open_beside(ctx, path, o);
  if (!rc && there) (void)!fchmod(o->file, info.st_mode & 07777);
  if (rc) forget(o);
  return rc;
}

int kcl_output_write(kcl *ctx, kcl_output *o, const void *data, size_t size) {
  for (const char *p = data; size;) {
    ssize_t n = write(o->file, p, size);
    if (n < 0 && errno != EINTR) return cannot(ctx, o);
    if (n > 0) p += n, size -= (size_t)n;
  }
  return KCL_OK;
}

int kcl_output_close(kcl *ctx, kcl_output *o, int rc) {
  char self[40];
  if (o->unnamed && !rc &&
      linkat(AT_FDCWD, proc_path(o, self, sizeof self), AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW))
    rc = cannot(ctx, o);
  if (o->file > 1 && close(o->file) && !rc) rc = cannot(ctx, o);
  if (o->temporary && o->file >= 0) {
    if (!rc && rename(o->temporary, o->final)) rc = cannot(ctx, o);
    if (rc) unlink(o->temporary);
  }
  forget(o);
  return rc;
}

#ifdef HAVE_LIBDEFLATE
static size_t squeeze(const kcl_bytes *in, kcl_bytes *out) {
  struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
  if (!c) return 0;
  size_t room = libdeflate_gzip_compress_bound(c, in->size);
  out->data = malloc(room);
  if (out->data) out->size = libdeflate_gzip_compress(c, in->data, in->size, out->data, room);
  libdeflate_free_compressor(c);
  return out->size;
}
#elif defined HAVE_ZLIB
static size_t squeeze(const kcl_bytes *in, kcl_bytes *out) {
  z_stream z = {0};
  if (in->size >> 31 || deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY)) return 0;
  size_t room = deflateBound(&z, (uLong)in->size) + 32;
  out->data = malloc(room);
  z.next_in = (Bytef *)in->data, z.avail_in = (uInt)in->size;
  z.next_out = (Bytef *)out->data, z.avail_out = (uInt)room;
  if (out->data && deflate(&z, Z_FINISH) == Z_STREAM_END) out->size = z.total_out;
  deflateEnd(&z);
  return out->size;
}
#else
static size_t squeeze(const kcl_bytes *in, kcl_bytes *out) { return (void)in, out->size; }
#endif

int kcl_output_pack(const kcl_output *o, kcl_bytes *b) {
  kcl_bytes packed = {0};
  if (!o->pack || b->size == 0) return 0;
  bool good = squeeze(b, &packed) > 0;
  free(good ? b->data : packed.data);
  if (good) *b = packed;
  return good ? 0 : 1;
}
