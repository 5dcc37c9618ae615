/* Messages, errors and the report. */
#ifndef CLI_UI_SAY_H
#define CLI_UI_SAY_H

#include "cli/ui/options.h"
#include "krylocl/device.h"
#include "krylocl/explain.h"

/* Prints text that may hold names and titles of files: bytes that are no character become \x1b and the like,
 * except line ends, tabs and sequences of cli_style. */
void cli_put(FILE *f, const char *s, size_t size);
/* Prints an error and returns code. */
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3);
/* The last message of cli_fail, or "". */
const char *cli_failure(void);
/* Prints the library's message if rc is not 0, and returns rc. */
int cli_lib(int rc);

/* Prints an error that lists the names [count] and suggests the nearest. */
int cli_unknown(const char *kind, const char *name, const char *const *names, int count);
/* 0 if name is in the registry or among the extra words (ended by NULL, or NULL), else the result of cli_unknown. */
int cli_known(const char *kind, const char *name, kcl_registry which, const char *const *extra);
/* Prints to the report, unless --quiet. */
void cli_say(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3);
/* The file of the report: stderr if a result goes to stdout. */
FILE *cli_out(const cli_options *o);

/* Prints " = 50 % of the stream rate, 21.3 GB/s". rate: bytes per second. */
void cli_say_stream(const cli_options *o, double rate, const kcl_stream *s);
/* Prints the words of a paragraph from column `at` on, further lines from column `indent` on, and a line end. */
void cli_wrap(FILE *f, int at, int indent, const char *text, int length);

#endif
