/* Building a matrix in a format; its arrays and bytes. */
#include "core/matrix/stored.h"
#include "core/base/context.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

size_t kcl_array_element(kcl_array_kind kind, kcl_type type) {
  switch (kind) {
  case KCL_UINT8: return 1;
  case KCL_UINT16: return 2;
  case KCL_INT32: return 4;
  case KCL_INT64: return 8;
  case KCL_SINGLE: return kcl_type_complex(type) ? 8 : 4;
  default: return kcl_type_size(type);
  }
}

void kcl_stored_borrow(kcl_stored *m, const char *name, kcl_array_kind kind, int64_t count,
                       void *data) {
  assert(m->arrays < KCL_MOST_ARRAYS);
  m->array[m->arrays++] =
      (kcl_array){.name = name, .kind = kind, .count = count, .data = data, .borrowed = true};
}

int kcl_stored_array(kcl_stored *m, const char *name, kcl_array_kind kind, int64_t count,
                     void **data) {
  KCL_CALL(kcl_alloc(m->ctx, count, kcl_array_element(kind, m->type), name, data));
  kcl_stored_borrow(m, name, kind, count, *data);
  m->array[m->arrays - 1].borrowed = false;
  return KCL_OK;
}

void kcl_stored_prepared(kcl_stored *m, const char *name, kcl_array_kind kind, int64_t count,
                         int64_t items) {
  kcl_stored_borrow(m, name, kind, count, NULL);
  m->array[m->arrays - 1].prepared = true;
  m->kernel.prepare_items = items;
}

int kcl_stored_narrow(kcl_stored *m) {
  kcl_array *a = m->array;
  while (strcmp(a->name, "val")) a++;
  void *to = NULL;
  a->kind = KCL_SINGLE;
  if (m->kernel.lanes > 2) m->kernel.lanes /= 2;
  if (!a->data) return KCL_OK;
  KCL_CALL(kcl_alloc_unset(m->ctx, a->count, sizeof(float), "values as float", &to));
  kcl_copy(KCL_S, to, KCL_D, a->data, a->count, 1.0);
  if (!a->borrowed) free(a->data);
  a->data = to, a->borrowed = false;
  return KCL_OK;
}

/* Adds x as an image, the last array, where the executor is not native. */
static void add_image(kcl_stored *m) {
  int texel = m->ctx->images.texel[m->type];
  if (texel) kcl_stored_prepared(m, "xi", KCL_IMAGE, m->cols, (m->cols + texel - 1) / texel);
}

void kcl_stored_param(kcl_stored *m, const char *name, int64_t value) {
  assert(m->params < KCL_MOST_ARRAYS);
  m->param[m->params].name = name;
  m->param[m->params++].value = value;
}

void kcl_stored_local_table(kcl_stored *m, double bytes) {
  enum { MOST_LOCAL = 8192 };
  const double size = (double)kcl_type_size(m->type);
  if (!kcl_stored_gpu_layout(m) || bytes <= 0 || bytes > MOST_LOCAL) return;
  m->kernel.local_scalars = (int)ceil(bytes / size);
}

bool kcl_stored_gpu_layout(const kcl_stored *m) { return m->ctx->layout == KCL_LAYOUT_GPU; }
bool kcl_stored_on_device(const kcl_stored *m) { return m->ctx->layout != KCL_LAYOUT_NATIVE; }
const kcl_tune *kcl_stored_tune(const kcl_stored *m) { return &m->ctx->tune; }
bool kcl_stored_takes_narrow(const kcl_stored *m) {
  return m->format->narrow && (kcl_stored_gpu_layout(m) || !kcl_stored_on_device(m));
}

bool kcl_stored_scatters(const kcl_stored *m) { return m->format->scatter; }

bool kcl_stored_ends_stage(const kcl_stored *m) { return m->format->scatter || m->halo; }

double kcl_stored_bytes(const kcl_stored *m) {
  double bytes = 0;
  for (int i = 0; i < m->arrays; i++) {
    const kcl_array *a = &m->array[i];
    bool narrowed = a->kind == KCL_INT64 && kcl_stored_on_device(m) && m->nnz < INT32_MAX;
    bytes += (double)a->count * (narrowed ? 4.0 : (double)kcl_array_element(a->kind, m->type));
  }
  return bytes;
}

double kcl_stored_prepared_bytes(const kcl_stored *m) {
  double bytes = 0;
  for (int i = 0; i < m->arrays; i++)
    if (m->array[i].prepared)
      bytes += (double)m->array[i].count * (double)kcl_array_element(m->array[i].kind, m->type);
  return bytes;
}

static int build_knowing(kcl_context *ctx, const kcl_format *f, const kcl_csr *A,
                         struct kcl_distinct_rows *distinct, const kcl_stored *before,
                         kcl_stored **out) {
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *m = NULL;
  *out = NULL;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *m, "a matrix", (void **)&m));
  *m = (kcl_stored){.ctx = ctx,
                    .format = f,
                    .type = A->type,
                    .rows = A->rows,
                    .cols = A->cols,
                    .nnz = A->nnz,
                    .origin = {.source = *A, .distinct = distinct, .before = before},
                    .kernel = {.lanes = 1, .scatter_items = A->nnz}};
  KCL_CALL(f->build(m, A));
  m->origin.distinct = NULL, m->origin.before = NULL;
  KCL_CALL(kcl_stored_check_names(m));
  if (f->image) add_image(m);
  if (!kcl_stored_gpu_layout(m)) m->kernel.lanes = 1;
  *out = m, m = NULL;
  return KCL_OK;
}

int kcl_stored_build_from(kcl_context *ctx, const kcl_format *f, const kcl_csr *A,
                          struct kcl_distinct_rows *distinct, kcl_stored **out) {
  return build_knowing(ctx, f, A, distinct, NULL, out);
}

int kcl_stored_build_again(kcl_context *ctx, const kcl_format *f, const kcl_csr *A,
                           const kcl_stored *before, kcl_stored **out) {
  return build_knowing(ctx, f, A, NULL, before, out);
}

int kcl_stored_build(kcl_context *ctx, const kcl_format *f, const kcl_csr *A, kcl_stored **out) {
  return kcl_stored_build_from(ctx, f, A, NULL, out);
}

bool kcl_stored_refills(const kcl_stored *m, const kcl_format *f) {
  return m->format == f && f->refill && !m->sharers && !m->origin.adopted &&
         m->origin.source.row_ptr && !kcl_stored_on_device(m);
}

void kcl_stored_refill(kcl_stored *m, const kcl_csr *A, const kcl_offset_runs *runs) {
  m->origin.source = *A;
  m->format->refill(m, A, runs);
}

void kcl_stored_outline(kcl_context *ctx, const kcl_format *f, const kcl_stats *s, kcl_type type,
                        kcl_stored *out) {
  *out = (kcl_stored){.ctx = ctx,
                      .format = f,
                      .type = type,
                      .rows = s->rows,
                      .cols = s->cols,
                      .nnz = s->nnz,
                      .kernel = {.lanes = 1, .scatter_items = s->nnz},
                      .cost = {.chain = (double)s->row_max,
                               .mean = s->row_mean,
                               .entry_ns = 20,
                               .bandwidth = s->bandwidth}};
  kcl_stored_borrow(out, "stored", KCL_UINT8, (int64_t)f->size(s, type).total, NULL);
  if (f->image) add_image(out);
  if (f->outline) f->outline(out, s);
  if (!kcl_stored_gpu_layout(out)) out->kernel.lanes = 1, out->kernel.rows_match_elements = false;
}

void kcl_stored_adopt(kcl_stored *m, kcl_csr *A) { m->origin.adopted = A; }

bool kcl_stored_borrows(const kcl_stored *m, const void *values) {
  bool any = false;
  for (int i = 0; i < m->arrays; i++)
    any |= m->array[i].borrowed && !m->device[i] && m->array[i].data == values;
  return any;
}

int kcl_stored_own(kcl_stored *m) {
  if (m->origin.adopted) return KCL_OK;
  for (int i = 0; i < m->arrays; i++) {
    kcl_array *a = &m->array[i];
    const size_t size = kcl_array_element(a->kind, m->type);
    void *copy;
    if (m->device[i] && a->borrowed) a->data = NULL;
    if (!a->borrowed || !a->data) continue;
    KCL_CALL(kcl_alloc_unset(m->ctx, a->count, size, a->name, &copy));
    kcl_copy_bytes(copy, a->data, a->count * (int64_t)size);
    a->data = copy, a->borrowed = false;
  }
  m->origin.source.row_ptr = NULL;
  return KCL_OK;
}

kcl_stored *kcl_stored_share(kcl_stored *m) {
  if (m) m->sharers++;
  return m;
}

void kcl_stored_free(kcl_stored **m) {
  if (!*m) return;
  if ((*m)->sharers-- > 0) {
    *m = NULL;
    return;
  }
  if ((*m)->release) (*m)->release(*m);
  for (int i = 0; i < (*m)->arrays; i++)
    if (!(*m)->array[i].borrowed) free((*m)->array[i].data);
  kcl_csr_free(&(*m)->origin.adopted);
  free((*m)->step);
  free(*m);
  *m = NULL;
}

const char *kcl_refusal_text(const char *format, ...) {
  static _Thread_local char text[200];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

int kcl_stored_refused(const kcl_stored *m, const char *why) {
  return kcl_fail(m->ctx, KCL_REFUSED, "format %s refused: %s", m->format->name, why);
}
