/* Operands that are no files: generated systems, matrices of the SuiteSparse collection, words for vectors. */
#include "cli/input/input.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_generated(const char *path) {
  const size_t kind = strcspn(path, ":");
  bool is = false;
  for (int i = 0; path[kind] && i < kcl_list_size(KCL_GENERATORS) && !is; i++) {
    const char *name = kcl_list(KCL_GENERATORS, i).name;
    is = strlen(name) == kind && !strncmp(name, path, kind);
  }
  return is && access(path, F_OK) != 0;
}

bool cli_is_word(const char *x) { return !strcmp(x, "ones") || !strcmp(x, "random"); }

/* Group/Name, unless there is such a file or a folder Group, or the name ends like a file format. */
bool cli_is_collection(const char *path) {
  static const char *const files[] = {".mtx", ".gz", ".rb", ".kcl", ".rows", ".txt", ".rhs"};
  const char *slash = strchr(path, '/');
  char group[100];
  struct stat info;
  size_t n = strlen(path);
  if (!slash || slash == path || strchr(slash + 1, '/') || *path == '.' || !slash[1]) return false;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    size_t e = strlen(files[i]);
    if (n > e && strcmp(path + n - e, files[i]) == 0) return false;
  }
  snprintf(group, sizeof group, "%.*s", (int)(slash - path), path);
  return stat(path, &info) != 0 && stat(group, &info) != 0;
}

int cli_collection(kcl_context *ctx, const cli_options *o, const char *name, char *path,
                   size_t capacity) {
  double begin = cli_now();
  if (kcl_collection_get(ctx, name, false, path, capacity) == KCL_OK) return 0;
  cli_busy(o, "fetching %s", name);
  int rc = cli_lib(kcl_collection_get(ctx, name, true, path, capacity));
  if (!rc)
    cli_say(o, "fetched     %s in %s, kept as %s\n", name, cli_seconds(cli_now() - begin).s, path);
  return rc;
}

bool cli_collection_rhs(const char *matrix, char *path, size_t capacity) {
  size_t n = strlen(matrix);
  snprintf(path, capacity, "%.*s_b.mtx", (int)(n - 4), matrix);
  return access(path, R_OK) == 0;
}
