/* A file as text in memory: mapped if it is a regular file, read if it is a pipe, unpacked if it begins as
 * gzip (RFC 1952; several members are unpacked by all threads). libdeflate is about three times faster
 * than zlib. Memory comes from mmap: at least 64 zero bytes follow the text, and pages can be
 * released as soon as they are parsed.
 */
#include "data/files/text.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#elif defined HAVE_ZLIB
#include <zlib.h>
#endif

enum { TEXT_PAD = 64, TEXT_PAGE = 4096, HEADING = 10, SMALLEST = 18, SEARCH = 1 << 22 };

static size_t pages(size_t bytes) {
  return (bytes + TEXT_PAD + TEXT_PAGE - 1) / TEXT_PAGE * TEXT_PAGE;
}

static void *map(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
}

#ifdef __linux__
static void *remap(void *old, size_t from, size_t to) {
  return mremap(old, from, to, MREMAP_MAYMOVE);
}
#else
static void *remap(void *old, size_t from, size_t to) {
  void *m = map(to);
  if (m == MAP_FAILED) return m;
  memcpy(m, old, from < to ? from : to);
  munmap(old, from);
  return m;
}
#endif

static int reserve_text(kcl_context *ctx, kcl_text *t, size_t bytes) {
  size_t all = pages(bytes);
  void *m = t->data ? remap((void *)t->data, t->mapped, all) : map(all);
  if (m == MAP_FAILED)
    return kcl_fail(ctx, KCL_MEMORY, "%s: out of memory: its text needs %.3g GB", t->name,
                    (double)all * 1e-9);
  t->data = m, t->mapped = all;
  if (all > 32u << 20) (void)!madvise(m, all, KCL_LARGE_PAGES);
  return KCL_OK;
}

int kcl_text_create(kcl_context *ctx, const char *name, size_t bytes, kcl_text *out) {
  *out = (kcl_text){.name = name};
  const int rc = reserve_text(ctx, out, bytes);
  if (!rc) out->size = bytes;
  return rc;
}

void kcl_text_close(kcl_text *t) {
  if (t->data) munmap(t->data - t->skip, t->mapped);
  t->data = NULL, t->size = t->mapped = t->skip = 0;
}

static void advise(char *begin, char *end, int what) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t a = ((uintptr_t)begin + page - 1) / page * page, b = (uintptr_t)end / page * page;
  if (a < b) (void)!madvise((void *)a, b - a, what);
}

void kcl_text_expect(char *begin, char *end) {
#ifdef MADV_POPULATE_READ
  advise(begin, end, MADV_POPULATE_READ);
#else
  (void)begin, (void)end;
#endif
}
void kcl_text_release(char *begin, char *end) { advise(begin, end, MADV_DONTNEED); }

/* Maps bytes of the file over a reservation at least TEXT_PAD longer, so that zeros follow its end. */
static int map_file(kcl_context *ctx, kcl_text *t, int file, size_t from, size_t size) {
  const size_t skip = from % (size_t)sysconf(_SC_PAGESIZE);
  KCL_CALL(reserve_text(ctx, t, skip + size));
  void *m =
      mmap(t->data, skip + size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, (off_t)(from - skip));
  if (m == MAP_FAILED)
    return kcl_fail(ctx, errno == ENOMEM ? KCL_MEMORY : KCL_INPUT, "%s: cannot map it: %s", t->name,
                    strerror(errno));
  t->data += skip;
  t->skip = skip;
  t->size = size;
  return KCL_OK;
}

static int read_pipe(kcl_context *ctx, kcl_text *t, int file) {
  int rc = reserve_text(ctx, t, 1 << 20);
  while (!rc) {
    if (t->mapped - t->size <= TEXT_PAD) rc = reserve_text(ctx, t, 2 * t->mapped);
    if (rc) break;
    ssize_t got = read(file, t->data + t->size, t->mapped - t->size - TEXT_PAD);
    if (got == 0) break;
    if (got < 0 && errno != EINTR)
      rc = kcl_fail(ctx, KCL_INPUT, "%s: cannot read: %s", t->name, strerror(errno));
    if (got > 0) t->size += (size_t)got;
  }
  return rc;
}

static int load_file(kcl_context *ctx, const char *path, kcl_text *t) {
  bool standard = strcmp(path, "-") == 0;
  int rc, file = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  t->name = standard ? "standard input" : path;
  if (file < 0) return kcl_fail(ctx, KCL_INPUT, "%s: cannot open: %s", t->name, strerror(errno));
  if (fstat(file, &info))
    rc = kcl_fail(ctx, KCL_INPUT, "%s: cannot read: %s", t->name, strerror(errno));
  else if (S_ISDIR(info.st_mode))
    rc = kcl_fail(ctx, KCL_INPUT, "%s: is a directory, expected a file", t->name);
  else if (S_ISREG(info.st_mode) && info.st_size > 0 && lseek(file, 0, SEEK_CUR) == 0)
    rc = map_file(ctx, t, file, 0, (size_t)info.st_size);
  else
    rc = read_pipe(ctx, t, file);
  if (!standard) close(file);
  if (!rc && t->size == 0) rc = kcl_fail(ctx, KCL_INPUT, "%s: is empty, expected numbers", t->name);
  return rc;
}

static bool is_gzip(const char *p, size_t left) {
  return left > 2 && memcmp(p, "\x1f\x8b", 2) == 0;
}

#if defined HAVE_LIBDEFLATE || defined HAVE_ZLIB
/* Unpacks one member: 0: success, with the bytes read and written; 1: more room needed; 2: damaged;
 * 3: truncated. */
#ifdef HAVE_LIBDEFLATE
static int member(const char *in, size_t left, char *out, size_t capacity, size_t *used,
                  size_t *made) {
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
  if (!d) return 1;
  enum libdeflate_result r = libdeflate_gzip_decompress_ex(d, in, left, out, capacity, used, made);
  libdeflate_free_decompressor(d);
  return r == LIBDEFLATE_SUCCESS ? 0 : r == LIBDEFLATE_INSUFFICIENT_SPACE ? 1 : 2;
}
#else
static int member(const char *in, size_t left, char *out, size_t capacity, size_t *used,
                  size_t *made) {
  z_stream z = {0};
  int r = inflateInit2(&z, 15 + 16);
  size_t step = 1u << 30, i = 0, o = 0;
  while (r == Z_OK) {
    size_t give = left - i < step ? left - i : step,
           take = capacity - o < step ? capacity - o : step;
    z.next_in = (Bytef *)(uintptr_t)(in + i), z.avail_in = (uInt)give;
    z.next_out = (Bytef *)out + o, z.avail_out = (uInt)take;
    r = inflate(&z, Z_NO_FLUSH);
    i += give - z.avail_in, o += take - z.avail_out;
    if (r == Z_OK && (o == capacity || i == left)) break;
  }
  inflateEnd(&z);
  *used = i, *made = o;
  if (r == Z_STREAM_END) return 0;
  if ((r == Z_OK || r == Z_BUF_ERROR) && o == capacity) return 1;
  return r == Z_DATA_ERROR ? 2 : 3;
}
#endif

static bool only_zeros(const char *p, size_t left) {
  while (left && *p == 0) p++, left--;
  return left == 0;
}

/* The last four bytes of a member are its unpacked length modulo 2^32. */
static size_t stated_length(const char *end) {
  const unsigned char *e = (const unsigned char *)end;
  return e[-4] | (size_t)e[-3] << 8 | (size_t)e[-2] << 16 | (size_t)e[-1] << 24;
}

/* Estimate of the unpacked size, exact for a file of one member. */
static size_t guess_size(const kcl_text *in) {
  size_t stated = in->size < SMALLEST ? 0 : stated_length(in->data + in->size);
  return stated / 1100 > in->size || stated < in->size / 2 ? 4 * in->size : stated + 1;
}

/* Presumed starts of members: the bytes that the file begins with. NULL if there is only one, or one so
 * large that the search for the next could take longer than it saves. */
typedef struct member_part {
  size_t in, out; /* start in the packed and unpacked text; after the last part: the sizes */
} member_part;
static member_part *find_parts(const kcl_text *in, int64_t *count) {
  const char *first = in->data, *end = first + in->size - HEADING, *p = first, *from = p;
  member_part *list = NULL;
  size_t out = 0;
  int64_t n = 0;
  for (; p && p < end && p - from < SEARCH; p = memchr(p + 1, first[0], (size_t)(end - p - 1))) {
    if (p > first && (p - from < SMALLEST || memcmp(p, first, HEADING))) continue;
    if ((n & (n + 1)) == 0) {
      member_part *more = realloc(list, (size_t)(2 * n + 2) * sizeof *list);
      if (!more) break;
      list = more;
    }
    if (n) out += stated_length(p);
    list[n++] = (member_part){(size_t)(p - first), out};
    from = p;
  }
  if (n > 1 && !(p && p < end)) {
    list[n] = (member_part){in->size, out + stated_length(first + in->size)};
    *count = n;
    return list;
  }
  free(list);
  return NULL;
}

typedef struct unpacking {
  const kcl_text *in;
  kcl_text *out;
  const member_part *list;
  atomic_bool good;
} unpacking;

static void unpack_gzip_member(void *arg, int64_t k, int64_t end) {
  unpacking *u = arg;
  const member_part *p = &u->list[k];
  size_t left = p[1].in - p->in, capacity = p[1].out - p->out, used, made;
  (void)end;
  if (!u->good) return;
  if (member(u->in->data + p->in, left, u->out->data + p->out, capacity, &used, &made) ||
      used != left || made != capacity)
    u->good = false;
}

/* Unpacks all members in parallel. A start is confirmed if the member before ends there with the stated
 * number of bytes. false if one is not: the members are then unpacked one after another. */
static bool unpack_parts(kcl_context *ctx, const kcl_text *in, kcl_text *out) {
  int64_t n = 0;
  member_part *list = kcl_threads() > 1 && in->size > SMALLEST ? find_parts(in, &n) : NULL;
  bool good = list && list[n].out / 1100 < in->size && !reserve_text(ctx, out, list[n].out);
  if (!good) n = 0;
  unpacking u = {.in = in, .out = out, .list = list, .good = good};
  kcl_for_each(n, 1, unpack_gzip_member, &u);
  good = u.good;
  if (good) out->size = list[n].out;
  free(list);
  return good;
}

static int unpack_gzip(kcl_context *ctx, const kcl_text *in, kcl_text *out) {
  size_t at = 0, used = 0, made = 0;
  int rc = KCL_OK, r;
  out->name = in->name;
  if (unpack_parts(ctx, in, out))
    at = in->size;
  else
    rc = reserve_text(ctx, out, guess_size(in));
  while (!rc && at < in->size && !only_zeros(in->data + at, in->size - at)) {
    if (!is_gzip(in->data + at, in->size - at))
      return kcl_fail(ctx, KCL_INPUT, "%s: bytes that are not gzip follow byte %zu", in->name, at);
    r = member(in->data + at, in->size - at, out->data + out->size,
               out->mapped - out->size - TEXT_PAD, &used, &made);
    if (r > 1)
      return kcl_fail(
          ctx, KCL_INPUT,
          "%s: gzip data is damaged or cut short (in the member that starts at byte %zu)", in->name,
          at);
    if (r == 1) {
      rc = reserve_text(ctx, out, 2 * out->mapped);
      continue;
    }
    kcl_text_release(in->data + at, in->data + at + used);
    at += used, out->size += made;
  }
  if (!rc) memset(out->data + out->size, 0, TEXT_PAD);
  if (!rc && out->size == 0)
    rc = kcl_fail(ctx, KCL_INPUT, "%s: unpacks to nothing, expected numbers", in->name);
  return rc;
}
#else
static int unpack_gzip(kcl_context *ctx, const kcl_text *in, kcl_text *out) {
  *out = (kcl_text){0};
  return kcl_fail(
      ctx, KCL_INPUT,
      "%s: is gzip, and this library was built without libdeflate and zlib: gunzip it first",
      in->name);
}
#endif

/* Refuses common kinds of files that no reader knows, with advice. */
static int refuse_foreign(kcl_context *ctx, const kcl_text *t) {
  static const struct {
    const char *magic, *what;
  } foreign[] = {
      {"\xfd\x37zXZ", "packed by xz: unpack it (xz -dk), or pack it by gzip"},
      {"BZh", "packed by bzip2: unpack it (bzip2 -dk), or pack it by gzip"},
      {"\x28\xb5\x2f\xfd", "packed by zstd: unpack it (zstd -dk), or pack it by gzip"},
      {"PK\3\4", "a zip archive (.zip, .npz): scipy.io.mmwrite writes Matrix Market files"},
      {"\x93NUMPY", "a NumPy array: scipy.io.mmwrite writes Matrix Market files"},
      {"\x89HDF", "an HDF5 file: mmwrite writes Matrix Market files"},
      {"MATLAB 5.0 MAT", "a MATLAB file: mmwrite writes Matrix Market files"}};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    const size_t size = strlen(foreign[i].magic);
    if (t->size > size && !memcmp(t->data, foreign[i].magic, size))
      return kcl_fail(ctx, KCL_INPUT, "%s: is %s", t->name, foreign[i].what);
  }
  return KCL_OK;
}

int kcl_text_open(kcl_context *ctx, const char *path, kcl_text *out) {
  kcl_text raw = {0}, text = {0};
  int rc = load_file(ctx, path, &raw);
  if (!rc && (rc = refuse_foreign(ctx, &raw))) {
    kcl_text_close(&raw);
  } else if (!rc && is_gzip(raw.data, raw.size)) {
    rc = unpack_gzip(ctx, &raw, &text);
    kcl_text_close(&raw);
  } else {
    text = raw;
  }
  if (rc) kcl_text_close(&text);
  *out = text;
  return rc;
}

int64_t kcl_text_size(const char *path) {
  struct stat info;
  char magic[3] = "";
  int file = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return -1;
  bool plain = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
               !is_gzip(magic, (size_t)pread(file, magic, sizeof magic, 0));
  close(file);
  return plain ? (int64_t)info.st_size : -1;
}

int kcl_text_open_part(kcl_context *ctx, const char *path, int64_t from, int64_t to,
                       kcl_text *out) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  *out = (kcl_text){.name = path};
  if (file < 0) return kcl_fail(ctx, KCL_INPUT, "%s: cannot open: %s", path, strerror(errno));
  int rc = map_file(ctx, out, file, (size_t)from, (size_t)(to - from));
  close(file);
  if (rc) kcl_text_close(out);
  return rc;
}
