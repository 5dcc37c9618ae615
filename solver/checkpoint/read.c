/* See file.h: the reader. */
#include "core/base/sum64.h"
#include "solver/checkpoint/file.h"
#include "solver/checkpoint/format.h"
#include <errno.h>
#include <sys/stat.h>

int kcl_checkpoint_get(kcl_checkpoint_reader *r, void *data, size_t size) {
  if (size > r->left || fread(data, 1, size, r->f) != size) return kcl_checkpoint_damaged(r);
  r->left -= size;
  return KCL_OK;
}

int kcl_checkpoint_damaged(const kcl_checkpoint_reader *r) {
  return kcl_fail(r->ctx, KCL_INPUT, "%s: the checkpoint is damaged: its parts do not fit together",
                  r->path);
}

static int check_prefix(const kcl_checkpoint_reader *r, const prefix *p, uint64_t size) {
  static const unsigned char magic[8] = MAGIC;
  if (memcmp(p->magic, magic, sizeof magic) != 0)
    return kcl_fail(r->ctx, KCL_INPUT, "%s: not a checkpoint of krylocl", r->path);
  if (p->order != ORDER)
    return kcl_fail(r->ctx, KCL_INPUT,
                    "%s: the checkpoint was written on a machine of the other byte order", r->path);
  if (p->version != KCL_CHECKPOINT_VERSION)
    return kcl_fail(r->ctx, KCL_INPUT,
                    "%s: the checkpoint has version %u, this library reads version %d", r->path,
                    (unsigned)p->version, KCL_CHECKPOINT_VERSION);
  if (p->size != size)
    return kcl_fail(r->ctx, KCL_INPUT,
                    "%s: the checkpoint is cut short or damaged: it has %llu bytes, not %llu",
                    r->path, (unsigned long long)size, (unsigned long long)p->size);
  return KCL_OK;
}

/* Checksum *now of all bytes but the last eight, which are *then. */
static int sum_checkpoint(const kcl_checkpoint_reader *r, uint64_t bytes, uint64_t *now,
                          uint64_t *then) {
  KCL_OWNED char *block = NULL;
  int rc = KCL_OK;
  KCL_CALL(kcl_alloc(r->ctx, BLOCK, 1, "a checkpoint", (void **)&block));
  rewind(r->f);
  *now = 0;
  /* a block of no bytes ends a file whose length is a multiple of BLOCK, as the writer's does */
  for (bool more = true; more && !rc;) {
    const size_t n = bytes < BLOCK ? (size_t)bytes : BLOCK;
    more = n == BLOCK, bytes -= n;
    if (fread(block, 1, n, r->f) != n)
      rc = kcl_fail(r->ctx, KCL_INPUT, "%s: cannot read: %s", r->path, strerror(errno));
    else
      *now = kcl_sum64(block, n, *now);
  }
  if (!rc && fread(then, 1, sizeof *then, r->f) != sizeof *then) rc = kcl_checkpoint_damaged(r);
  return rc;
}

static int check_file(kcl_checkpoint_reader *r) {
  struct stat info;
  prefix p = {.size = 0};
  uint64_t now = 0, then = 0;
  if (fstat(fileno(r->f), &info) || !S_ISREG(info.st_mode))
    return kcl_fail(r->ctx, KCL_INPUT, "%s: a checkpoint is a regular file", r->path);
  const uint64_t size = (uint64_t)info.st_size;
  if (fread(&p, 1, sizeof p, r->f) != sizeof p || size < kcl_checkpoint_bytes(0))
    memset(p.magic, 0, sizeof p.magic);
  int rc = check_prefix(r, &p, size);
  if (!rc) rc = sum_checkpoint(r, size - sizeof now, &now, &then);
  if (!rc && now != then)
    rc = kcl_fail(r->ctx, KCL_INPUT, "%s: the checkpoint is damaged: its checksum is wrong",
                  r->path);
  r->size = r->left = size - kcl_checkpoint_bytes(0);
  return rc;
}

static bool is_text(const char *s, size_t room) { return memchr(s, 0, room) != NULL; }

static int read_head(kcl_checkpoint_reader *r) {
  kcl_saved_head *h = &r->head;
  KCL_CALL(kcl_checkpoint_get(r, h, sizeof *h));
  const bool fits =
      is_text(h->method, sizeof h->method) && is_text(h->precond, sizeof h->precond) &&
      is_text(h->format, sizeof h->format) && h->words > 0 && (uint64_t)h->words <= r->left &&
      h->nrhs > 0 && h->nrhs <= KCL_MAX_NRHS && h->vectors > 0 && h->state >= 0;
  if (!fits) return kcl_checkpoint_damaged(r);
  int rc = kcl_alloc(r->ctx, h->words, 1, "a checkpoint", (void **)&r->words);
  if (!rc) rc = kcl_checkpoint_get(r, r->words, (size_t)h->words);
  return rc || !r->words[h->words - 1] ? rc : kcl_checkpoint_damaged(r);
}

static int read_checkpoint_at(kcl_context *ctx, const char *path, const char *ending,
                              kcl_checkpoint_reader **out) {
  kcl_checkpoint_reader *r;
  const size_t room = strlen(path) + strlen(ending) + 1;
  int rc = kcl_alloc(ctx, 1, sizeof *r, "a checkpoint", (void **)&r);
  *out = r;
  if (rc) return rc;
  r->ctx = ctx;
  KCL_CALL(kcl_alloc(ctx, (int64_t)room, 1, "a checkpoint", (void **)&r->path));
  snprintf(r->path, room, "%s%s", path, ending);
  r->f = fopen(r->path, "rbe");
  if (!r->f) return kcl_fail(ctx, KCL_INPUT, "%s: cannot open: %s", r->path, strerror(errno));
  KCL_CALL(check_file(r));
  if (fseek(r->f, sizeof(prefix), SEEK_SET)) return kcl_checkpoint_damaged(r);
  return read_head(r);
}

/* A failure is that of NAME. */
int kcl_checkpoint_read(kcl_context *ctx, const char *path, kcl_checkpoint_reader **out) {
  char why[KCL_MESSAGE];
  int rc = read_checkpoint_at(ctx, path, "", out);
  if (rc != KCL_INPUT) goto done;
  snprintf(why, sizeof why, "%s", kcl_error());
  kcl_checkpoint_free(out);
  rc = read_checkpoint_at(ctx, path, ".1", out);
  if (rc == KCL_INPUT) rc = kcl_fail(ctx, KCL_INPUT, "%s", why);
  if (rc) goto done;
  (*out)->predecessor = true;
  snprintf((*out)->why, sizeof(*out)->why, "%s", why);
done:
  if (rc) kcl_checkpoint_free(out);
  return rc;
}

void kcl_checkpoint_free(kcl_checkpoint_reader **r) {
  if (!*r) return;
  if ((*r)->f) fclose((*r)->f);
  free((*r)->path), free((*r)->words), free(*r);
  *r = NULL;
}
