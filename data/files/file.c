/* kcl_csr_read and kcl_csr_write: the choice of the file format. Readers by content (list.def), writers
 * by the ending of the name, with .gz after it or not.
 */
#include "data/files/file.h"
#include <stdio.h>

#define KCL_FILE(symbol) extern const kcl_file symbol;
#include "data/files/list.def"
#undef KCL_FILE

#define KCL_FILE(symbol) &symbol,
static const kcl_file *const kinds_of_files[] = {
#include "data/files/list.def"
};
#undef KCL_FILE
enum { FILE_KINDS = sizeof kinds_of_files / sizeof *kinds_of_files };

void kcl_file_system_free(kcl_file_system *s) {
  kcl_csr_free(&s->A);
  kcl_dense_free(&s->b);
  kcl_dense_free(&s->x0);
}

static int refuse_unknown(kcl_context *ctx, const kcl_text *t) {
  mm_error bad = {.line = 1};
  char list[160] = "";
  for (int i = 0; i < FILE_KINDS; i++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s",
             !i                   ? ""
             : i + 1 < FILE_KINDS ? ", "
                                  : ", or ",
             kinds_of_files[i]->expected);
  }
  mm_error_set(&bad, t->data, t->data, "%s", list);
  return mm_error_report(ctx, t->name, &bad);
}

const kcl_file *kcl_file_of_text(const kcl_text *t) {
  for (int i = 0; i < FILE_KINDS; i++)
    if (kinds_of_files[i]->knows(t)) return kinds_of_files[i];
  return NULL;
}

static int read_text(kcl_context *ctx, kcl_text *t, kcl_file_system *out) {
  const kcl_file *kind = kcl_file_of_text(t);
  mm_head h;
  if (!kind) return refuse_unknown(ctx, t);
  if (kind->read) return kind->read(ctx, t, out);
  KCL_CALL(kind->head(ctx, t, &h));
  return mm_read_body(ctx, t, &h, &out->A);
}

int kcl_csr_read_system(kcl_context *ctx, const char *path, kcl_csr **A, kcl_dense **b,
                        kcl_dense **x0) {
  KCL_OWNED_BY(kcl_file_system_free) kcl_file_system s = {0};
  KCL_OWNED_BY(kcl_text_close) kcl_text t = {0};
  if (b) *b = NULL;
  if (x0) *x0 = NULL;
  KCL_CALL(kcl_need(ctx, "A", A));
  *A = NULL;
  KCL_CALL(kcl_need(ctx, "path", path));
  KCL_CALL(kcl_text_open(ctx, path, &t));
  KCL_CALL(read_text(ctx, &t, &s));
  *A = s.A, s.A = NULL;
  if (b) *b = s.b, s.b = NULL;
  if (x0) *x0 = s.x0, s.x0 = NULL;
  return KCL_OK;
}

int kcl_csr_read(kcl_context *ctx, const char *path, kcl_csr **out) {
  return kcl_csr_read_system(ctx, path, out, NULL, NULL);
}

/* Does the name end in .ending or .ending.gz? */
static bool ends_in(const char *path, const char *ending) {
  size_t n = strlen(path), e = strlen(ending);
  if (n > 3 && strcmp(path + n - 3, ".gz") == 0) n -= 3;
  return n > e && path[n - e - 1] == '.' && strncmp(path + n - e, ending, e) == 0;
}

int kcl_csr_write_system(kcl_context *ctx, const char *path, const kcl_csr *A, const kcl_dense *b,
                         const kcl_dense *x0) {
  const kcl_file *kind = kinds_of_files[0];
  KCL_CALL(kcl_need(ctx, "path", path));
  KCL_CALL(kcl_csr_need(ctx, A));
  if (b) KCL_CALL(kcl_dense_need(ctx, "b", b));
  if (x0) KCL_CALL(kcl_dense_need(ctx, "x0", x0));
  for (int i = 1; i < FILE_KINDS; i++)
    if (ends_in(path, kinds_of_files[i]->name)) kind = kinds_of_files[i];
  return kind->write(ctx, path, &(kcl_file_system){(kcl_csr *)A, (kcl_dense *)b, (kcl_dense *)x0});
}

int kcl_csr_write(kcl_context *ctx, const char *path, const kcl_csr *A) {
  return kcl_csr_write_system(ctx, path, A, NULL, NULL);
}
