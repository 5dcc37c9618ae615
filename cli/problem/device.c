/* Opens the device that the options name, and prints it. */
#include "cli/ranks/ranks.h"
#include "cli/ranks/solve.h"
#include "cli/ui/terminal.h"

const char *cli_device_word(const cli_options *o) {
  return o->devices ? o->devices : o->device ? o->device : getenv("KRYLOCL_DEVICE");
}

/* --source, --profile and --kernels need an OpenCL device. If none was named and the choice is the cpu, the first OpenCL
 * device is opened. */
static int need_opencl(kcl_context *ctx, const cli_options *o, kcl_device *d) {
  const char *named = cli_device_word(o);
  if (d->platform >= 0 || !(o->source || o->profile || o->kernels)) return 0;
  if (cli_ranks() > 1 || (named && *named && strcmp(named, "auto")))
    return cli_fail(KCL_USAGE,
                    "--%s is for OpenCL devices, and this is the cpu: add --device opencl",
                    o->source    ? "source"
                    : o->profile ? "profile"
                                 : "kernels");
  CLI_CALL(cli_lib(kcl_select(ctx, "opencl", 0)));
  return cli_lib(kcl_device_current(ctx, d));
}

int cli_device(kcl_context *ctx, const cli_options *o, kcl_device *d) {
  cli_busy(o, "opening the device");
  CLI_CALL(cli_lib(cli_ranks_device(ctx, o)));
  CLI_CALL(cli_lib(kcl_device_current(ctx, d)));
  return need_opencl(ctx, o, d);
}

void cli_report_device(const cli_options *o, const kcl_device *d) {
  if (d->platform < 0)
    cli_say(o, "device      cpu: %s, %d thread%s\n", d->name, d->compute_units,
            d->compute_units == 1 ? "" : "s");
  else
    cli_say(o, "device      %s: %s (%s, %s), %d compute units, %s\n", cli_device_place(d).s,
            d->name, d->kind, d->platform_name, d->compute_units, cli_bytes((double)d->memory).s);
}
