/* Files that appear when they are complete, and text in memory. The path - is standard output or
 * input. */
#ifndef CLI_UI_OUTPUT_H
#define CLI_UI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Opens /dev/null for descriptors 0 to 2 that are closed. */
void cli_open_standard(void);
/* False if standard output was closed. */
bool cli_standard_output(void);

/* Writes a file, which appears when it is complete; "-": standard output. */
int cli_write(const char *path, const void *data, size_t size);

typedef struct cli_buffer { /* text in memory, printed to f */
  FILE *f;
  char *data;
  size_t size;
} cli_buffer;
int cli_buffer_open(cli_buffer *b);
/* Ends printing: data and size are complete. */
int cli_buffer_close(cli_buffer *b);
/* Writes the text to a file and frees the buffer. */
int cli_buffer_write(cli_buffer *b, const char *path);
void cli_buffer_free(cli_buffer *b);
/* Reads a file into b and appends a zero byte; "-": standard input. */
int cli_contents(const char *path, cli_buffer *b);

#endif
