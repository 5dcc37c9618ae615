/* For authors of matrix file formats. A format is one or a few files data/NAME*.c that export one
 * kcl_file, and one line in data/files.def. Readers are chosen by content, writers by the ending
 * of the name.
 */
#ifndef KCL_FILE_H
#define KCL_FILE_H
#include "data/data.h"

typedef struct kcl_system { /* A x = b as one file holds it */
  kcl_csr *A;
  kcl_dense *b, *x0; /* of A's type, or NULL */
} kcl_system;
void kcl_system_free(kcl_system *s);

typedef struct kcl_file {
  const char *name;                 /* the ending of file names, without its dot */
  const char *expected;             /* in messages: how such a file begins */
  bool (*knows)(const kcl_text *t); /* is it one of mine? */
  /* Fills *out, which is empty; after a failure the caller frees what is there. May close t, or
   * keep its mapping and forget it, when it is read. */
  int (*read)(kcl *ctx, kcl_text *t, kcl_system *out);
  int (*write)(kcl *ctx, const char *path, const kcl_system *s);
} kcl_file;
extern const kcl_file *const kcl_files[]; /* [kcl_file_count] */
extern const int kcl_file_count;

/* Room for `count` entries in blocks, to be filled in place: for readers that know their number.
 * words: [stride, count], all blocks in one piece. */
int mm_entries_room(kcl *ctx, int width, int64_t count, mm_entries *out, uint64_t **words);

/* Numbers that must be finite to be text: KCL_USAGE. */
int kcl_check_finite(kcl *ctx, const char *path, const double *v, int64_t n);
/* The narrowest field that A's values (in double) allow, no narrower than what A came from. */
kcl_field kcl_csr_narrow_field(const kcl_csr *A, const double *v);

/* Parts 0 .. parts - 1, formatted (and packed) by all threads and written in order. format fills
 * b->data by malloc; anything but 0 is "out of memory". */
typedef int kcl_format_part(const void *self, int64_t part, kcl_bytes *b);
int kcl_output_parts(kcl *ctx, kcl_output *o, int64_t parts, kcl_format_part *format,
                     const void *self);
int kcl_output_text(kcl *ctx, kcl_output *o, const char *line);
/* Writers that have a file of their own, for the descriptors. */
int kcl_binary_write(kcl *ctx, const char *path, const kcl_system *s);
int mtx_write(kcl *ctx, const char *path, const kcl_system *s);
int rb_write(kcl *ctx, const char *path, const kcl_system *s);
int rows_write(kcl *ctx, const char *path, const kcl_system *s);
char *kcl_print_count(char *o, int64_t v); /* digits; returns the place after them */
#endif
