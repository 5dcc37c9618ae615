/* krylocl get: a matrix of the SuiteSparse collection, from the user's cache folder or the network;
 * and names of such matrices as operands of the other subcommands. */
#include "cli/cli.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Group/Name, if there is no such file and no folder Group, and the name has no ending of a file
 * format. */
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

int cli_collection(kcl *ctx, const cli_options *o, const char *name, char *path, size_t room) {
  double begin = cli_now();
  if (kcl_collection_get(ctx, name, false, path, room) == KCL_OK) return 0;
  cli_busy(o, "fetching %s", name);
  int rc = cli_lib(ctx, kcl_collection_get(ctx, name, true, path, room));
  if (!rc)
    cli_say(o, "fetched     %s in %s, kept as %s\n", name, cli_seconds(cli_now() - begin).s, path);
  return rc;
}

/* Path of Name_b.mtx beside Name.mtx; false if there is none. */
bool cli_collection_rhs(const char *matrix, char *path, size_t room) {
  size_t n = strlen(matrix);
  snprintf(path, room, "%.*s_b.mtx", (int)(n - 4), matrix);
  return access(path, R_OK) == 0;
}

static int run(kcl *ctx, const cli_options *o) {
  char path[4096], b[4096];
  kcl_csr *A = NULL;
  kcl_dense *v = NULL;
  int rc;
  TRY(cli_collection(ctx, o, o->files[0], path, sizeof path));
  bool rhs = cli_collection_rhs(path, b, sizeof b);
  TRY(cli_lib(ctx, kcl_csr_read(ctx, path, &A)));
  cli_say(o, "%s: %s x %s, %s nonzeros, %s %s\n%s\n", o->files[0], cli_count(A->rows).s,
          cli_count(A->cols).s, cli_count(A->nnz).s, kcl_field_name(A->field),
          kcl_symmetry_name(A->symmetry), path);
  if (rhs) cli_say(o, "%s\n", b);
  if (o->output) TRY(cli_lib(ctx, kcl_csr_write(ctx, o->output, A)));
  if (o->rhs && !rhs) TRY(cli_fail(KCL_INPUT, "%s comes without a right-hand side", o->files[0]));
  if (o->rhs) TRY(cli_lib(ctx, kcl_dense_read(ctx, b, &v)));
  if (o->rhs) TRY(cli_lib(ctx, kcl_dense_write(ctx, o->rhs, v)));
done:
  kcl_csr_free(&A);
  kcl_dense_free(&v);
  return rc;
}

const cli_command cli_get = {
    .name = "get",
    .operands = "Group/Name",
    .summary = "fetch a matrix of the SuiteSparse collection",
    .options = "output rhs quiet",

    .min = 1,
    .max = 1,
    .run = run,
    .notes = "The matrix is kept in collection/ of the user's cache folder; -o and --rhs write "
             "copies. Other subcommands take such names too: krylocl solve HB/bcsstk16. The server "
             "is $KRYLOCL_COLLECTION or https://sparse.tamu.edu/MM. Needs the program curl.\n"};
