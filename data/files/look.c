/* The facts about a file that a process needs to read a part of it: its kind, its head, where its lines begin. */
#include "data/files/file.h"
#include "data/files/parts.h"

int kcl_look_for_matrix(kcl_context *ctx, const kcl_text *t, kcl_look *out) {
  const kcl_file *kind = kcl_file_of_text(t);
  if (!kind) return KCL_OK;
  if (!strcmp(kind->name, "kcl")) out->layout = KCL_FILE_BINARY;
  if (!kind->head) return KCL_OK;
  KCL_CALL(kind->head(ctx, t, &out->head));
  if (out->head.coordinate) out->layout = KCL_FILE_LINES;
  return KCL_OK;
}

int kcl_look_for_dense(kcl_context *ctx, const kcl_text *t, kcl_look *out) {
  out->layout = KCL_FILE_NUMBERS;
  if (!mm_has_banner(t)) return KCL_OK;
  out->layout = KCL_FILE_LINES;
  return mm_dense_head(ctx, t, &out->head);
}

int kcl_look_in(kcl_context *ctx, const kcl_text *t, kcl_looker *look, kcl_look *out) {
  *out = (kcl_look){.size = (int64_t)t->size};
  int rc = look(ctx, t, out);
  out->body = out->layout == KCL_FILE_LINES && !rc ? out->head.body - t->data : 0;
  out->head.body = NULL, out->head.name = NULL;
  return rc;
}

static int look_at_head(kcl_context *ctx, const char *path, int64_t bytes, kcl_looker *look,
                        kcl_look *out) {
  KCL_OWNED_BY(kcl_text_close) kcl_text t = {0};
  KCL_CALL(kcl_text_open_part(ctx, path, 0, bytes, &t));
  return kcl_look_in(ctx, &t, look, out);
}

/* Looks at more of the file where comments are so long that the head does not end in the first bytes. */
int kcl_look_at(kcl_context *ctx, const char *path, kcl_looker *look, kcl_look *out) {
  const int64_t first = 1 << 20, size = kcl_text_size(path);
  *out = (kcl_look){.size = size};
  if (size < 0) return KCL_OK;
  int rc = look_at_head(ctx, path, size < first ? size : first, look, out);
  if (size > first && (rc || out->body >= first)) rc = look_at_head(ctx, path, size, look, out);
  out->size = size;
  return rc;
}
