/* Shared by readers and writers: text in memory, errors with a position, Matrix Market headers, entries.
 *
 *   path --gz.c--> kcl_text --mtx_head.c--> mm_head --mtx_entries.c--> mm_entries --csr_build.c--> kcl_csr
 *
 * Names follow NIST's mmio (Boisvert, Pozo & Remington 1996) where the meaning is the same.
 */
#ifndef KCL_DATA_H
#define KCL_DATA_H

#include "core/base/output.h"
#include <sys/mman.h>

#ifdef MADV_HUGEPAGE /* an advice to madvise; elsewhere none */
#define KCL_LARGE_PAGES MADV_HUGEPAGE
#else
#define KCL_LARGE_PAGES MADV_NORMAL
#endif

/* A whole file, unpacked. At least 64 zero bytes follow data[size - 1]. If another program truncates a
 * mapped file, this one ends with SIGBUS, as every reader of mapped files. */
typedef struct kcl_text {
  const char *name; /* for messages; the caller's path, or "standard input" */
  char *data;
  size_t size, mapped; /* bytes of text; bytes of the mapping */
  size_t skip;         /* of these, before data */
} kcl_text;
int kcl_text_open(kcl_context *ctx, const char *path,
                  kcl_text *out); /* "-" is standard input; gzip by its first bytes */
void kcl_text_close(kcl_text *t);
/* Room for so many bytes of text. */
int kcl_text_create(kcl_context *ctx, const char *name, size_t bytes, kcl_text *out);
/* Bytes of a regular file that is not packed; -1: another. */
int64_t kcl_text_size(const char *path);
/* Bytes [from, to) of such a file. Other bytes of it may follow, then zeros, 64 in all at least. */
int kcl_text_open_part(kcl_context *ctx, const char *path, int64_t from, int64_t to, kcl_text *out);
void kcl_text_expect(char *begin, char *end);  /* populates the pages at once */
void kcl_text_release(char *begin, char *end); /* releases the pages of text that was parsed */

/* A parse error: position, the text found there, the text expected. */
typedef struct mm_error {
  int64_t line;
  int64_t column;
  char found[48], expected[160];
} mm_error;
void mm_error_set(mm_error *bad, const char *line, const char *at, const char *format, ...)
    KCL_PRINTF(4, 5);
/* KCL_INPUT. name: of the file */
int mm_error_report(kcl_context *ctx, const char *name, const mm_error *bad);
static inline bool mm_is_blank(char c) { /* ' ', '\t' or '\r': a digit costs one comparison */
  return (unsigned char)c <= ' ' && (UINT64_C(0x100002200) >> c & 1);
}
const char *mm_skip(const char *p); /* blanks, not line ends */
const char *mm_next_line(const char *p, const char *end);
/* The next line that is neither blank nor a comment, which begins with # or %; *line counts those skipped. */
const char *mm_content(const char *p, const char *end, int64_t *line);
/* A line of three whole numbers: its end; NULL: it is none. */
const char *mm_three_counts(const char *p, uint64_t v[3]);

typedef struct mm_head {
  bool coordinate; /* else array */
  kcl_field field;
  kcl_symmetry symmetry;
  int64_t rows, cols, entries; /* entries: lines to come */
  int base;                    /* of row and column numbers: 1, or 0 */
  int64_t lines;               /* before body; the last of them holds the sizes */
  int64_t entries_column;      /* column of the number of entries in that line */
  char *body;
  const char *name; /* of the file, for messages */
} mm_head;
bool mm_has_banner(const kcl_text *t);
/* The whole file, after its head; closes the text. */
int mm_read_body(kcl_context *ctx, kcl_text *t, mm_head *h, kcl_csr **out);
int mm_read_banner(kcl_context *ctx, const kcl_text *t, mm_head *h);
int mm_read_size(kcl_context *ctx, const kcl_text *t, mm_head *h); /* after the banner */

/* Entries in file order, by block of text. An entry is `stride` words of 8 bytes: row | col << 32
 * from 0 (coordinate files only), then `width` doubles (0 pattern, 1, 2 complex). */
typedef struct mm_block {
  char *begin, *end;
  uint64_t *words; /* [stride, count] */
  int64_t count, lines;
  mm_error *bad; /* its first error, or NULL */
} mm_block;
typedef struct mm_entries {
  int width, stride;
  int64_t blocks, total;
  mm_block *block;        /* [blocks] */
  int64_t lines;          /* up to the first error */
  mm_error *bad;          /* that error, or NULL; in a block */
  void *memory;           /* of all words: reserved for the worst case, populated on use */
  size_t reserved, arena; /* bytes: in total; per thread */
} mm_entries;
/* Entries of the lines [begin, end) behind the head; out->bad counts lines from begin. Fails without memory alone. */
int mm_parse_lines(kcl_context *ctx, const mm_head *h, char *begin, char *end, mm_entries *out);
/* Does the file, of so many lines behind the head, have the entries that its head states? */
int mm_check_total(kcl_context *ctx, const mm_head *h, int64_t total, int64_t lines);
/* All of the file, checked. */
int mm_read_entries(kcl_context *ctx, const kcl_text *t, const mm_head *h, mm_entries *out);
/* Allocates `count` entries, to be filled in place, for readers that know the number in advance.
 * words: [stride, count], all blocks contiguous. */
int mm_entries_alloc(kcl_context *ctx, int width, int64_t count, mm_entries *out, uint64_t **words);
void mm_entries_free(mm_entries *e);
static inline int32_t mm_row(uint64_t word) { return (int32_t)(uint32_t)word; }
static inline int32_t mm_col(uint64_t word) { return (int32_t)(uint32_t)(word >> 32); }

/* coordinate: all rows, or rows [from, to) of entries that have each an end there. Symmetry, field and stored entries: the head's. */
int mm_build_csr(kcl_context *ctx, const mm_head *h, const mm_entries *e, kcl_csr **out);
int mm_build_rows(kcl_context *ctx, const mm_head *h, int64_t from, int64_t to, const mm_entries *e,
                  kcl_csr **out);
int mm_build_array(kcl_context *ctx, const mm_head *h, const mm_entries *e,
                   kcl_csr **out); /* array */

/* Packs b as one gzip member where the output is packed; 0: success. Thread-safe. */
int kcl_output_pack(const kcl_output *out, kcl_bytes *b);
#endif
