/* kcl_csr_read_cached: parsed files are kept as .kcl in the user's cache folder, matrices/SUM-SIZE-TIME.kcl,
 * where SUM is the checksum of the source as it is on disk. The checksum is one pass over the source; parsing
 * takes ten times as long. An entry that is missing, damaged or of another version is written again; a
 * cache that cannot be written is not an error.
 */
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/base/sum64.h"
#include "data/files/file.h"
#include "data/files/kcl_file.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The entry's name; false if the file is not to be kept: not a regular file, or a .kcl. */
static bool make_entry_name(const kcl_context *ctx, const char *path, char *name, size_t capacity) {
  struct stat info;
  void *data = MAP_FAILED;
  int file = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return false;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (data == MAP_FAILED) return false;
  size_t size = (size_t)info.st_size;
  bool ours = size >= 8 && memcmp(data, kcl_file_magic, 8) == 0;
  unsigned long long sum =
      ours ? 0 : kcl_sum64(data, size, KCL_FILE_VERSION + 1000 * ctx->zero_based);
  munmap(data, size);
  snprintf(name, capacity, "%016llx-%llx-%llx.%09ld.kcl", sum, (unsigned long long)size,
           (unsigned long long)info.st_mtim.tv_sec, (long)info.st_mtim.tv_nsec);
  return !ours;
}

/* Reads the entry through its open file, which was found to be private. */
static int read_cached_entry(kcl_context *ctx, const char *name, kcl_csr **A, kcl_dense **b,
                             kcl_dense **x0) {
  char path[32];
  int file = kcl_cache_open("matrices", name), rc = KCL_INPUT;
  if (file < 0) return rc;
  snprintf(path, sizeof path, "/dev/fd/%d", file);
  rc = kcl_csr_read_system(ctx, path, A, b, x0);
  close(file);
  return rc;
}

int kcl_csr_read_cached(kcl_context *ctx, const char *path, kcl_csr **A, kcl_dense **b,
                        kcl_dense **x0) {
  char name[100], entry[4096];
  kcl_file_system s = {0};
  if (!A || !path) return kcl_csr_read_system(ctx, path, A, b, x0); /* which refuses */
  bool keep = make_entry_name(ctx, path, name, sizeof name) &&
              kcl_cache_path("matrices", name, entry, sizeof entry) == 0;
  *A = NULL;
  if (b) *b = NULL;
  if (x0) *x0 = NULL;
  if (keep && !read_cached_entry(ctx, name, A, b, x0)) return KCL_OK;
  KCL_CALL(kcl_csr_read_system(ctx, path, &s.A, &s.b, &s.x0));
  if (keep) (void)kcl_csr_write_system(ctx, entry, s.A, s.b, s.x0);
  *A = s.A, s.A = NULL;
  if (b) *b = s.b, s.b = NULL;
  if (x0) *x0 = s.x0, s.x0 = NULL;
  kcl_file_system_free(&s);
  return KCL_OK;
}
