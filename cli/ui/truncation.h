/* Mapped inputs that another program makes shorter while they are read. */
#ifndef CLI_UI_TRUNCATION_H
#define CLI_UI_TRUNCATION_H

/* A read beyond the new end (SIGBUS) ends the program with a message that names the file, and exit code 3. */
void cli_truncation_begin(void);

#endif
