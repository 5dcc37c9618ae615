/* krylocl explain: the ways that auto compares, with predicted seconds and what earlier solves took. */
#include "cli/explain_candidates.h"
#include "cli/ui/json.h"
#include "cli/ui/options.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include <cjson/cJSON.h>
#include <stdio.h>

enum { MOST = 12 };

static const char *seconds_or_dash(double seconds, char text[48]) {
  snprintf(text, 48, "%s", seconds < 0 ? "-" : cli_seconds(seconds).s);
  return text;
}

static void say_candidate(const cli_options *o, const kcl_candidate_info *c) {
  char predicted[48], taken[48], iterations[32] = "-", name[64];
  snprintf(name, sizeof name, "%s %s", c->solver, *c->solver == 'd' ? "" : c->precond);
  if (c->iterations >= 0) snprintf(iterations, sizeof iterations, "%.0f", c->iterations);
  cli_say(o, "  %c %-20s %10s %10s %10s  %s\n", c->begins ? '*' : ' ', name, iterations,
          seconds_or_dash(c->seconds, predicted),
          c->failed ? "failed" : seconds_or_dash(c->seconds_taken, taken), c->why);
}

static void candidate_json(cJSON *list, const kcl_candidate_info *c) {
  cJSON *o = cli_json_item(list);
  cli_json_text(o, "solver", c->solver);
  cli_json_text(o, "precond", c->precond);
  cli_json_number(o, "seconds_setup", c->seconds_setup);
  if (c->iterations >= 0) cli_json_number(o, "iterations", c->iterations);
  if (c->seconds >= 0) cli_json_number(o, "seconds", c->seconds);
  if (c->seconds_taken >= 0) cli_json_number(o, "seconds_taken", c->seconds_taken);
  cli_json_bool(o, "failed", c->failed);
  cli_json_bool(o, "begins", c->begins);
  cli_json_text(o, "why", c->why);
}

static int write_candidates(const cli_options *o, const kcl_solver *s, const kcl_csr *A,
                            const kcl_candidate_info *list, int count) {
  kcl_setup_info info;
  cJSON *all = cJSON_CreateObject();
  kcl_solver_info(s, &info);
  cli_json_matrix(all, o->files[0], A);
  cli_json_text(all, "solver", info.solver);
  cli_json_text(all, "precond", info.precond);
  cli_json_text(all, "format", info.format);
  cJSON *items = cJSON_AddArrayToObject(all, "candidates");
  for (int i = 0; i < count; i++) candidate_json(items, &list[i]);
  return cli_json_finish(o->json, all);
}

int cli_explain_candidates(const cli_options *o, kcl_solver *s, const kcl_csr *A) {
  kcl_candidate_info list[MOST];
  int count, rc = cli_lib(kcl_solver_candidates(s, MOST, list, &count));
  if (rc) return rc;
  if (count)
    cli_say(o, "\n    %-20s %10s %10s %10s  why\n", "candidates", "iterations", "predicted",
            "taken");
  for (int i = 0; i < count; i++) say_candidate(o, &list[i]);
  return o->json ? write_candidates(o, s, A, list, count) : 0;
}
