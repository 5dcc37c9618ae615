/* The cost of each storage format for a matrix, refusals, and the order by bytes of those that "auto" may take. */
#include "core/base/context.h"
#include "core/matrix/stored.h"
#include <stdio.h>

static kcl_size stored(const kcl_format *f, const kcl_stats *s, kcl_type type) {
  kcl_size z = f->size(s, type);
  if (f->image) z.total += (double)s->cols * (double)kcl_type_size(type);
  return z;
}

static kcl_size csr(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 8.0 * ((double)s->rows + 1),
                    .largest = val};
}

/* A refusal beyond the device's memory, or, unless that is allowed, beyond 1 MB and ten times the bytes of CSR; else
 * NULL. */
static const char *too_large(const kcl_context *ctx, const kcl_stats *s, kcl_type type,
                             kcl_size size) {
  static const double always_allowed = 1e6;
  double usual = csr(s, type).total;
  double vectors = 8.0 * (double)s->rows * (double)kcl_type_size(type);
  const kcl_device *d = &ctx->device;
  if (!ctx->padding_allowed && size.total > always_allowed && size.total > 10 * usual)
    return kcl_refusal_text("pads to %.3g GB, %.0f times CSR", size.total * 1e-9,
                            size.total / usual);
  if (d->memory && size.total + vectors > (double)d->memory)
    return kcl_refusal_text("needs %.3g GB, the device has %.3g GB", (size.total + vectors) * 1e-9,
                            (double)d->memory * 1e-9);
  if (d->max_alloc && size.largest > (double)d->max_alloc)
    return kcl_refusal_text("needs a buffer of %.3g GB, the device allows %.3g GB",
                            size.largest * 1e-9, (double)d->max_alloc * 1e-9);
  return NULL;
}

/* NULL, or why x cannot be read through an image. */
static const char *no_image(const kcl_context *ctx, int64_t n, kcl_type type) {
  const kcl_images *i = &ctx->images;
  double most = (double)i->texel[type] * (double)i->height * (1 << KCL_IMAGE_BITS);
  if (ctx->layout == KCL_LAYOUT_NATIVE)
    return "it reads x from an image, and the native executor has none";
  if (!i->texel[type])
    return kcl_refusal_text("it reads x from an image, and %.60s has none of 32-bit words",
                            ctx->device.name);
  if (i->width < 1 << KCL_IMAGE_BITS || (double)n > most)
    return kcl_refusal_text("it reads x from an image, which has at most %zu rows of %zu texels",
                            i->height, i->width);
  return NULL;
}

static const char *refusal(const kcl_context *ctx, const kcl_format *f, const kcl_stats *s,
                           kcl_type type) {
  const char *why = f->image ? no_image(ctx, s->cols, type) : NULL;
  if (!why && f->refuses) why = f->refuses(s, type);
  return why ? why : too_large(ctx, s, type, stored(f, s, type));
}

void kcl_allow_padding(kcl_context *ctx, bool allowed) {
  if (ctx) ctx->padding_allowed = allowed;
}

static const char *cpu_kernel(const kcl_format *f) {
  return f->cpu_kernel ? f->cpu_kernel : f->kernel;
}

bool kcl_format_alike(const kcl_context *ctx, const kcl_stats *s, kcl_type type,
                      const kcl_format *a, const kcl_format *b) {
  bool same = ctx->layout == KCL_LAYOUT_NATIVE
                  ? a->rows == b->rows
                  : ctx->layout == KCL_LAYOUT_CPU && !strcmp(cpu_kernel(a), cpu_kernel(b));
  return a == b || (same && a->size(s, type).total == b->size(s, type).total);
}

/* The first format of the list that is the same as f here, or NULL. */
static const char *rank_same_as(const kcl_context *ctx, const kcl_format *f, const kcl_stats *s,
                                kcl_type type) {
  for (int i = 0; i < kcl_format_count && kcl_format_at(i, type) != f; i++)
    if (kcl_format_alike(ctx, s, type, kcl_format_at(i, type), f))
      return kcl_format_at(i, type)->name;
  return NULL;
}

/* Bytes of x and y in a product. */
static double vectors(const kcl_stats *s, kcl_type type) {
  return (double)(s->rows + s->cols) * (double)kcl_type_size(type);
}

/* Bytes that take as long to stream as the product takes. */
static double moved(const kcl_context *ctx, const kcl_format *f, const kcl_stats *s,
                    kcl_type type) {
  double slow = f->slowdown ? f->slowdown(s, &ctx->device) : 1;
  return stored(f, s, type).total * slow + vectors(s, type);
}

int kcl_format_cost(kcl_context *ctx, const kcl_stats *s, kcl_type type, const char *format,
                    kcl_cost *out) {
  int rc;
  if ((rc = kcl_need(ctx, "ctx", ctx)) || (rc = kcl_need(ctx, "out", out))) return rc;
  *out = (kcl_cost){0};
  if ((rc = kcl_need(ctx, "stats", s)) || (rc = kcl_need(ctx, "format", format))) return rc;
  if ((rc = kcl_type_check(ctx, "type", type))) return rc;
  const kcl_format *f;
  if ((rc = kcl_format_find(ctx, format, type, &f))) return rc;
  kcl_size size = stored(f, s, type);
  *out = (kcl_cost){.bytes_stored = size.total,
                    .bytes_product = size.total + vectors(s, type),
                    .refusal = refusal(ctx, f, s, type),
                    .same_as = rank_same_as(ctx, f, s, type)};
  return KCL_OK;
}

int kcl_format_rank(kcl_context *ctx, const kcl_stats *s, kcl_type type,
                    kcl_rank list[KCL_MOST_FORMATS], int *count) {
  int n = 0;
  for (int i = 0; i < kcl_format_auto_count && n < KCL_MOST_FORMATS; i++) {
    kcl_rank r = {.format = kcl_format_at(i, type)};
    int at = n;
    if (refusal(ctx, r.format, s, type)) continue;
    r.moved = moved(ctx, r.format, s, type);
    for (; at && r.moved < list[at - 1].moved; at--) list[at] = list[at - 1];
    list[at] = r, n++;
  }
  *count = n;
  return n ? KCL_OK
           : kcl_fail(ctx, KCL_REFUSED, "no storage format fits the device: CSR %s",
                      too_large(ctx, s, type, csr(s, type)));
}

int kcl_format_named(kcl_context *ctx, const kcl_stats *s, kcl_type type, const char *name,
                     const kcl_format **out) {
  kcl_cost cost;
  int rc = kcl_format_find(ctx, name, type, out);
  if (!rc) rc = kcl_format_cost(ctx, s, type, name, &cost);
  if (!rc && cost.refusal)
    rc = kcl_fail(ctx, KCL_REFUSED, "format %s refused: %s", name, cost.refusal);
  return rc;
}
