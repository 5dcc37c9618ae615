/* The matrices of the collection in the user's cache folder: collection/Group/Name.mtx. Name_b.mtx and the like came with
 * Name.mtx and are not listed. */
#include "core/base/cache.h"
#include "data/collection/tar.h"
#include <dirent.h>
#include <unistd.h>

enum { KEPT_PATH = 4096 };

static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }

/* The suffix .mtx of a file name, or NULL. */
static char *end_of(char *file) {
  size_t n = strlen(file);
  return n > 4 && strcmp(file + n - 4, ".mtx") == 0 ? file + n - 4 : NULL;
}

static bool came_with_another(const char *folder, const char *name) {
  static const char *const parts[] = {"_b", "_x", "_c", "_lo", "_hi", "_z0", "_coord"};
  char path[KEPT_PATH + 300];
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *end = strrchr(name, '_');
    if (!end || strcmp(end, parts[i])) continue;
    snprintf(path, sizeof path, "%s/%.*s.mtx", folder, (int)(end - name), name);
    if (access(path, F_OK) == 0) return true;
  }
  return false;
}

static void list_group(const char *root, const char *group, FILE *to) {
  char folder[KEPT_PATH + 260];
  struct dirent **file = NULL;
  snprintf(folder, sizeof folder, "%s%s", root, group);
  int count = scandir(folder, &file, visible, alphasort);
  for (int i = 0; i < count; i++) {
    char *end = end_of(file[i]->d_name);
    if (end) *end = 0;
    if (end && !came_with_another(folder, file[i]->d_name))
      fprintf(to, "%s/%s\n", group, file[i]->d_name);
    free(file[i]);
  }
  free(file);
}

int kcl_collection_kept(kcl_context *ctx, char **names) {
  char root[KEPT_PATH];
  struct dirent **group = NULL;
  size_t size = 0;
  int count = 0;
  KCL_CALL(kcl_need(ctx, "names", names));
  *names = NULL;
  FILE *to = open_memstream(names, &size);
  if (to && !kcl_cache_path("collection", "", root, sizeof root))
    count = scandir(root, &group, visible, alphasort);
  for (int i = 0; i < count; i++) {
    if (to) list_group(root, group[i]->d_name, to);
    free(group[i]);
  }
  free(group);
  if (to && !fclose(to)) return KCL_OK;
  free(*names), *names = NULL;
  return kcl_fail(ctx, KCL_MEMORY, "out of memory: the names of the matrices that are kept");
}
