/* Files that appear when they are complete, and text in memory. The path - is standard output or
 * input. */
#ifndef CLI_UI_OUTPUT_H
#define CLI_UI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

void cli_open_standard(void);   /* descriptors 0 to 2 that are closed become /dev/null */
bool cli_standard_output(void); /* false: it was closed */

/* To a file that appears when it is complete; "-": standard output. */
int cli_write(const char *path, const void *data, size_t size);

typedef struct cli_buffer { /* text in memory, printed to f */
  FILE *f;
  char *data;
  size_t size;
} cli_buffer;
int buffer_open(cli_buffer *b);
int buffer_close(cli_buffer *b);                   /* data and size are complete then */
int buffer_write(cli_buffer *b, const char *path); /* to a file, and frees */
void buffer_free(cli_buffer *b);
int cli_contents(const char *path, cli_buffer *b); /* of a file, and a zero; "-": standard input */

#endif
