/* Matrices of the SuiteSparse collection by name (Davis & Hu 2011): URL/Group/Name.tar.gz is downloaded by
 * the program curl, unpacked, and kept as text in the user's cache folder:
 *
 *   krylocl/collection/Group/Name.mtx   Name_b.mtx, Name_x.mtx, ... where there are any
 *
 * An interrupted download is resumed (Name.tar.gz.part). Verified: the size that the server states (curl),
 * the checksum of the archive (gzip) and of its headers (tar). Only files named after the matrix are
 * unpacked, and only into that folder. The server: $KRYLOCL_COLLECTION. */
#include "core/base/cache.h"
#include "data/collection/tar.h"
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DOWNLOAD_PATH = 4096, NAME = 80 };
enum {
  CURL_NO_HOST = 6,
  CURL_NO_CONNECTION = 7,
  CURL_HTTP = 22,
  CURL_NO_RANGE = 33,
  CURL_NO_RESUME = 36,
  NO_CURL = 127
};

typedef struct collection_place {
  char group[NAME], name[NAME], folder[2 * NAME + 20];
  char matrix[DOWNLOAD_PATH], part[DOWNLOAD_PATH], url[DOWNLOAD_PATH];
} collection_place;

static bool valid_name(const char *p, size_t n) {
  if (n == 0 || n >= NAME || *p == '.' || *p == '-') return false;
  for (size_t k = 0; k < n; k++)
    if (!((p[k] >= 'a' && p[k] <= 'z') || (p[k] >= 'A' && p[k] <= 'Z') ||
          (p[k] >= '0' && p[k] <= '9') || strchr("_-+.", p[k])))
      return false;
  return true;
}

static bool split_name(const char *word, collection_place *p) {
  const char *slash = strchr(word, '/');
  if (!slash || !valid_name(word, (size_t)(slash - word)) ||
      !valid_name(slash + 1, strlen(slash + 1)))
    return false;
  snprintf(p->group, sizeof p->group, "%.*s", (int)(slash - word), word);
  snprintf(p->name, sizeof p->name, "%s", slash + 1);
  snprintf(p->folder, sizeof p->folder, "collection/%s", p->group);
  return true;
}

static int locate_matrix(kcl_context *ctx, const char *word, collection_place *p) {
  char file[2 * NAME];
  const char *base = getenv("KRYLOCL_COLLECTION");
  if (!split_name(word, p))
    return kcl_fail(
        ctx, KCL_USAGE,
        "'%.99s' is not a name of the collection: write Group/Name, such as HB/bcsstk16", word);
  if (!base || !*base) base = "https://sparse.tamu.edu/MM";
  snprintf(file, sizeof file, "%s.mtx", p->name);
  int bad = kcl_cache_path(p->folder, file, p->matrix, DOWNLOAD_PATH);
  snprintf(file, sizeof file, "%s.tar.gz.part", p->name);
  if (bad || kcl_cache_path(p->folder, file, p->part, DOWNLOAD_PATH)) {
    const char *why = errno == EPERM ? kcl_cache_refused() : NULL;
    return kcl_fail(ctx, KCL_INPUT,
                    "no cache folder: %s (set KRYLOCL_CACHE, XDG_CACHE_HOME or HOME)",
                    why ? why : strerror(errno));
  }
  snprintf(p->url, DOWNLOAD_PATH, "%s/%s/%s.tar.gz", base, p->group, p->name);
  return KCL_OK;
}

/* The exit code of curl. */
static int curl(const collection_place *p) {
  const char *const args[] = {
      "curl",  "--fail",        "--silent", "--location", "--connect-timeout",
      "30",    "--continue-at", "-",        "--output",   p->part,
      "--url", p->url,          NULL};
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    execvp(args[0], (char *const *)args);
    _exit(NO_CURL);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *reason(int code) {
  if (code == NO_CURL) return "the program curl was not found: install curl";
  if (code == CURL_NO_HOST) return "the name of the server cannot be resolved: is there a network?";
  if (code == CURL_NO_CONNECTION) return "the server does not answer";
  if (code == CURL_HTTP) return "the server has no such matrix";
  return "the transfer was interrupted: the same command resumes it";
}

/* Discards a partial download that cannot be resumed (no ranges, or already complete). */
static int fetch_archive(kcl_context *ctx, const collection_place *p) {
  bool begun = access(p->part, F_OK) == 0;
  int code = curl(p);
  if (begun && (code == CURL_NO_RANGE || code == CURL_NO_RESUME || code == CURL_HTTP)) {
    unlink(p->part);
    code = curl(p);
  }
  if (code == 0) return KCL_OK;
  return kcl_fail(ctx, KCL_INPUT, "%s/%s: %s (%s; curl's exit code %d)", p->group, p->name,
                  reason(code), p->url, code);
}

static int unpack_matrix(kcl_context *ctx, const collection_place *p, const kcl_tar_member *m) {
  char file[120], path[DOWNLOAD_PATH];
  kcl_output o = {.file = -1};
  snprintf(file, sizeof file, "%.*s", m->name_length, m->name);
  if (!valid_name(file, strlen(file) < NAME ? strlen(file) : NAME) ||
      kcl_cache_path(p->folder, file, path, DOWNLOAD_PATH))
    return KCL_OK;
  KCL_CALL(kcl_output_open(ctx, path, &o));
  return kcl_output_close(ctx, &o, kcl_output_write(ctx, &o, m->data, m->size));
}

/* Unpacks Name_*.mtx, then Name.mtx: if that exists, the download is complete. */
static int unpack_all(kcl_context *ctx, const collection_place *p, const kcl_text *t) {
  kcl_tar_member m, matrix = {0};
  size_t at = 0, n = strlen(p->name);
  int rc = KCL_OK, found = 0;
  while (!rc && (found = kcl_tar_next(t, &at, &m)) == 1) {
    int len = m.name_length;
    if (len < (int)n + 4 || strncmp(m.name, p->name, n) || strncmp(m.name + len - 4, ".mtx", 4))
      continue;
    if (len == (int)n + 4)
      matrix = m;
    else if (m.name[n] == '_')
      rc = unpack_matrix(ctx, p, &m);
  }
  if (!rc && (found < 0 || !matrix.data))
    rc = kcl_fail(ctx, KCL_INPUT, "%s/%s: the archive %s, expected %s.mtx in it", p->group, p->name,
                  found < 0 ? "is damaged" : "lacks the matrix", p->name);
  return rc ? rc : unpack_matrix(ctx, p, &matrix);
}

static int unpack_archive(kcl_context *ctx, const collection_place *p) {
  kcl_text t = {0};
  int rc = kcl_text_open(ctx, p->part, &t);
  if (!rc) rc = unpack_all(ctx, p, &t);
  kcl_text_close(&t);
  unlink(p->part); /* unpacked or damaged: of no further use */
  return rc;
}

int kcl_collection_get(kcl_context *ctx, const char *group_name, bool fetch_it, char *path,
                       size_t capacity) {
  collection_place p;
  KCL_CALL(kcl_need(ctx, "path", path));
  KCL_CALL(kcl_need(ctx, "group_name", group_name));
  if (capacity) *path = 0;
  KCL_CALL(locate_matrix(ctx, group_name, &p));
  if (access(p.matrix, R_OK)) {
    if (!fetch_it) return kcl_fail(ctx, KCL_INPUT, "%s is not in the cache", group_name);
    KCL_CALL(fetch_archive(ctx, &p));
    KCL_CALL(unpack_archive(ctx, &p));
  }
  if ((size_t)snprintf(path, capacity, "%s", p.matrix) >= capacity)
    return kcl_fail(ctx, KCL_USAGE, "the path %s is too long", p.matrix);
  return KCL_OK;
}
