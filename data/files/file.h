/* The contract of a matrix file format: one or a few files data/files/NAME*.c that export one kcl_file, and
 * one line in list.def. Readers are chosen by content, writers by the ending of the file name.
 */
#ifndef KCL_FILE_H
#define KCL_FILE_H
#include "data/files/text.h"

typedef struct kcl_file_system { /* A x = b as one file holds it */
  kcl_csr *A;
  kcl_dense *b, *x0; /* of A's type, or NULL */
} kcl_file_system;
void kcl_file_system_free(kcl_file_system *s);

typedef struct kcl_file {
  const char *name;                 /* ending of file names, without the dot */
  const char *expected;             /* how such a file begins, for messages */
  bool (*knows)(const kcl_text *t); /* is the text in this format? */
  /* Fills *out, which is empty; after a failure the caller frees it. May close t, or take over its
   * mapping and set t->data to NULL. NULL: head, and then mm_read_body. */
  int (*read)(kcl_context *ctx, kcl_text *t, kcl_file_system *out);
  /* Optional, of text with an entry per line behind a head: the head. Such files can be read in parts. */
  int (*head)(kcl_context *ctx, const kcl_text *t, mm_head *out);
  int (*write)(kcl_context *ctx, const char *path, const kcl_file_system *s);
} kcl_file;
const kcl_file *kcl_file_of_text(const kcl_text *t); /* the first that knows it, or NULL */

/* KCL_USAGE if a number is not finite: text files cannot store it. */
int kcl_check_finite(kcl_context *ctx, const char *path, const double *v, int64_t n);
/* The narrowest field that holds A's values (in double), not narrower than A->field. */
kcl_field kcl_csr_narrow_field(const kcl_csr *A, const double *v);

/* Formats (and packs) parts 0 .. parts - 1 by all threads and writes them in order. format allocates
 * b->data by malloc; a result other than 0 is "out of memory". */
typedef int kcl_format_part(const void *self, int64_t part, kcl_bytes *b);
int kcl_output_parts(kcl_context *ctx, kcl_output *o, int64_t parts, kcl_format_part *format,
                     const void *self);
int kcl_output_text(kcl_context *ctx, kcl_output *o, const char *line);
/* A file of these lines, and then of parts. */
int kcl_write_parts(kcl_context *ctx, const char *path, const char *head, int64_t parts,
                    kcl_format_part *format, const void *self);
/* Writers in files of their own, for the descriptors. */
int kcl_binary_write(kcl_context *ctx, const char *path, const kcl_file_system *s);
int mtx_write(kcl_context *ctx, const char *path, const kcl_file_system *s);
int rb_write(kcl_context *ctx, const char *path, const kcl_file_system *s);
int rows_write(kcl_context *ctx, const char *path, const kcl_file_system *s);
char *kcl_print_count(char *o, int64_t v); /* prints digits; returns the end */
#endif
