/* Systems of the self-test, and what its tests found. */
#include "cli/selftest/selftest.h"
#include "cli/ui/json.h"
#include "cli/ui/terminal.h"

int cli_selftest_system(const cli_battery *t, const char *name, kcl_csr **A, kcl_dense **b) {
  const kcl_type type = kcl_type_complex(t->precision) ? KCL_Z : KCL_D;
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *generated = NULL;
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *given = NULL;
  CLI_CALL(cli_lib(kcl_generate(t->ctx, name, &generated, b ? &given : NULL)));
  CLI_CALL(cli_lib(kcl_csr_convert(t->ctx, generated, type, A)));
  if (b) CLI_CALL(cli_lib(kcl_dense_convert(t->ctx, given, type, b)));
  return 0;
}

int cli_selftest_solve(const cli_battery *t, const char *options, const kcl_csr *A,
                       const kcl_dense *b, kcl_dense *x, cli_selftest_result *r) {
  CLI_OWNED_BY(kcl_matrix_free) kcl_matrix *M = NULL;
  CLI_OWNED_BY(kcl_solver_free) kcl_solver *solver = NULL;
  CLI_OWNED_BY(kcl_options_free) kcl_options *o = NULL;
  const kcl_vectors from = {.size = sizeof from, .data = b->val, .type = kcl_type_letter(b->type)};
  kcl_vectors to = {.size = sizeof to, .data = x->val, .type = kcl_type_letter(x->type)};
  CLI_CALL(cli_lib(kcl_options_create(&o)));
  CLI_CALL(cli_lib(kcl_options_parse(o, options)));
  CLI_CALL(cli_lib(kcl_matrix_lend(t->ctx, A, &M)));
  r->solve = (kcl_result){.size = sizeof r->solve};
  r->setup = kcl_solver_create(M, NULL, o, &solver);
  if (r->setup || kcl_solve(solver, &from, &to, NULL, &r->solve))
    snprintf(r->reason, sizeof r->reason, "%s", kcl_error());
  return 0;
}

static void report_fault(cli_battery *t, const char *test, const cli_selftest_result *r) {
  cJSON *one = cJSON_CreateObject();
  cli_idle();
  cli_say(t->o, "wrong       %s %c: %s: %.*s\n", t->group, kcl_type_letter(t->precision), test,
          (int)strcspn(r->reason, "\n"), r->reason);
  cli_json_text(one, "test", test), cli_json_text(one, "reason", r->reason);
  cJSON_AddItemToArray(t->faults, one);
}

void cli_selftest_count(cli_battery *t, const char *test, const cli_selftest_result *r) {
  if (!*r->reason) {
    t->right++;
  } else if (r->refused) {
    t->refused++;
    if (t->o->verbose) cli_idle(), cli_say(t->o, "refused     %s: %s\n", test, r->reason);
  } else {
    t->wrong++, t->wrong_in_all++;
    report_fault(t, test, r);
  }
}
