/* Event times; nothing without --profile. */
#ifndef CLI_SOLVE_PROFILE_H
#define CLI_SOLVE_PROFILE_H

#include "cli/solve/run.h"

struct cJSON;

void cli_profile_say(const cli_run *r);
void cli_profile_json(struct cJSON *all, const cli_run *r);
void cli_profile_free(cli_profile *p);
/* Bytes of all commands of this kind, "write" or "read". */
double cli_profile_moved(const kcl_profile *p, const char *kind);
/* Prints the commands with their shares of p->seconds. */
void cli_profile_say_commands(const cli_options *o, const kcl_profile *p);
/* Adds one profile under this key. */
void cli_profile_part_json(struct cJSON *o, const char *key, const kcl_profile *p);

#endif
