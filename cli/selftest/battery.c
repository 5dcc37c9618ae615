/* Systems of the self-test, and what its tests found. */
#include "cli/selftest/selftest.h"
#include "cli/ui/codes.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"
#include "cli/ui/terminal.h"
#include <cjson/cJSON.h>
#include <string.h>

int cli_selftest_system(const cli_battery *t, const char *name, kcl_csr **A, kcl_dense **b) {
  const kcl_type type = kcl_type_complex(t->precision) ? KCL_Z : KCL_D;
  kcl_csr *generated = NULL;
  kcl_dense *given = NULL;
  int rc;
  CLI_TRY(cli_lib(kcl_generate(t->ctx, name, &generated, b ? &given : NULL)));
  CLI_TRY(cli_lib(kcl_csr_convert(t->ctx, generated, type, A)));
  if (b) CLI_TRY(cli_lib(kcl_dense_convert(t->ctx, given, type, b)));
done:
  kcl_csr_free(&generated), kcl_dense_free(&given);
  return rc;
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
