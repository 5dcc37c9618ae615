/* Files that several processes read in parts: what each must know of them, and their parts. */
#ifndef KCL_PARTS_H
#define KCL_PARTS_H
#include "data/files/kcl_file.h"
#include "data/files/text.h"

typedef enum kcl_layout_of_file {
  KCL_FILE_WHOLE,   /* can be read as a whole only: a pipe, another format, no such file */
  KCL_FILE_LINES,   /* entries, line by line, behind a head */
  KCL_FILE_NUMBERS, /* plain numbers of one column */
  KCL_FILE_BINARY   /* .kcl */
} kcl_layout_of_file;

typedef struct kcl_look {
  kcl_layout_of_file layout;
  int64_t size; /* bytes of the text; -1: not a plain file */
  int64_t body; /* where lines or numbers begin */
  bool dealt;   /* one process has the text, and gives it out */
  mm_head head; /* of KCL_FILE_LINES; its body and name are not set */
} kcl_look;
/* Looks for a matrix, or for dense columns: the layout of a text and its head. */
typedef int kcl_looker(kcl_context *ctx, const kcl_text *t, kcl_look *out);
kcl_looker kcl_look_for_matrix, kcl_look_for_dense;
/* Looks at the first bytes of a plain file, or in the text of any file; reports the errors that readers of whole files do. */
int kcl_look_at(kcl_context *ctx, const char *path, kcl_looker *look, kcl_look *out);
int kcl_look_in(kcl_context *ctx, const kcl_text *t, kcl_looker *look, kcl_look *out);
/* The head of a file of dense columns that begins with a banner. */
int mm_dense_head(kcl_context *ctx, const kcl_text *t, mm_head *h);
/* Entries with their rows and columns to `to`, which begins with row `first`: values of an array each have their place, those of one
 * place in a coordinate file are added. */
void mm_place_entries(const mm_entries *e, int64_t first, bool add, kcl_dense *to);

/* Numbers of one column, of whole lines [begin, end); *lines: how many, up to the first error. */
typedef struct kcl_numbers {
  double *val; /* [count], to be freed */
  int64_t count, capacity, lines;
  bool failed; /* by: */
  mm_error bad;
} kcl_numbers;
int kcl_parse_numbers(kcl_context *ctx, const char *begin, const char *end, kcl_numbers *out);
static inline void kcl_numbers_free(kcl_numbers *n) { free(n->val); }

/* ---------------------------------------------------------------- dense columns, written */

/* The first lines of the file; their bytes. */
enum { KCL_DENSE_HEAD = 120 };
int kcl_dense_head(kcl_type type, int64_t rows, int64_t cols, char head[KCL_DENSE_HEAD]);
/* Lines of n numbers of type D or Z, formatted by all threads. */
typedef struct kcl_formatted {
  kcl_bytes *part; /* [parts] */
  int64_t parts;
  size_t size; /* of all */
} kcl_formatted;
int kcl_format_numbers(kcl_context *ctx, kcl_type type, const double *v, int64_t n,
                       kcl_formatted *out);
int kcl_formatted_write(kcl_context *ctx, kcl_output *o, const kcl_formatted *f, int64_t at);
void kcl_formatted_free(kcl_formatted *f);
/* How many of n numbers are not finite; KCL_USAGE: text files cannot store them. */
int64_t kcl_count_infinite(const double *v, int64_t n);
int kcl_fail_infinite(kcl_context *ctx, const char *path, int64_t count);

/* ---------------------------------------------------------------- .kcl */

int kcl_binary_head(kcl_context *ctx, const char *path, int64_t size, kcl_file_head *out);
/* Bytes [from, from + bytes) of the file. */
int kcl_binary_copy(kcl_context *ctx, const char *path, uint64_t from, uint64_t bytes, void *to);
/* Sums of the chunks [first, last) of a part, of KCL_SUM64_CHUNK bytes each but the last of the part. */
int kcl_binary_sums(kcl_context *ctx, const char *path, const kcl_file_part *part, int64_t first,
                    int64_t last, uint64_t *sum);
/* Do row pointers rise from 0, and columns ascend within each row and lie in the matrix? */
bool kcl_binary_rows_good(int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col);
int kcl_binary_refuse(kcl_context *ctx, const char *path, const char *found);
#endif
