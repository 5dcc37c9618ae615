/* The version of the program. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

/* Prints version, commit, compiler and optional parts. */
int cli_print_version(void);

#endif
