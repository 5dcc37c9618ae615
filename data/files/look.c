/* The facts about a file that a process needs to read a part of it: its kind, its head, where its lines begin. */
#include "data/files/file.h"
#include "data/files/parts.h"
#include <string.h>

typedef int kcl_know(kcl_context *ctx, const kcl_text *t, kcl_look *out);

static int know_matrix(kcl_context *ctx, const kcl_text *t, kcl_look *out) {
  int i = 0, rc = KCL_OK;
  while (i < kcl_file_count && !kcl_files[i]->knows(t)) i++;
  if (i == kcl_file_count) return KCL_OK;
  if (kcl_files[i]->head) rc = kcl_files[i]->head(ctx, t, &out->head);
  if (kcl_files[i]->head && !rc && out->head.coordinate) out->layout = KCL_FILE_LINES;
  if (!strcmp(kcl_files[i]->name, "kcl")) out->layout = KCL_FILE_BINARY;
  return rc;
}

static int know_dense(kcl_context *ctx, const kcl_text *t, kcl_look *out) {
  out->layout = KCL_FILE_NUMBERS;
  if (!mm_has_banner(t)) return KCL_OK;
  out->layout = KCL_FILE_LINES;
  return mm_dense_head(ctx, t, &out->head);
}

static int look_in(kcl_context *ctx, const kcl_text *t, kcl_know *know, kcl_look *out) {
  out->layout = KCL_FILE_WHOLE;
  int rc = know(ctx, t, out);
  out->body = out->layout == KCL_FILE_LINES && !rc ? out->head.body - t->data : 0;
  out->head.body = NULL, out->head.name = NULL;
  return rc;
}

/* By the first `bytes` of the file; *enough: the head ends there. */
static int look_at_head(kcl_context *ctx, const char *path, int64_t bytes, kcl_know *know,
                        kcl_look *out, bool *enough) {
  kcl_text t;
  int rc = kcl_text_open_part(ctx, path, 0, bytes, &t);
  if (rc) return rc;
  rc = look_in(ctx, &t, know, out);
  *enough = !rc && out->body < bytes;
  kcl_text_close(&t);
  return rc;
}

/* Looks at more of the file where comments are so long that the head does not end in the first bytes. */
static int look_twice(kcl_context *ctx, const char *path, kcl_know *know, kcl_look *out) {
  const int64_t first = 1 << 20;
  bool enough = false;
  *out = (kcl_look){.size = kcl_text_size(path)};
  if (out->size < 0) return KCL_OK;
  int rc = look_at_head(ctx, path, out->size < first ? out->size : first, know, out, &enough);
  return enough || out->size <= first ? rc : look_at_head(ctx, path, out->size, know, out, &enough);
}

static int look_at_whole(kcl_context *ctx, const kcl_text *t, kcl_know *know, kcl_look *out) {
  *out = (kcl_look){.size = (int64_t)t->size};
  return look_in(ctx, t, know, out);
}

static int look_at_matrix(kcl_context *ctx, const char *path, kcl_look *out) {
  return look_twice(ctx, path, know_matrix, out);
}
static int matrix_in(kcl_context *ctx, const kcl_text *t, kcl_look *out) {
  return look_at_whole(ctx, t, know_matrix, out);
}
static int dense_at(kcl_context *ctx, const char *path, kcl_look *out) {
  return look_twice(ctx, path, know_dense, out);
}
static int dense_in(kcl_context *ctx, const kcl_text *t, kcl_look *out) {
  return look_at_whole(ctx, t, know_dense, out);
}

const kcl_looker kcl_look_for_matrix = {look_at_matrix, matrix_in};
const kcl_looker kcl_look_for_dense = {dense_at, dense_in};
