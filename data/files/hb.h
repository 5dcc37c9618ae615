/* Parts of the Harwell-Boeing reader: header, Fortran edit descriptors, numbers in fixed fields (cards).
 *
 *   kcl_text --hb_head.c--> hb_head, the lines --hb_cards.c--> arrays --hb_read.c--> kcl_file_system
 */
#ifndef KCL_HB_H
#define KCL_HB_H
#include "data/files/file.h"

/* A Fortran format such as (1P,5E16.8): five fields of 16 characters per line. */
typedef struct hb_edit {
  int per_line, width;
  int decimals; /* digits after an implied decimal point */
  int scale;    /* scale factor kP: numbers without an exponent are divided by 10^k */
  bool integer;
} hb_edit;
/* Parses s up to its closing parenthesis; false if it is not such a format. */
bool hb_edit_parse(const char *s, const char *end, hb_edit *out);
bool hb_field_integer(const char *at, const char *end, int64_t *v);
bool hb_field_number(const hb_edit *e, const char *at, const char *end, double *v);
/* A digit that a blank parts from a number before it: the field holds two. NULL: none. */
const char *hb_field_second(const char *at, const char *end);

enum { HB_POINTERS, HB_INDICES, HB_VALUES, HB_RHS, HB_PARTS };
typedef struct hb_head {
  kcl_field field;
  kcl_symmetry symmetry;
  int64_t rows, cols, entries;
  int64_t cards[HB_PARTS]; /* lines of each part */
  hb_edit edit[HB_PARTS];
  char rhs_kind; /* F full, M compressed like the matrix; 0: none */
  bool guess, solution;
  int64_t rhs_count, rhs_entries; /* columns; entries in all of them, if compressed */
  int64_t lines;                  /* of the header: 4 or 5 */
} hb_head;
bool hb_knows(const kcl_text *t);
int hb_read_head(kcl_context *ctx, const kcl_text *t, hb_head *out);

/* All lines of a text, and the next one to be read. */
typedef struct hb_cards {
  const kcl_text *t;
  const char **line; /* [count + 1] */
  int64_t count, next;
} hb_cards;
int hb_cards_cut(kcl_context *ctx, const kcl_text *t, hb_cards *out);
/* Reads `count` numbers from the next line on into integers or numbers, whichever is not NULL; `what`
 * names them in messages. */
int hb_cards_read(kcl_context *ctx, hb_cards *c, const hb_edit *e, int64_t count, const char *what,
                  int64_t *integers, double *numbers);
static inline int64_t hb_cards_needed(const hb_edit *e, int64_t count) {
  return (count + e->per_line - 1) / e->per_line;
}
#endif
