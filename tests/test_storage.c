/* The arrays of every format as numbers (solver/storage.c): an element that holds an entry of A has its value, every entry is
 * held once, rounding to float aside, and every other element of the same array is zero. In four types, in both layouts. */
#include "core/base/context.h"
#include "core/matrix/stored.h"
#include "tests/check.h"
#include <string.h>

static const char *const kinds[] = {"poisson2d:3", "convection:3", "bibd:5x3", "cage:3",
                                    "magnetic:3"};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_ENTRIES = 64 };

/* Formats whose elements may stand for several entries. */
static bool shares_values(const char *format) {
  return !strcmp(format, "pattern") || !strcmp(format, "pair") || !strcmp(format, "sell-dict");
}

static int part_count(const kcl_storage_array *a) { return a->complex ? 2 : 1; }

static bool has_value(const kcl_csr *A, const kcl_storage_array *a, int64_t k) {
  double z[2] = {0, 0};
  if (a->entry[k] >= 0) kcl_element(A->type, A->val, a->entry[k], z);
  for (int part = 0; part < part_count(a); part++)
    if ((float)a->value[part_count(a) * k + part] != (float)z[part]) return false;
  return true;
}

static void check_entries(const kcl_csr *A, const kcl_storage *s, const char *where) {
  int held[MOST_ENTRIES] = {0}, wrong = 0, once = 0;
  for (int i = 0; i < s->arrays; i++) {
    const kcl_storage_array *a = &s->array[i];
    for (int64_t k = 0; a->entry && k < a->count; k++) {
      wrong += !has_value(A, a, k);
      if (a->entry[k] >= 0) held[a->entry[k]]++;
    }
  }
  for (int64_t k = 0; k < A->nnz; k++) once += held[k] == 1;
  CHECKF(!wrong, "%s: %d elements differ from their entries", where, wrong);
  const int64_t expected = strcmp(s->format, "csr-sym") ? A->nnz : (A->nnz + A->rows) / 2;
  CHECKF(once == expected, "%s: %d entries are held once, not %lld", where, once,
         (long long)expected);
}

static void check_storage(kcl_context *ctx, const kcl_csr *A, kcl_type type, const char *format,
                          const char *where) {
  kcl_storage *s = NULL;
  const int rc = kcl_storage_create(ctx, A, type, format, &s);
  if (rc == KCL_REFUSED && strstr(kcl_error(), "refused")) {
    CHECKF(!s, "%s: refused, with a result", where);
    return;
  }
  if (!CHECKF(!rc && s, "%s: %s", where, kcl_error())) return;
  CHECKF(!strcmp(s->format, format) && s->arrays > 0, "%s: %d arrays of %s", where, s->arrays,
         s->format);
  for (int i = 0; i < s->arrays; i++)
    CHECKF(s->array[i].name && s->array[i].type && s->array[i].count >= 0, "%s: array %d", where,
           i);
  if (!shares_values(format)) check_entries(A, s, where);
  kcl_storage_free(&s);
  CHECKF(!s, "%s: freed", where);
}

static void check_formats(kcl_context *ctx, const kcl_csr *A, const char *kind) {
  char where[120];
  for (int t = KCL_S; t <= KCL_Z; t++)
    for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++) {
      const char *format = kcl_list(KCL_FORMATS, i).name;
      snprintf(where, sizeof where, "%s, %s, %c, layout %d", kind, format,
               kcl_type_letter((kcl_type)t), (int)ctx->layout);
      if (kcl_type_complex((kcl_type)t) || !kcl_type_complex(A->type))
        check_storage(ctx, A, (kcl_type)t, format, where);
    }
}

/* ELL of a matrix written down by hand, with its padding.
 *
 *     | 1 . 2 |      val 1 3 4      col 0 1 0      entry 0 2 3
 *     | . 3 . |          2 0 5          2 1 2            1 . 4
 *     | 4 . 5 |                                                   */
static void test_ell(kcl_context *ctx) {
  int64_t row_ptr[] = {0, 2, 3, 5};
  int32_t col[] = {0, 2, 1, 0, 2};
  double val[] = {1, 2, 3, 4, 5};
  const kcl_csr A = {
      .rows = 3, .cols = 3, .nnz = 5, .row_ptr = row_ptr, .col = col, .val = val, .type = KCL_D};
  static const double cols[2][3] = {{0, 1, 0}, {2, 1, 2}}, vals[2][3] = {{1, 3, 4}, {2, 0, 5}};
  static const int entries[2][3] = {{0, 2, 3}, {1, -1, 4}};
  kcl_storage *s = NULL;
  if (!CHECK(!kcl_storage_create(ctx, &A, KCL_S, "ell", &s))) return;
  const kcl_storage_array *c = &s->array[0], *v = &s->array[1];
  CHECK(s->arrays == 2 && !strcmp(c->name, "col") && !strcmp(c->type, "int32") && !c->entry);
  CHECK(!strcmp(v->name, "val") && !strcmp(v->type, "float") && !v->complex && v->count == 64);
  CHECK(s->integers == 2 && !strcmp(s->integer[0].name, "width") && s->integer[0].value == 2 &&
        !strcmp(s->integer[1].name, "stride") && s->integer[1].value == 32);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++)
      CHECKF(c->value[32 * k + i] == cols[k][i] && v->value[32 * k + i] == vals[k][i] &&
                 v->entry[32 * k + i] == entries[k][i],
             "entry %d of row %d", k, i);
  kcl_storage_free(&s);
}

static void test_misused(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_storage *s = NULL;
  if (!CHECK(!kcl_generate(ctx, "magnetic:3", &A, NULL))) return;
  CHECK(kcl_storage_create(ctx, NULL, KCL_D, "ell", &s) == KCL_USAGE && !s);
  CHECK(kcl_storage_create(ctx, A, KCL_Z, NULL, &s) == KCL_USAGE && !s);
  CHECK(kcl_storage_create(ctx, A, KCL_Z, "ell", NULL) == KCL_USAGE);
  CHECK(kcl_storage_create(ctx, A, KCL_Z, "elll", &s) == KCL_USAGE && !s);
  CHECK(kcl_storage_create(ctx, A, (kcl_type)9, "ell", &s) == KCL_USAGE && !s);
  CHECK(kcl_storage_create(ctx, A, KCL_D, "ell", &s) == KCL_USAGE && !s); /* complex to real */
  kcl_storage_free(&s), kcl_storage_free(NULL);
  kcl_csr_free(&A);
}

int main(void) {
  kcl_context *ctx = NULL;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0)))
    return check_report();
  for (int i = 0; i < KINDS; i++) {
    kcl_csr *A = NULL;
    if (!CHECK(!kcl_generate(ctx, kinds[i], &A, NULL) && A->nnz <= MOST_ENTRIES)) continue;
    check_formats(ctx, A, kinds[i]);
    ctx->layout = KCL_LAYOUT_GPU;
    check_formats(ctx, A, kinds[i]);
    ctx->layout = KCL_LAYOUT_NATIVE;
    kcl_csr_free(&A);
  }
  test_ell(ctx);
  test_misused(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
