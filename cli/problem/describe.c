/* Lines of a report that several subcommands print: the device and the matrix. */
#include "cli/problem/describe.h"
#include "cli/ui/options.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include "krylocl.h"
#include "krylocl/device.h"
#include "krylocl/io.h"

void cli_report_device(const cli_options *o, const kcl_device *d) {
  if (d->platform < 0)
    cli_say(o, "device      cpu: %s, %d thread%s\n", d->name, d->compute_units,
            d->compute_units == 1 ? "" : "s");
  else
    cli_say(o, "device      %s: %s (%s, %s), %d compute units, %s\n", cli_device_place(d).s,
            d->name, d->kind, d->platform_name, d->compute_units, cli_bytes((double)d->memory).s);
}

void cli_report_matrix(const cli_options *o, const char *path, const kcl_csr *A, double seconds) {
  cli_say(o, "matrix      %s: %s x %s, %s nonzeros, %s %s, read in %s\n", cli_base(path),
          cli_count(A->rows).s, cli_count(A->cols).s, cli_count(A->nnz).s, kcl_field_name(A->field),
          kcl_symmetry_name(A->symmetry), cli_seconds(seconds).s);
}
