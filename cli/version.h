/* The version of the program. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

int cli_version(void);

#endif
