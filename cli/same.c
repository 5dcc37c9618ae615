/* Each result must have a file of its own, and none may overwrite an input. Files are compared by device and
 * inode; a file that does not exist by those of its folder and by its name. */
#include "cli/same.h"
#include "cli/ui/output.h"
#include "cli/ui/say.h"
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct place {
  const char *path;
  bool there, regular;
  struct stat info;        /* device and inode of the file, or of its folder */
  char name[NAME_MAX + 1]; /* name in that folder, if the file does not exist */
} place;

static bool is_standard(const char *path) { return !strcmp(path, "-"); }

/* Finds where a path lies. False: it cannot be compared, such as a file in a missing folder. fd: the descriptor
 * for "-". */
static bool locate_file(const char *path, int fd, place *p) {
  char target[4096], folder[4096];
  *p = (place){.path = path};
  p->there = (is_standard(path) ? fstat(fd, &p->info) : stat(path, &p->info)) == 0;
  p->regular = p->there && S_ISREG(p->info.st_mode);
  if (p->there || is_standard(path)) return p->there;
  if (kcl_file_target(path, target, sizeof target)) return false;
  const char *slash = strrchr(target, '/');
  snprintf(p->name, sizeof p->name, "%.255s", slash ? slash + 1 : target);
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target) + 1 : 1,
           slash ? target : ".");
  return stat(folder, &p->info) == 0;
}

/* True if both are one file. Devices such as /dev/null may take several results. */
static bool is_same_file(const place *a, const place *b) {
  if (is_standard(a->path) && is_standard(b->path)) return true;
  if (a->there != b->there || a->info.st_dev != b->info.st_dev || a->info.st_ino != b->info.st_ino)
    return false;
  return a->there ? !S_ISCHR(a->info.st_mode) : !strcmp(a->name, b->name);
}

static bool is_input(const place *out, const char *path) {
  place in;
  return path && locate_file(path, STDIN_FILENO, &in) && (in.regular || !in.there) &&
         is_same_file(out, &in);
}

/* The operands of generate and get are names, not files. */
static int against_inputs(const cli_command *c, const cli_options *o, const place *out) {
  bool names = !strcmp(c->name, "generate") || !strcmp(c->name, "get");
  const char *also[CLI_INPUTS];
  bool bad = false;
  cli_option_inputs(o, also);
  for (int i = 0; !bad && i < CLI_INPUTS; i++) bad = is_input(out, also[i]);
  for (int i = 0; !names && !bad && i < o->count; i++) bad = is_input(out, o->files[i]);
  if (!bad) return 0;
  return cli_fail(KCL_USAGE, "%s is an input file: the result needs another name", out->path);
}

static int against_outputs(const place *out, const char *const *outputs, size_t count) {
  place other;
  for (size_t i = 0; i < count; i++) {
    if (!outputs[i] || !locate_file(outputs[i], STDOUT_FILENO, &other) ||
        !is_same_file(out, &other))
      continue;
    if (is_standard(out->path) || !strcmp(out->path, other.path))
      return cli_fail(KCL_USAGE, "%s can take one result only",
                      is_standard(out->path) ? "standard output (-)" : out->path);
    return cli_fail(KCL_USAGE, "%s and %s are one file: it can take one result only", other.path,
                    out->path);
  }
  return 0;
}

/* The report goes to standard output, which may be the file of a result. */
static int against_report(const cli_options *o, const place *out) {
  place report;
  if (is_standard(out->path) || o->quiet || !out->regular) return 0;
  if (!locate_file("-", fileno(cli_out(o)), &report) || !is_same_file(out, &report)) return 0;
  return cli_fail(KCL_USAGE, "%s is where the report goes: the result needs another name",
                  out->path);
}

int cli_files_apart(const cli_command *c, const cli_options *o, const char *const *outputs,
                    size_t count) {
  for (size_t i = 0; i < count; i++) {
    place p;
    int rc;
    if (!outputs[i]) continue;
    if (is_standard(outputs[i]) && !cli_standard_output())
      return cli_fail(KCL_INPUT, "standard output (-) is closed");
    if (!locate_file(outputs[i], STDOUT_FILENO, &p)) continue;
    if (!is_standard(outputs[i]) && (rc = against_inputs(c, o, &p))) return rc;
    if ((rc = against_outputs(&p, outputs, i)) || (rc = against_report(o, &p))) return rc;
  }
  return 0;
}
