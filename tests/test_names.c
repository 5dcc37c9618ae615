/* Names of a format's arrays and integers: build refuses those that the composed OpenCL source uses, and the list of
 * these is complete: every other parameter that the source gives to a format's function is refused as a name.
 */
#include "core/opencl/executor.h"
#include "tests/conform.h"

/* ---------------------------------------------------------------- build refuses */

static const char *first = "a", *second = "b", *integer = "c";
static kcl_array_kind kind = KCL_INT32;
static bool match;

static int build(kcl_stored *m, const kcl_csr *A) {
  void *data;
  int rc = kcl_stored_array(m, first, kind, A->rows, &data);
  if (!rc) rc = kcl_stored_array(m, second, KCL_SCALAR, A->rows, &data);
  kcl_stored_param(m, integer, 1);
  m->kernel.rows_match_elements = match;
  return rc;
}

static void expect(kcl_context *ctx, const kcl_csr *A, const char *name, const char *word) {
  const kcl_format format = {.name = "mine", .build = build};
  kcl_stored *m;
  int rc = kcl_stored_build(ctx, &format, A, &m);
  if (word)
    CHECKF(rc == KCL_USAGE && !m && strstr(kcl_error(), "mine") && strstr(kcl_error(), name) &&
               strstr(kcl_error(), word),
           "%s: status %d: %s", name, rc, kcl_error());
  else
    CHECKF(!rc, "%s: %s", name, kcl_error());
  kcl_stored_free(&m);
}

/* As the name of an array, then of an integer. */
static void expect_both(kcl_context *ctx, const kcl_csr *A, const char *name, const char *word) {
  first = name, expect(ctx, A, name, word), first = "a";
  integer = name, expect(ctx, A, name, word), integer = "c";
}

static void test_build(kcl_context *ctx, const kcl_csr *A) {
  static const char *const used[] = {"x",      "lo",     "hi",      "scratch",   "messages",
                                     "launch", "active", "version", "local_row", "scalar",
                                     "idx",    "v_q",    "f_alpha", "sum_rr",    "to_p"},
                           *const good[] = {"row_ptr", "n", "base", "q", "xi", "total", "size"};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) expect_both(ctx, A, used[i], "composed");
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) expect_both(ctx, A, good[i], NULL);
  expect_both(ctx, A, "WG", "lower-case"), expect_both(ctx, A, "2nd", "lower-case");
  expect_both(ctx, A, "b", "twice");
  expect_both(ctx, A, "row", NULL);
  match = true, expect_both(ctx, A, "row", "composed"), match = false;
  kind = KCL_INT64, first = "size", expect(ctx, A, "size", "type");
  kind = KCL_INT32, first = "a";
}

/* ---------------------------------------------------------------- the list is complete */

#ifndef KCL_NO_OPENCL

static kcl_program *program(kcl_context *ctx, const kcl_csr *A, kcl_stored *m, int nrhs) {
  kcl_program *k = NULL;
  kcl_vec p, q, r;
  kcl_slot s, t;
  if (kcl_program_create(ctx, A->type, A->rows, A->cols, &k)) exit(1);
  k->A = m, k->nrhs = nrhs;
  kcl_new_vectors(k, "p q r", (kcl_vec *[]){&p, &q, &r}),
      kcl_new_scalars(k, "s t", (kcl_slot *[]){&s, &t});
  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, q, m, p), kcl_dot(k, s, p, q);
  kcl_apply(k, q, m, r), kcl_lincomb(k, p, KCL_ONE, q, plus(s), p), kcl_dot(k, t, p, p);
  kcl_lincomb(k, r, KCL_ONE, r, minus(t), q);
  CHECK(!kcl_program_end(k));
  return k;
}

static unsigned met; /* which kinds of names the source had */

static void note(const char *name) {
  static const char *const kinds[] = {"v_",  "f_",      "sum_",     "to_",   "active",
                                      "row", "version", "messages", "launch"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strncmp(name, kinds[i], strlen(kinds[i]))) met |= 1u << i;
}

/* Parameters in a line of the source, "#define WORD type name, type name". */
static void check_parameters(const kcl_stored *m, const char *line, const char *what) {
  char name[100];
  const char *end = line + strcspn(line, "\n");
  while (line < end) {
    const char *stop = line + strcspn(line, ",\n"), *at = stop;
    while (at > line && strchr("abcdefghijklmnopqrstuvwxyz_0123456789", at[-1])) at--;
    snprintf(name, sizeof name, "%.*s", (int)(stop - at), at);
    bool own = !*name;
    for (int i = 0; i < m->arrays; i++) own = own || !strcmp(name, m->array[i].name);
    for (int i = 0; i < m->params; i++) own = own || !strcmp(name, m->param[i].name);
    CHECKF(own || kcl_name_refused(m, name, KCL_INT32), "%s: %s is not reserved", what, name);
    note(name);
    line = stop + 1;
  }
}

static void check_source(const kcl_program *k, const kcl_geometry *g, const char *what) {
  static const char *const word[] = {"#define EMIT_PARAMS ", "#define MATRIX "};
  char *source = NULL;
  kcl_parts parts = {.count = 0};
  if (!CHECKF(!kcl_parts_find(k, g, &parts) && !kcl_program_source(k, g, &parts, 0, &source), "%s",
              kcl_error()))
    return;
  for (int i = 0; i < 2; i++) {
    const char *at = strstr(source, word[i]);
    CHECKF(at, "%s: no %s", what, word[i]);
    for (; at; at = strstr(at, word[i])) at += strlen(word[i]), check_parameters(k->A, at, what);
  }
  free(source), kcl_parts_free(&parts);
}

static void test_sources(kcl_context *ctx, const kcl_csr *A, const char *format) {
  const kcl_format *f;
  kcl_stored *m = NULL;
  if (!CHECK(!kcl_format_find(ctx, format, A->type, &f) && !kcl_stored_build(ctx, f, A, &m)))
    return;
  m->kernel.message_slots += !strcmp(format, "csr-split"); /* as for long rows */
  for (int nrhs = 1; nrhs < (f->multi_rhs ? 4 : 2); nrhs += 2) {
    kcl_program *k = program(ctx, A, m, nrhs);
    kcl_geometry g = kcl_choose_geometry(k);
    check_source(k, &g, format);
    g.group = 256, check_source(k, &g, format);
    g.persistent = g.local_halo = true, g.rows_per_item = 1;
    for (int overlaps = 0; nrhs == 1 && m->kernel.rows_match_elements && overlaps < 2; overlaps++)
      g.overlaps = overlaps, check_source(k, &g, format);
    kcl_program_free(&k);
  }
  kcl_stored_free(&m);
}

static void test_list(const place *p, const kcl_csr *A) {
  if (!p->ctx->opencl) return;
  test_sources(p->ctx, A, "ell"), test_sources(p->ctx, A, "csr-vector");
  test_sources(p->ctx, A, "csr-split");
  CHECKF(met == (1u << 9) - 1, "kinds of names met: %x", met);
}
#else
static void test_list(const place *p, const kcl_csr *A) {
  (void)p, (void)A, skip("composed source: built without OpenCL");
}
#endif

int main(void) {
  kcl_csr *A;
  open_places();
  CHECK(!kcl_generate(places[0].ctx, "poisson2d:9", &A, NULL));
  for (int i = 0; i < place_count; i++) test_build(places[i].ctx, A), test_list(&places[i], A);
  kcl_csr_free(&A), close_places();
  return check_report();
}
