/* kcl_mpi_dense_write: x by all ranks at once. Every rank formats its rows; sums of the sizes of those before it tell where
 * they begin. The file is a temporary one of rank 0, which renames it when all are done. */
#include "distributed/files/files.h"
#include <stdio.h>

static int check_own(kcl_comm *c, const char *path, const kcl_dense *own) {
  int64_t bad = 0, all;
  int rc = kcl_need(c->ctx, "path", path);
  if (!rc) rc = kcl_dense_need(c->ctx, "own", own);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  const bool cols = kcl_comm_differs(c, (double)own->cols), type = kcl_comm_differs(c, own->type);
  if (cols || type)
    rc = kcl_fail(c->ctx, KCL_USAGE, "the ranks' parts have different columns or scalar types");
  bad = kcl_count_infinite(own->val, own->rows * own->cols * (own->type == KCL_Z ? 2 : 1));
  (void)kcl_comm_before(c, bad, &all);
  if (!rc && all) rc = kcl_fail_infinite(c->ctx, path, all);
  return kcl_comm_agree(c, rc);
}

static int write_collected(kcl_comm *c, const char *path, const kcl_dense *own) {
  const size_t size = kcl_type_size(own->type);
  const bool root = c->ranks.rank == 0;
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *whole = NULL;
  int rc = root ? kcl_dense_create(c->ctx, c->ranks.rows, own->cols, own->type, &whole) : KCL_OK;
  KCL_CALL(kcl_comm_agree(c, rc));
  for (int64_t j = 0; j < own->cols; j++)
    kcl_comm_collect(c, c->first, size, (char *)own->val + (size_t)(j * own->rows) * size,
                     root ? (char *)whole->val + (size_t)(j * c->ranks.rows) * size : NULL);
  if (root) rc = kcl_dense_write(c->ctx, path, whole);
  return kcl_comm_agree(c, rc);
}

typedef struct writing {
  kcl_comm *c;
  kcl_output o;
  bool shared; /* all ranks have the file open */
  int64_t at;  /* bytes before what is written next */
} writing;

/* Rank 0 creates the file, the others open it by its name, where they see it. */
static int open_all(writing *w, const char *path) {
  kcl_comm *c = w->c;
  char name[4096] = "";
  bool mine = true;
  int rc = c->ranks.rank ? KCL_OK : kcl_output_open_named(c->ctx, path, &w->o);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  if (!c->ranks.rank && w->o.temporary) snprintf(name, sizeof name, "%s", w->o.temporary);
  kcl_tell(c, name, sizeof name);
  if (c->ranks.rank) mine = kcl_output_join(path, name, &w->o);
  w->shared = kcl_comm_total(c, !mine) == 0;
  return KCL_OK;
}

/* Own rows of a column, behind those of the ranks before. */
static int write_column(writing *w, const kcl_dense *own, int64_t j) {
  kcl_comm *c = w->c;
  const int64_t parts = own->type == KCL_Z ? 2 : 1;
  KCL_OWNED_BY(kcl_formatted_free) kcl_formatted f = {0};
  int64_t all;
  int rc = kcl_comm_agree(
      c, kcl_format_numbers(c->ctx, own->type, own->val + j * own->rows * parts, own->rows, &f));
  if (!rc) {
    const int64_t before = kcl_comm_before(c, (int64_t)f.size, &all);
    rc = kcl_comm_agree(c, kcl_formatted_write(c->ctx, &w->o, &f, w->at + before));
    w->at += all;
  }
  return rc;
}

static int write_all(writing *w, const kcl_dense *own) {
  kcl_comm *c = w->c;
  char head[KCL_DENSE_HEAD];
  int rc = KCL_OK;
  w->at = kcl_dense_head(own->type, c->ranks.rows, own->cols, head);
  if (!c->ranks.rank) rc = kcl_output_write(c->ctx, &w->o, head, (size_t)w->at);
  rc = kcl_comm_agree(c, rc);
  for (int64_t j = 0; j < own->cols && !rc; j++) rc = write_column(w, own, j);
  return rc;
}

/* The others first, then rank 0, which gives the file its name. */
static int close_all(writing *w, int rc) {
  kcl_comm *c = w->c;
  if (c->ranks.rank) rc = kcl_output_close(c->ctx, &w->o, rc);
  rc = kcl_comm_agree(c, rc);
  if (!c->ranks.rank) rc = kcl_output_close(c->ctx, &w->o, rc);
  return kcl_comm_agree(c, rc);
}

static int write_shared(kcl_comm *c, const char *path, const kcl_dense *own) {
  writing w = {.c = c, .o = {.file = -1}};
  KCL_CALL(open_all(&w, path));
  if (w.shared) return close_all(&w, write_all(&w, own));
  (void)kcl_output_close(c->ctx, &w.o, KCL_INPUT);
  return write_collected(c, path, own);
}

int kcl_mpi_dense_write(kcl_context *ctx, MPI_Comm comm, const char *path, const kcl_dense *own) {
  KCL_OWNED_BY(kcl_comm_free) kcl_comm *c = NULL;
  int beside;
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  KCL_CALL(kcl_files_begin(ctx, comm, &c));
  KCL_CALL(check_own(c, path, own));
  kcl_take_counts(c, own->rows);
  beside = kcl_output_is_plain(path);
  kcl_tell(c, &beside, sizeof beside);
  return beside ? write_shared(c, path, own) : write_collected(c, path, own);
}
