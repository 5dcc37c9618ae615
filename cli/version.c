/* krylocl version: the version, the commit it was built from, the compiler, the optional parts of the build, and the
 * licence that they bring. */
#include "cli/version.h"
#include "cli/ranks/ranks.h"

extern const char cli_commit[]; /* BUILD/commit.c; empty outside of a repository */

static const char *const parts[] = {
#ifndef KCL_NO_OPENCL
    "OpenCL",
#endif
#ifdef HAVE_LIBDEFLATE
    "libdeflate",
#endif
#ifdef HAVE_ZLIB
    "zlib",
#endif
#ifdef HAVE_CHOLMOD
    "CHOLMOD",    "UMFPACK",
#endif
#ifdef HAVE_SPQR
    "SPQR",
#endif
    NULL};

int cli_print_version(void) {
  printf("krylocl %s\n", kcl_version());
  if (*cli_commit) printf("commit    %s\n", cli_commit);
  printf("compiler  %s %s\n",
#ifdef __clang__
         "clang", __clang_version__
#else
         "gcc", __VERSION__
#endif
  );
  const cli_text mpi = cli_ranks_library();
  printf("parts     %s", parts[0] || *mpi.s ? "" : "none");
  for (int i = 0; parts[i]; i++) printf("%s%s", i ? ", " : "", parts[i]);
  printf("%s%s\n", parts[0] && *mpi.s ? ", " : "", mpi.s);
#if defined HAVE_CHOLMOD && defined HAVE_SPQR
  puts("licence   BSD-3-Clause, with CHOLMOD, UMFPACK and SPQR: GPL");
#elif defined HAVE_CHOLMOD
  puts("licence   BSD-3-Clause, with CHOLMOD and UMFPACK: GPL");
#else
  puts("licence   BSD-3-Clause");
#endif
  return 0;
}

static int run_version(kcl_context *ctx, const cli_options *o) {
  (void)ctx, (void)o;
  return cli_print_version();
}

const cli_command cli_version = {.name = "version",
                                 .operands = "",
                                 .summary = "version, commit, compiler, parts of the build",
                                 .options = "",
                                 .run = run_version};
