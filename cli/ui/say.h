/* Messages, errors and the report. */
#ifndef CLI_UI_SAY_H
#define CLI_UI_SAY_H

#include "cli/ui/options.h"
#include "krylocl.h"
#include <stdio.h>

#if defined(__GNUC__)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF(f, a)
#endif

/* Prints text that may hold names and titles of files: what is no character as \x1b, but for line ends, tabs and sequences
 * of cli_style. */
void cli_put(FILE *f, const char *s, size_t size);
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3); /* prints; returns code */
const char *cli_failure(void);       /* the first line of what cli_fail was last given, or "" */
int cli_lib(const kcl *ctx, int rc); /* prints the library's message if rc is not 0; returns rc */

/* Prints an error that lists the names and suggests the nearest. */
int cli_unknown(const char *kind, const char *name, const char *const *names, int count);
int cli_known(const char *kind, const char *name, kcl_registry which,
              const char *const *extra); /* other valid words, ended by NULL; or NULL */
void cli_say(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3); /* unless quiet */
FILE *cli_out(const cli_options *o); /* for the report: stderr if a result goes to stdout */

/* " = 50 % of the stream rate, 21.3 GB/s"; rate: bytes per second */
void cli_say_stream(const cli_options *o, double rate, const kcl_stream *s);
/* Words of a paragraph from column `at` on, further lines from column `indent` on, then a newline. */
void cli_wrap(FILE *f, int at, int indent, const char *text, int length);

#endif
