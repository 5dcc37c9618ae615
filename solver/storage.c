/* A matrix as a storage format stores it: the arrays that the format declares, as numbers. Which entry of A an element holds is
 * found by storing a second matrix of the same structure, whose values are the numbers of its entries: 1, 2, 3 ... */
#include "core/base/context.h"
#include "core/matrix/stored.h"

_Static_assert((int)KCL_MOST_ARRAYS == KCL_STORAGE_PARTS, "every array of a format has a place");

static const char *element_name(const kcl_stored *m, const kcl_array *a) {
  static const char *const scalars[] = {
      [KCL_S] = "float", [KCL_D] = "double", [KCL_C] = "complex float", [KCL_Z] = "complex double"};
  switch (a->kind) {
  case KCL_UINT8: return "uint8";
  case KCL_UINT16: return "uint16";
  case KCL_INT32: return "int32";
  case KCL_INT64: return kcl_stored_on_device(m) && m->nnz < INT32_MAX ? "int32" : "int64";
  case KCL_SINGLE: return kcl_type_complex(m->type) ? "complex float" : "float";
  default: return scalars[m->type];
  }
}

static bool is_integer_kind(kcl_array_kind kind) {
  return kind != KCL_SCALAR && kind != KCL_SINGLE && kind != KCL_IMAGE;
}

static int64_t integer_element(const kcl_array *a, int64_t k) {
  switch (a->kind) {
  case KCL_UINT8: return ((const uint8_t *)a->data)[k];
  case KCL_UINT16: return ((const uint16_t *)a->data)[k];
  case KCL_INT32: return ((const int32_t *)a->data)[k];
  default: return ((const int64_t *)a->data)[k];
  }
}

/* The element as a number: {re, im}. */
static void storage_element(const kcl_array *a, kcl_type type, int64_t k, double z[2]) {
  const kcl_type single = kcl_type_complex(type) ? KCL_C : KCL_S;
  if (is_integer_kind(a->kind))
    z[0] = (double)integer_element(a, k), z[1] = 0;
  else
    kcl_element(a->kind == KCL_SINGLE ? single : type, a->data, k, z);
}

static int copy_storage_array(const kcl_stored *m, const kcl_array *a, kcl_storage_array *to) {
  *to = (kcl_storage_array){.name = a->name,
                            .type = element_name(m, a),
                            .count = a->count,
                            .complex = !is_integer_kind(a->kind) && kcl_type_complex(m->type)};
  if (a->prepared) return KCL_OK;
  const int parts = to->complex ? 2 : 1;
  int rc = kcl_alloc(m->ctx, parts * a->count, sizeof(double), a->name, (void **)&to->value);
  for (int64_t k = 0; !rc && k < a->count; k++) {
    double z[2];
    storage_element(a, m->type, k, z);
    for (int part = 0; part < parts; part++) to->value[parts * k + part] = z[part];
  }
  return rc;
}

/* ---------------------------------------------------------------- the entries that elements hold */

/* The entry (j, i) of A, or that of number k if there is none. */
static int64_t mirror_of(const kcl_csr *A, int64_t i, int64_t k) {
  const int64_t j = A->col[k];
  if (j >= A->rows) return k;
  for (int64_t l = A->row_ptr[j]; l < A->row_ptr[j + 1]; l++)
    if (A->col[l] == i) return l;
  return k;
}

/* A's structure with the numbers of its entries as values. symmetric: two mirrored entries have the number of the later one,
 * for formats that store half of them. */
static int number_entries(kcl_context *ctx, const kcl_csr *A, bool symmetric, kcl_csr **out) {
  int rc = kcl_csr_convert(ctx, A, kcl_wide_type(A->type), out);
  for (int64_t i = 0; !rc && i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t mirrored = symmetric ? mirror_of(A, i, k) : k;
      const double number[2] = {(double)(1 + (mirrored > k ? mirrored : k)), 0};
      kcl_set_element((*out)->type, (*out)->val, k, number);
    }
  return rc;
}

/* Fills `entry` of an array of real or complex numbers whose counterpart is a, of numbered entries. */
static int find_entries(const kcl_stored *m, const kcl_array *a, kcl_storage_array *to) {
  if (is_integer_kind(a->kind) || a->prepared || a->count != to->count) return KCL_OK;
  int rc = kcl_alloc(m->ctx, a->count, sizeof(int64_t), a->name, (void **)&to->entry);
  for (int64_t k = 0; !rc && k < a->count; k++) {
    double z[2];
    storage_element(a, m->type, k, z);
    to->entry[k] = (int64_t)z[0] - 1;
  }
  return rc;
}

/* Finds the entries that elements of s hold. A format that refuses the numbers leaves `entry` NULL. */
static int trace_entries(kcl_context *ctx, const kcl_csr *A, const char *format, kcl_storage *s) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *numbered = NULL;
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *m = NULL;
  const kcl_format *f;
  int rc = kcl_format_find(ctx, format, kcl_wide_type(A->type), &f);
  for (int symmetric = 0; !rc && !m && symmetric < 2; symmetric++) {
    kcl_csr_free(&numbered);
    rc = number_entries(ctx, A, symmetric, &numbered);
    if (!rc) kcl_stored_build(ctx, f, numbered, &m); /* m NULL: refused */
  }
  for (int i = 0; !rc && m && i < s->arrays && m->arrays == s->arrays; i++)
    rc = find_entries(m, &m->array[i], &s->array[i]);
  return rc;
}

/* ---------------------------------------------------------------- the functions of the public header */

static int copy_storage(const kcl_stored *m, kcl_storage *s) {
  int rc = KCL_OK;
  for (int i = 0; i < m->params; i++)
    s->integer[s->integers++] =
        (kcl_storage_integer){.name = m->param[i].name, .value = m->param[i].value};
  while (!rc && s->arrays < m->arrays)
    rc = copy_storage_array(m, &m->array[s->arrays], &s->array[s->arrays]), s->arrays++;
  return rc;
}

/* Stores A, which has the type of f, and copies the arrays. */
static int read_storage(kcl_context *ctx, const kcl_csr *A, const kcl_format *f,
                        kcl_storage **out) {
  kcl_stored *m = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, 1, sizeof **out, "arrays of a format", (void **)out));
  (*out)->format = f->name;
  KCL_TRY(kcl_stored_build(ctx, f, A, &m));
  KCL_TRY(copy_storage(m, *out));
  KCL_TRY(trace_entries(ctx, A, f->name, *out));
done:
  kcl_stored_free(&m);
  if (rc) kcl_storage_free(out);
  return rc;
}

int kcl_storage_create(kcl_context *ctx, const kcl_csr *A, kcl_type type, const char *format,
                       kcl_storage **out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *converted = NULL;
  kcl_stats stats;
  const kcl_format *f;
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_need(ctx, "format", format));
  KCL_CALL(kcl_type_check(ctx, "type", type));
  KCL_CALL(kcl_csr_convert(ctx, A, type, &converted));
  KCL_CALL(kcl_csr_stats(ctx, converted, &stats));
  KCL_CALL(kcl_format_named(ctx, &stats, type, format, &f));
  return read_storage(ctx, converted, f, out);
}

void kcl_storage_free(kcl_storage **s) {
  if (!s || !*s) return;
  for (int i = 0; i < (*s)->arrays; i++) free((*s)->array[i].value), free((*s)->array[i].entry);
  free(*s);
  *s = NULL;
}
