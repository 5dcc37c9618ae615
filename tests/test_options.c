/* Options by name and text: every option of the table takes its own words, names and range, and nothing else; texts, files
 * and the environment; faults have their place. docs/options.md has the table. */
#include "solver/calls.h"
#include "tests/check.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kcl_context *ctx;

/* ---------------------------------------------------------------- the table */

static void check_words(int i) {
  const kcl_option e = kcl_option_at(i);
  kcl_options o = kcl_defaults;
  const char *word;
  int k = 0;
  for (; (word = kcl_option_word(i, k)); k++)
    CHECKF(!kcl_options_set(&o, e.name, word), "%s: %s", e.name, kcl_error());
  CHECKF(k >= 2 && !kcl_option_word(i, k + 1), "%s has %d words", e.name, k);
}

static int set_real(kcl_options *o, const char *name, double v) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", v);
  return kcl_options_set(o, name, text);
}

/* The ends of the range are taken, numbers beyond them are not; the help has the range of small numbers. */
static void check_range(int i) {
  const kcl_option e = kcl_option_at(i);
  kcl_options o = kcl_defaults;
  char range[32];
  CHECKF(!set_real(&o, e.name, e.min) && !set_real(&o, e.name, e.max), "%s", kcl_error());
  CHECKF(set_real(&o, e.name, e.min - 1) == KCL_USAGE, "%s takes %g", e.name, e.min - 1);
  CHECKF(set_real(&o, e.name, e.max * 1.5) == KCL_USAGE, "%s takes %g", e.name, e.max * 1.5);
  const bool takes = e.kind == KCL_OPTION_REAL && e.max >= 1.5;
  CHECKF(set_real(&o, e.name, 1.5) == (takes ? KCL_OK : KCL_USAGE), "%s and 1.5", e.name);
  snprintf(range, sizeof range, "%g to %g", e.min, e.max);
  CHECKF(e.max > 1000 || strstr(e.help, range), "%s: the help lacks %s: %s", e.name, range, e.help);
  CHECKF(!kcl_option_word(i, 0), "%s is a number with words", e.name);
}

static void test_list(void) {
  for (int i = 0; i < kcl_option_count(); i++) {
    const bool number =
        kcl_option_at(i).kind == KCL_OPTION_WHOLE || kcl_option_at(i).kind == KCL_OPTION_REAL;
    (number ? check_range : check_words)(i);
  }
  CHECK(!kcl_option_at(-1).name && !kcl_option_at(kcl_option_count()).name);
  CHECK(!kcl_option_word(-1, 0) && !kcl_option_word(kcl_option_count(), 0) &&
        !kcl_option_word(0, -1));
}

/* A set-up agrees with the table about the restart, whichever the method. */
static void test_restart(void) {
  const int64_t row_ptr[] = {0, 1, 2};
  const int32_t col[] = {0, 1};
  double val[] = {1, 2};
  kcl_csr A = {
      .rows = 2, .cols = 2, .nnz = 2, .row_ptr = (int64_t *)row_ptr, .col = (int32_t *)col};
  A.val = val, A.type = KCL_D;
  for (int i = 0; i < 4; i++) {
    kcl_options o = kcl_defaults;
    kcl_solver *s = NULL;
    o.solver = i % 2 ? "cg" : "gmres", o.restart = i / 2 ? KCL_MAX_RESTART + 1 : 50;
    CHECKF(kcl_setup(ctx, &A, &o, &s) == (i / 2 ? KCL_USAGE : KCL_OK), "%s, restart %d: %s",
           o.solver, o.restart, kcl_error());
    kcl_solver_free(&s);
  }
}

static bool is_parameter(int i) { return strchr(kcl_option_at(i).name, '.') != NULL; }

/* The page has a row for every option, or for every parameter, as the table says. */
static void check_page(const char *path, bool parameters) {
  static char page[1 << 16];
  FILE *f = fopen(path, "r");
  memset(page, 0, sizeof page);
  if (f) fread(page, 1, sizeof page - 1, f), fclose(f);
  if (!CHECKF(*page, "%s is there: run from the source folder", path)) return;
  for (int i = 0; i < kcl_option_count(); i++) {
    const kcl_option e = kcl_option_at(i);
    char row[300];
    if (is_parameter(i) != parameters) continue;
    snprintf(row, sizeof row, "\n| `%s` | %s | %s |\n", e.name, e.default_text, e.help);
    CHECKF(strstr(page, row), "%s lacks the row %s", path, row);
  }
}

static void test_pages(void) {
  check_page("docs/options.md", false);
  check_page("docs/preconditioners.md", true);
}

/* ---------------------------------------------------------------- texts */

static bool same_options(const kcl_options *a, const kcl_options *b) {
  return !strcmp(a->solver, b->solver) && !strcmp(a->precond, b->precond) &&
         !strcmp(a->format, b->format) && a->precision == b->precision && a->tol == b->tol &&
         a->atol == b->atol && a->max_iter == b->max_iter && a->symmetry == b->symmetry &&
         a->scale == b->scale && a->no_direct == b->no_direct && a->restart == b->restart &&
         a->nrhs == b->nrhs && a->mixed == b->mixed && !strcmp(a->parameters, b->parameters);
}

static const char all_set[] =
    "solver=cg  precond=jacobi\tformat=ell # solver=gmres\r\n"
    "tol = 1e-10 atol= 0.5 max-iter =1e3\n"
    "ilut.fill=40 chebyshev.degree = 3 ilut.fill=1e2 amg.theta=0.25\n"
    "precision=c symmetry=exact scale=none restart=30#nrhs=2\nnrhs=4 mixed no-direct=yes";

static void check_all_set(const kcl_options *o) {
  const kcl_options expected = {.solver = "cg",
                                .precond = "jacobi",
                                .format = "ell",
                                .precision = KCL_C,
                                .tol = 1e-10,
                                .atol = 0.5,
                                .max_iter = 1000,
                                .symmetry = KCL_SYMMETRY_EXACT,
                                .scale = KCL_SCALE_NONE,
                                .no_direct = true,
                                .restart = 30,
                                .nrhs = 4,
                                .mixed = true,
                                .parameters = "chebyshev.degree=3 ilut.fill=1e2"};
  CHECK(same_options(o, &expected));
}

static void test_text(void) {
  kcl_options o = kcl_defaults, zero = {0};
  char text[sizeof all_set];
  memcpy(text, all_set, sizeof text);
  CHECKF(!kcl_options_parse(&o, text), "%s", kcl_error());
  memset(text, 'x', sizeof text - 1); /* nothing of the text is kept */
  check_all_set(&o);
  CHECK(!kcl_options_parse(&o, "mixed=no mixed mixed = no") && !o.mixed && o.no_direct);
  CHECK(!kcl_options_parse(&o, " \n# all\n") && o.nrhs == 4);
  CHECK(!kcl_options_parse(&zero, "nrhs=2") && zero.tol == kcl_defaults.tol &&
        zero.precision == KCL_D && !strcmp(zero.solver, "auto"));
}

static void test_default(void) {
  kcl_options o = kcl_defaults;
  CHECK(!kcl_options_parse(&o, all_set) && !same_options(&o, &kcl_defaults));
  for (int i = 0; i < kcl_option_count(); i++)
    CHECK(!kcl_options_set(&o, kcl_option_at(i).name, "default"));
  CHECK(same_options(&o, &kcl_defaults));
}

static void test_refusals(void) {
  static const struct {
    const char *text, *place, *word;
  } bad[] = {
      {"solvr=cg", "options:1:8: ", "did you mean solver?"},
      {"solver=cgg", "options:1:8: ", "did you mean cg?"},
      {"tol=1e-8x", "options:1:8: tol", "number from 0 to 1e+300"},
      {"\n  tol=nan", "options:2:3: tol", "number"},
      {"tol=-1", "tol", "from 0"},
      {"tol=1e999", "tol", "1e+300"},
      {"tol=0x1p-3", "tol", "number"},
      {"tol=1,5", "tol", "number"},
      {"max-iter=0", "max-iter", "whole number from 1"},
      {"max-iter=1.5", "max-iter", "whole number"},
      {"# a\n\n\tmax-iter=1e16", "options:3:2: max-iter", "1e+15"},
      {"restart=1001", "restart", "1 to 1000"},
      {"nrhs=9", "nrhs", "1 to 8"},
      {"mixed=maybe", "mixed", "no, yes, default"},
      {"scale=defualt", "scale", "did you mean default?"},
      {"tol", "tol", "number"},
      {"tol=", "tol", "number"},
      {"tol=\n1e-3", "tol", "number"},
      {"=3", "options:1:8: ", "there are: solver"},
      {"precision=f", "precision", "s, d, c, z"},
      {"ilut.dorp=0.1", "options:1:8: ", "did you mean ilut.drop?"},
      {"degree=3", "options:1:8: ", "unknown option 'degree'"},
      {"chebyshev.degree=9", "options:1:8: chebyshev.degree is '9'", "whole number from 1 to 8"},
      {"chebyshev.degree=2.5", "chebyshev.degree", "whole number from 1 to 8"},
      {"ilut.drop=1.1", "ilut.drop is '1.1'", "number from 0 to 1"},
      {"ilut.drop=nan", "ilut.drop is 'nan'", "number from 0 to 1"},
      {"ilut.drop", "ilut.drop", "number from 0 to 1"},
      {"tol=0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
       "00000000000000000000000001",
       "tol", "number"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    kcl_options o = kcl_defaults;
    char text[200];
    snprintf(text, sizeof text, "nrhs=3 %s", bad[i].text);
    CHECKF(kcl_options_parse(&o, text) == KCL_USAGE && strstr(kcl_error(), bad[i].place) &&
               strstr(kcl_error(), bad[i].word),
           "%s: %s", text, kcl_error());
    CHECKF(same_options(&o, &kcl_defaults), "%s: a failure changed an option", text);
    CHECK(kcl_options_parse(&o, text) == KCL_USAGE);
  }
}

static void test_arguments(void) {
  kcl_options o = kcl_defaults;
  CHECK(kcl_options_parse(NULL, "") == KCL_USAGE);
  CHECK(kcl_options_parse(&o, NULL) == KCL_USAGE);
  CHECK(kcl_options_read(&o, NULL) == KCL_USAGE);
  CHECK(kcl_options_read(NULL, "x") == KCL_USAGE);
  CHECK(kcl_options_read_variable(NULL, NULL) == KCL_USAGE);
  CHECK(kcl_options_set(&o, NULL, "cg") == KCL_USAGE);
  CHECK(kcl_options_set(&o, "solver", NULL) == KCL_USAGE);
  CHECK(!kcl_options_parse(&o, "solver=cg"));
}

/* ---------------------------------------------------------------- files, the environment, locales */

static int read_file(kcl_options *o, const char *path, const void *bytes, size_t size) {
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) exit(1);
  return kcl_options_read(o, path);
}

static void test_file(void) {
  char folder[] = "/tmp/krylocl-options-XXXXXX", path[64], place[100];
  static const char bad[] = "# mine\nsolver = cg\n restart = 1060 # more\n";
  kcl_options o = kcl_defaults;
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  snprintf(path, sizeof path, "%s/solve.options", folder);
  CHECK(kcl_options_read(&o, path) == KCL_INPUT && strstr(kcl_error(), "cannot open"));
  CHECK(kcl_options_read(&o, folder) == KCL_INPUT && strstr(kcl_error(), folder));
  CHECK(!read_file(&o, path, "", 0) && same_options(&o, &kcl_defaults));
  CHECK(read_file(&o, path, "mixed\0", 6) == KCL_INPUT && !o.mixed);
  CHECK(read_file(&o, path, bad, sizeof bad - 1) == KCL_INPUT && same_options(&o, &kcl_defaults));
  snprintf(place, sizeof place, "%s:3:2: restart is '1060'", path);
  CHECKF(strstr(kcl_error(), place), "%s", kcl_error());
  CHECKF(!read_file(&o, path, all_set, sizeof all_set - 1), "%s", kcl_error());
  check_all_set(&o);
  remove(path), rmdir(folder);
}

static void test_variable(void) {
  kcl_options o = kcl_defaults;
  unsetenv("KRYLOCL_SOLVE");
  CHECK(!kcl_options_read_variable(&o, NULL) && same_options(&o, &kcl_defaults));
  setenv("KRYLOCL_SOLVE", "precond=sa tol=1e-4", 1), setenv("MY_SOLVE", all_set, 1);
  CHECK(!kcl_options_parse(&o, "nrhs=2") && o.tol == kcl_defaults.tol); /* not asked for */
  CHECK(!kcl_options_read_variable(&o, NULL) && o.tol == 1e-4 && !strcmp(o.precond, "sa"));
  CHECK(!kcl_options_read_variable(&o, "MY_SOLVE"));
  check_all_set(&o);
  setenv("KRYLOCL_SOLVE", "nrhs=1 tolerance=3", 1);
  CHECK(kcl_options_read_variable(&o, NULL) == KCL_USAGE && o.nrhs == 4);
  CHECKF(strstr(kcl_error(), "KRYLOCL_SOLVE:1:8: ") && strstr(kcl_error(), "mean tol?"), "%s",
         kcl_error());
}

/* Selects a locale with a decimal comma: one of the system, or one that is made in the folder. */
static bool select_comma(const char *folder) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "it_IT.UTF-8"};
  char command[200];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (setlocale(LC_NUMERIC, names[i])) return true;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
           folder);
  return !system(command) && !setenv("LOCPATH", folder, 1) && setlocale(LC_NUMERIC, names[0]);
}

/* A program with a user interface may have set a locale in which strtod reads 0,5. */
static void test_locale(void) {
  char folder[] = "/tmp/krylocl-locale-XXXXXX", command[64];
  kcl_options o = kcl_defaults;
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  if (!select_comma(folder)) skip("no locale with a decimal comma");
  CHECK(!kcl_options_parse(&o, "tol=0.5") && o.tol == 0.5);
  CHECK(kcl_options_parse(&o, "tol=0,5") == KCL_USAGE);
  setlocale(LC_NUMERIC, "C");
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
}

int main(void) {
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx))) return check_report();
  test_list(), test_restart(), test_pages();
  test_text(), test_default(), test_refusals(), test_arguments();
  test_file(), test_variable(), test_locale();
  kcl_context_free(&ctx);
  return check_report();
}
