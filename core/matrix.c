/* Building a matrix in a format, what it costs, and the choice by bytes. */
#include "core/matrix.h"
#include "core/context.h"
#include "core/opencl.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void kcl_matrix_borrow(kcl_matrix *m, const char *name, kcl_array_kind kind, int64_t count,
                       void *data) {
  assert(m->arrays < KCL_MOST_ARRAYS);
  m->array[m->arrays++] =
      (kcl_array){.name = name, .kind = kind, .count = count, .data = data, .borrowed = true};
}

int kcl_matrix_array(kcl_matrix *m, const char *name, kcl_array_kind kind, int64_t count,
                     void **data) {
  int rc = kcl_alloc(m->ctx, count, kcl_array_element(kind, m->type), name, data);
  if (rc) return rc;
  kcl_matrix_borrow(m, name, kind, count, *data);
  m->array[m->arrays - 1].borrowed = false;
  return KCL_OK;
}

void kcl_matrix_scratch(kcl_matrix *m, const char *name, kcl_array_kind kind, int64_t count,
                        int64_t items) {
  kcl_matrix_borrow(m, name, kind, count, NULL);
  m->array[m->arrays - 1].scratch = true;
  m->prepare = items;
}

void kcl_matrix_image(kcl_matrix *m) {
  int texel = kcl_opencl_texel(m->ctx, m->type);
  if (texel) kcl_matrix_scratch(m, "xi", KCL_IMAGE, m->cols, (m->cols + texel - 1) / texel);
}

void kcl_matrix_param(kcl_matrix *m, const char *name, int64_t value) {
  assert(m->params < KCL_MOST_ARRAYS);
  m->param[m->params].name = name;
  m->param[m->params++].value = value;
}

bool kcl_matrix_neighbours(const kcl_matrix *m) { return kcl_opencl_neighbours(m->ctx); }
bool kcl_matrix_on_device(const kcl_matrix *m) { return m->ctx->opencl != NULL; }
const kcl_tune *kcl_matrix_tune(const kcl_matrix *m) { return &m->ctx->tune; }
bool kcl_matrix_scatters(const kcl_matrix *m) { return m->format->scatter; }

double kcl_matrix_bytes(const kcl_matrix *m) {
  double bytes = 0;
  for (int i = 0; i < m->arrays; i++) {
    const kcl_array *a = &m->array[i];
    bool narrowed = a->kind == KCL_INT64 && m->ctx->opencl && m->nnz < INT32_MAX;
    bytes += (double)a->count * (narrowed ? 4.0 : (double)kcl_array_element(a->kind, m->type));
  }
  return bytes;
}

double kcl_matrix_scratch_bytes(const kcl_matrix *m) {
  double bytes = 0;
  for (int i = 0; i < m->arrays; i++)
    if (m->array[i].scratch)
      bytes += (double)m->array[i].count * (double)kcl_array_element(m->array[i].kind, m->type);
  return bytes;
}

int kcl_matrix_build(kcl *ctx, const kcl_format *f, const kcl_csr *A, kcl_matrix **out) {
  kcl_matrix *m = *out = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, 1, sizeof *m, "a matrix", (void **)&m));
  *m = (kcl_matrix){.ctx = ctx,
                    .format = f,
                    .type = A->type,
                    .rows = A->rows,
                    .cols = A->cols,
                    .nnz = A->nnz,
                    .lanes = 1,
                    .source = A,
                    .items = A->nnz};
  KCL_TRY(f->build(m, A));
  if (!kcl_opencl_neighbours(ctx)) m->lanes = 1;
  *out = m, m = NULL;
done:
  kcl_matrix_free(&m);
  return rc;
}

void kcl_matrix_adopt(kcl_matrix *m, kcl_csr *A) { m->adopted = A; }

void kcl_matrix_free(kcl_matrix **m) {
  if (!*m) return;
  kcl_opencl_release(*m);
  for (int i = 0; i < (*m)->arrays; i++)
    if (!(*m)->array[i].borrowed) free((*m)->array[i].data);
  kcl_csr_free(&(*m)->adopted);
  free(*m);
  *m = NULL;
}

/* ---------------------------------------------------------------- cost and choice */

static _Thread_local char text[200];

const char *kcl_refusal_text(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

int kcl_matrix_refused(const kcl_matrix *m, const char *why) {
  return kcl_fail(m->ctx, KCL_MEMORY, "format %s refused: %s", m->format->name, why);
}

/* Refused beyond the memory of the device, or ten times the bytes of CSR where that is no trifle. The
 * text is static. */
static const char *too_large(const kcl *ctx, const kcl_stats *s, kcl_type type, kcl_size size) {
  static const double trifle = 1e6;
  double csr = (double)s->nnz * (4.0 + (double)kcl_type_size(type)) + 8.0 * ((double)s->rows + 1);
  double vectors = 8.0 * (double)s->rows * (double)kcl_type_size(type);
  const kcl_device *d = &ctx->device;
  if (size.total > trifle && size.total > 10 * csr)
    snprintf(text, sizeof text, "pads to %.3g GB, %.0f times CSR", size.total * 1e-9,
             size.total / csr);
  else if (d->memory && size.total + vectors > (double)d->memory)
    snprintf(text, sizeof text, "needs %.3g GB, the device has %.3g GB",
             (size.total + vectors) * 1e-9, (double)d->memory * 1e-9);
  else if (d->max_alloc && size.largest > (double)d->max_alloc)
    snprintf(text, sizeof text, "needs a buffer of %.3g GB, the device allows %.3g GB",
             size.largest * 1e-9, (double)d->max_alloc * 1e-9);
  else
    return NULL;
  return text;
}

static const char *refusal(const kcl *ctx, const kcl_format *f, const kcl_stats *s, kcl_type type) {
  const char *why = f->image ? kcl_opencl_no_image(ctx, s->cols, type) : NULL;
  if (!why && f->refuses) why = f->refuses(s, type);
  return why ? why : too_large(ctx, s, type, f->size(s, type));
}

static double moved(const kcl *ctx, const kcl_format *f, const kcl_stats *s, kcl_type type) {
  double slow = f->slowdown ? f->slowdown(s, &ctx->device) : 1;
  return f->size(s, type).total * slow + (double)(s->rows + s->cols) * (double)kcl_type_size(type);
}

int kcl_format_cost(kcl *ctx, const kcl_stats *s, kcl_type type, const char *format,
                    kcl_cost *out) {
  const kcl_format *f;
  int rc = kcl_format_find(ctx, format, type, &f);
  if (rc) return rc;
  kcl_size size = f->size(s, type);
  *out = (kcl_cost){.bytes_stored = size.total,
                    .bytes_product =
                        size.total + (double)(s->rows + s->cols) * (double)kcl_type_size(type),
                    .refusal = refusal(ctx, f, s, type)};
  return KCL_OK;
}

int kcl_format_rank(kcl *ctx, const kcl_stats *s, kcl_type type, kcl_rank list[KCL_MOST_FORMATS],
                    int *count) {
  int n = 0;
  for (int i = 0; i < kcl_list_size(KCL_FORMATS) && n < KCL_MOST_FORMATS; i++) {
    kcl_rank r;
    int rc = kcl_format_find(ctx, kcl_list(KCL_FORMATS, i).name, type, &r.format), at = n;
    if (rc) return rc;
    if (refusal(ctx, r.format, s, type)) continue;
    r.moved = moved(ctx, r.format, s, type);
    for (; at && r.moved < list[at - 1].moved; at--) list[at] = list[at - 1];
    list[at] = r, n++;
  }
  *count = n;
  return n ? KCL_OK
           : kcl_fail(ctx, KCL_MEMORY, "no storage format fits the device: %s",
                      too_large(ctx, s, type, (kcl_size){1e300, 1e300}));
}

int kcl_format_choose(kcl *ctx, const kcl_stats *s, kcl_type type, const kcl_format **out,
                      char *why, size_t room) {
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc = kcl_format_rank(ctx, s, type, list, &count);
  if (rc) return rc;
  int n = snprintf(why, room, "costs what streaming %.3g MB a product does", list[0].moved * 1e-6);
  if (count > 1 && n >= 0 && (size_t)n < room)
    snprintf(why + n, room - (size_t)n, ", next %s with %.3g MB", list[1].format->name,
             list[1].moved * 1e-6);
  *out = list[0].format;
  return KCL_OK;
}
