/* Do the ranks that see a file see the same one? Its size, its number and the time of its last change are the same on all
 * hosts where it is one file; of copies the contents are compared. */
#include "core/base/sum64.h"
#include "distributed/files/files.h"
#include <stdio.h>
#include <sys/stat.h>

typedef struct identity {
  int64_t number, seconds, nanoseconds;
} identity;

static identity identify(const char *path) {
  struct stat info;
  if (stat(path, &info)) return (identity){.number = -1};
  return (identity){(int64_t)info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

static int sum_file(kcl_context *ctx, const char *path, int64_t size, uint64_t *out) {
  kcl_text t;
  int rc = kcl_text_open_part(ctx, path, 0, size, &t);
  if (!rc) *out = kcl_sum64(t.data, t.size, 0);
  if (!rc) kcl_text_close(&t);
  return rc;
}

/* The message names the rank itself: none is added to failures of input (kcl_comm.files). */
static int refuse_files(kcl_comm *c, const char *path, const char *how) {
  return kcl_fail(c->ctx, KCL_INPUT, "%s: rank %d and rank 0 read different files of this name: %s",
                  path, c->ranks.rank, how);
}

static int compare_contents(kcl_comm *c, const char *path, int64_t size) {
  uint64_t own = 0, first;
  int rc = size >= 0 ? sum_file(c->ctx, path, size, &own) : KCL_OK;
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  first = own;
  kcl_tell(c, &first, sizeof first);
  if (size >= 0 && own != first) rc = refuse_files(c, path, "their contents differ");
  return kcl_comm_agree(c, rc);
}

int kcl_check_same_file(kcl_comm *c, const char *path, int64_t size) {
  const identity own = identify(path);
  struct {
    int64_t size;
    identity file;
  } first = {size, own};
  int rc = KCL_OK;
  kcl_tell(c, &first, sizeof first);
  if (first.size < 0) return KCL_OK; /* rank 0 alone reads it */
  if (size >= 0 && size != first.size) {
    char how[80];
    snprintf(how, sizeof how, "%lld and %lld bytes", (long long)size, (long long)first.size);
    rc = refuse_files(c, path, how);
  }
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  const bool copy = own.number != first.file.number || own.seconds != first.file.seconds ||
                    own.nanoseconds != first.file.nanoseconds;
  if (!(kcl_comm_largest(c, size >= 0 && copy) > 0)) return KCL_OK;
  return compare_contents(c, path, size);
}
