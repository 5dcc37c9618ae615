/* The arrays of a small matrix in a storage format, as text and pictures show them: in lines of elements, where the padding in
 * place of absent rows is told by its length. */
#ifndef CLI_DRAW_ARRAYS_H
#define CLI_DRAW_ARRAYS_H

#include "cli/ui/text.h"
#include "krylocl/explain.h"

enum { CLI_ARRAYS_ROWS = 8 }; /* most rows and columns of the matrix */

typedef struct
    cli_array_line { /* elements first to run are shown, those of run to end are equal padding */
  int64_t first, run, end;
} cli_array_line;
/* The line that begins with element `first`, of at most `most` elements, of a matrix of so many rows. */
cli_array_line cli_array_line_at(const kcl_storage *s, const kcl_storage_array *a, int64_t rows,
                                 int64_t first, int most);

/* Element k as text; 1+2i. */
cli_text cli_array_text(const kcl_storage_array *a, int64_t k);
/* The integers of the format: "width = 3, stride = 32". */
void cli_integers_text(char *text, size_t size, const kcl_storage *s);

/* Draws A [at most CLI_ARRAYS_ROWS rows and columns] and its arrays as SVG, each row in a colour. */
int cli_svg_arrays(const char *path, const char *title, const kcl_csr *A, const kcl_storage *s);

#endif
