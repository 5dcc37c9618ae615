/* Systems that all ranks read, each its own rows; no rank holds the whole.
 *
 *   same_file.c  ranks that see the file see the same one
 *   lines.c      text: bytes cut at line ends, errors with the line of the whole file
 *   cut.c        whose rows, from counts of entries that are anywhere
 *   entries.c    entries to the owners of their rows
 *   read.c       kcl_mpi_read: text and .kcl           generate.c   kcl_mpi_generate
 *   vectors.c    kcl_mpi_dense_read                    write.c      kcl_mpi_dense_write
 */
#ifndef KCL_DISTRIBUTED_FILES_H
#define KCL_DISTRIBUTED_FILES_H
#include "data/files/parts.h"
#include "distributed/distributed.h"

/* ---------------------------------------------------------------- same_file.c */

/* KCL_INPUT where ranks see different files of this name. size: kcl_text_size of it, on each rank. */
int kcl_check_same_file(kcl_comm *c, const char *path, int64_t size);

/* ---------------------------------------------------------------- lines.c */

/* Rank 0 looks at the file. held: its text, on rank 0, where the others do not have it, out->dealt; to be closed. */
int kcl_look_together(kcl_comm *c, const char *path, kcl_looker *look, kcl_look *out,
                      kcl_text *held);
/* Own lines of the bytes from look->body on: about as many bytes for each rank, cut at line ends. Takes *held. */
int kcl_open_lines(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                   kcl_text *out);
/* All ranks' lines are parsed, bad: the first error in those of this rank, or NULL. The first of the file is that of all
 * ranks. *before: lines of the ranks before; *all: of all. */
int kcl_agree_on_lines(kcl_comm *c, const char *path, int64_t head, int64_t own, mm_error *bad,
                       int64_t *all);
/* The sum of `own` over the ranks before this one, and over all. */
int64_t kcl_comm_before(kcl_comm *c, int64_t own, int64_t *all);

/* ---------------------------------------------------------------- cut.c */

/* Counts of entries, by blocks of 2^shift rows, or, of the blocks with a slot, by rows. */
typedef struct kcl_bins {
  int64_t rows;
  int shift;
  const int32_t *slot; /* [blocks], -1: none; NULL: by blocks */
  int64_t *count;
} kcl_bins;
static inline void kcl_bin(const kcl_bins *b, int64_t row, int64_t entries) {
  const int64_t block = row >> b->shift, within = row & ((INT64_C(1) << b->shift) - 1);
  if (!b->slot)
    b->count[block] += entries;
  else if (b->slot[block] >= 0)
    b->count[((int64_t)b->slot[block] << b->shift) + within] += entries;
}
/* Calls kcl_bin for the entries that this rank knows; the ranks together know each once. */
typedef void kcl_count_entries(const void *self, const kcl_bins *b);
/* c->first and what follows from it, as kcl_give_rows would cut a matrix of these entries. Memory for 2^16 counts, and
 * 2^-16 of the rows for each rank. */
int kcl_cut_rows(kcl_comm *c, int64_t rows, kcl_count_entries *count, const void *self);

/* ---------------------------------------------------------------- entries.c */

/* Entries of this rank, in the order of the file over the ranks. */
typedef struct kcl_own_entries {
  mm_entries *e;   /* freed as they are sent */
  bool coordinate; /* else values alone, column by column, */
  int64_t index;   /* of which this is the number of the first */
  bool mirrored;   /* to the owner of the column too */
} kcl_own_entries;
/* *out: those of own rows, with coordinates of the whole matrix, in the order of the file. */
int kcl_exchange_entries(kcl_comm *c, const kcl_own_entries *x, mm_entries *out);

/* ---------------------------------------------------------------- read.c */

/* A rank's part of the whole, from its own rows. */
void kcl_describe_part(kcl_comm *c, int64_t stored, kcl_mpi_part *out);
void kcl_describe_whole(kcl_mpi_part *out); /* that of one rank alone */
int kcl_files_begin(kcl_context *ctx, MPI_Comm comm, kcl_comm **out);
int kcl_read_begin(kcl_context *ctx, MPI_Comm comm, kcl_comm **out); /* rows are to be cut */
/* A system whole on rank 0, NULL elsewhere, is given out. */
int kcl_give_part(kcl_comm *c, const kcl_csr *A, const kcl_dense *b, const kcl_dense *x0,
                  kcl_mpi_part *out);
/* first: of the elements of a column, c->first or c->column. */
int kcl_give_dense(kcl_comm *c, const int64_t *first, const kcl_dense *whole, kcl_dense **own);
#endif
