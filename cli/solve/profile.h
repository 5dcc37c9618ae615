/* Event times; nothing without --profile. */
#ifndef CLI_SOLVE_PROFILE_H
#define CLI_SOLVE_PROFILE_H

#include "cli/solve/run.h"
#include "cli/ui/options.h"
#include "krylocl.h"

struct cJSON;

void profile_say(const cli_run *r);
void profile_json(struct cJSON *all, const cli_run *r);
void profile_free(cli_profile *p);
double profile_moved(const kcl_profile *p, const char *kind); /* bytes of "write" or "read" */
void profile_say_commands(const cli_options *o, const kcl_profile *p); /* shares: of p->seconds */
void profile_part_json(struct cJSON *o, const char *key, const kcl_profile *p);

#endif
