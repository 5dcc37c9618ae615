/* See file.h: the writer. */
#include "core/base/sum64.h"
#include "solver/checkpoint/file.h"
#include "solver/checkpoint/format.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

uint64_t kcl_checkpoint_bytes(uint64_t size) { return sizeof(prefix) + size + sizeof(uint64_t); }

static int write_block(kcl_checkpoint_writer *w) {
  const size_t n = w->filled;
  w->sum = kcl_sum64(w->block, n, w->sum);
  w->filled = 0;
  return kcl_output_write(w->ctx, &w->output, w->block, n);
}

int kcl_checkpoint_put(kcl_checkpoint_writer *w, const void *data, size_t size) {
  const char *from = data;
  int rc = KCL_OK;
  w->size += size;
  while (!w->counting && size && !rc) {
    const size_t room = BLOCK - w->filled, n = size < room ? size : room;
    memcpy(w->block + w->filled, from, n);
    w->filled += n, from += n, size -= n;
    if (w->filled == BLOCK) rc = write_block(w);
  }
  return rc;
}

int kcl_checkpoint_open(kcl_context *ctx, const char *path, uint64_t size,
                        kcl_checkpoint_writer *w) {
  const prefix first = {MAGIC, KCL_CHECKPOINT_VERSION, ORDER, kcl_checkpoint_bytes(size)};
  *w = (kcl_checkpoint_writer){.ctx = ctx, .output = {.file = -1}};
  KCL_CALL(kcl_alloc(ctx, BLOCK, 1, "a checkpoint", (void **)&w->block));
  KCL_CALL(kcl_output_open(ctx, path, &w->output));
  return kcl_checkpoint_put(w, &first, sizeof first);
}

/* The text must be freed; NULL: out of memory. */
static char *join_texts(const char *a, const char *b) {
  const size_t room = strlen(a) + strlen(b) + 1;
  char *text = malloc(room);
  if (text) snprintf(text, room, "%s%s", a, b);
  return text;
}

static bool predecessor_moved(const kcl_checkpoint_writer *w, const char *before) {
  return w->replaces || !rename(w->output.final, before) || errno == ENOENT;
}

/* An earlier file of that name becomes NAME.1, once the new one is on the disk. */
static int keep_predecessor(kcl_checkpoint_writer *w) {
  const char *path = w->output.final;
  KCL_OWNED char *before = join_texts(path, ".1");
  int rc = before ? KCL_OK : kcl_fail(w->ctx, KCL_MEMORY, "%s: out of memory", w->output.name);
  if (!rc && (fsync(w->output.file) || !predecessor_moved(w, before)))
    rc = kcl_fail(w->ctx, KCL_INPUT, "%s: cannot write: %s", w->output.name, strerror(errno));
  return rc;
}

int kcl_checkpoint_close(kcl_checkpoint_writer *w, int rc) {
  if (!rc) rc = write_block(w);
  if (!rc) rc = kcl_output_write(w->ctx, &w->output, &w->sum, sizeof w->sum);
  if (!rc) rc = keep_predecessor(w);
  char *path = !rc ? join_texts(w->output.final, "") : NULL;
  rc = kcl_output_close(w->ctx, &w->output, rc);
  if (path) kcl_folder_synchronise(path); /* so that the names, too, survive a machine that stops */
  free(path), free(w->block), w->block = NULL;
  return rc;
}

int kcl_checkpoint_try(kcl_context *ctx, const char *path) {
  kcl_output output = {.file = -1};
  if (!kcl_output_is_plain(path))
    return kcl_fail(ctx, KCL_USAGE, "%s: a checkpoint is a regular file that is not packed", path);
  int rc = kcl_output_open(ctx, path, &output);
  if (!rc) kcl_output_close(ctx, &output, KCL_INPUT);
  return rc;
}
