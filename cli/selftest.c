/* krylocl selftest: are the kernels of a device right? Every storage format, method and preconditioner on generated systems, compared with
 * compensated sums on the host. */
#include "cli/selftest/selftest.h"
#include "cli/ui/json.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

/* One group of tests in one precision: a line of the table. */
static int run_group(cli_battery *t, int (*group)(cli_battery *), cJSON *list) {
  const double begin = cli_now();
  t->right = t->wrong = t->refused = 0;
  t->faults = cJSON_CreateArray();
  const int rc = group(t);
  cJSON *one = cJSON_CreateObject();
  const char letter[2] = {kcl_type_letter(t->precision), 0};
  cli_json_text(one, "group", t->group), cli_json_text(one, "precision", letter);
  cli_json_count(one, "right", t->right), cli_json_count(one, "wrong", t->wrong);
  cli_json_count(one, "refused", t->refused), cli_json_number(one, "seconds", cli_now() - begin);
  cJSON_AddItemToObject(one, "faults", t->faults);
  cJSON_AddItemToArray(list, one);
  cli_idle();
  if (!rc)
    cli_say(t->o, "%-9s %s %5d right %5d wrong %5d refused  %s\n", t->group, letter, t->right,
            t->wrong, t->refused, cli_seconds(cli_now() - begin).s);
  return rc;
}

static void say_tested_device(const cli_options *o, const kcl_device *d) {
  cli_say(o, "device      %s: %s (%s)\n", cli_device_place(d).s, d->name, d->kind);
  if (d->platform >= 0)
    cli_say(o, "            platform %s, %s, %s, driver %s\n", d->platform_name, d->version,
            d->c_version, d->driver);
}

static bool is_asked(const cli_options *o, const kcl_device *d, char letter) {
  if (!d->has_double && strchr("dz", letter)) return false;
  return o->precision ? strchr(o->precision, letter) != NULL
                      : letter == (d->has_double ? 'd' : 's');
}

static int test_device(cli_battery *t, cJSON *all) {
  static int (*const groups[])(cli_battery *) = {cli_selftest_products, cli_selftest_methods,
                                                 cli_selftest_preconds, cli_selftest_bits};
  enum { GROUPS = sizeof groups / sizeof *groups };
  static const kcl_type types[] = {KCL_S, KCL_D, KCL_C, KCL_Z};
  kcl_device d;
  int rc = 0;
  CLI_CALL(cli_lib(kcl_device_current(t->ctx, &d)));
  cJSON *one = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(one, "groups");
  cJSON_AddItemToArray(all, one);
  cli_json_device(one, &d);
  say_tested_device(t->o, &d);
  for (int i = 0; i < 4; i++) {
    t->precision = types[i];
    for (int g = 0; g < GROUPS && is_asked(t->o, &d, kcl_type_letter(types[i])) && !rc; g++)
      rc = run_group(t, groups[g], list);
  }
  return rc;
}

static int test_all_devices(cli_battery *t, cJSON *all) {
  CLI_OWNED kcl_device *list = NULL;
  int count = 0;
  CLI_CALL(cli_lib(kcl_device_list(t->ctx, &list, &count)));
  for (int i = 0; i < count; i++) {
    cli_busy(t->o, "opening %s", list[i].name);
    CLI_CALL(cli_lib(kcl_select(t->ctx, cli_device_place(&list[i]).s, 0)));
    CLI_CALL(test_device(t, all));
  }
  return 0;
}

static int run_selftest(kcl_context *ctx, const cli_options *o) {
  cli_battery t = {.ctx = ctx, .o = o};
  CLI_OWNED_BY(cli_json_free) cJSON *all = cJSON_CreateArray();
  CLI_CALL(all ? 0 : cli_fail(KCL_MEMORY, "out of memory: the JSON text"));
  if (o->device && !strcmp(o->device, "all")) {
    CLI_CALL(test_all_devices(&t, all));
  } else {
    cli_busy(o, "opening the device");
    CLI_CALL(cli_lib(kcl_select(ctx, o->device, 0)));
    CLI_CALL(test_device(&t, all));
  }
  CLI_CALL(cli_json_write(o->json, all));
  if (!t.wrong_in_all) return 0;
  return cli_fail(CLI_CHECK_FAILED,
                  "%d tests are wrong: please report them with this output to the vendor of the "
                  "driver, and to krylocl",
                  t.wrong_in_all);
}

const cli_command cli_selftest = {
    .name = "selftest",
    .operands = "",
    .summary = "test all kernels of a device against the host",
    .options = "device precision json quiet verbose | threads cache layout",
    .many = true,
    .run = run_selftest,
    .notes =
        "Every storage format multiplies, every method and every preconditioner solves small "
        "generated systems. Products are compared row by row with their rounding bounds, solutions "
        "by residuals, all with compensated sums on the host. bits: solves with reproducible sums "
        "(solve --reproducible), of which every device has the same checksums of x. --device all "
        "tests every device. --precision takes several, such as s,d,c,z; without it d, or s on a "
        "device without double precision. What a format or a preconditioner refuses is no fault; "
        "--verbose says why.\n"
        "\n"
        "Exit code 6 if a test is wrong. The output is meant for a report to the vendor of a "
        "driver.\n"
        "\n"
        "--json: a list of {device {...} groups [{group precision right wrong refused seconds "
        "faults [{test reason}]}]}\n"};
