/* Programs that draw. */
#ifndef CLI_DRAW_GNUPLOT_H
#define CLI_DRAW_GNUPLOT_H

#include "cli/ui/output.h"

/* Feeds a program, NULL-terminated arguments, and collects what it prints. Its exit code; 127: there is none of this
 * name; -1: it did not end by itself. */
enum { CLI_NO_PROGRAM = 127 };
/* Feeds `in` to a program (argv, NULL-terminated) and collects its output. Returns its exit code; CLI_NO_PROGRAM:
 * not installed; -1: it did not exit by itself. */
int cli_filter(const char *const *program, const cli_buffer *in, FILE *out);
/* Draws by gnuplot, writes the picture to path and frees the commands. */
int cli_gnuplot(cli_buffer *commands, const char *path);

#endif
