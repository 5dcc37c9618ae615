/* Number i of column j is element offset + i inc + j ld. Two columns of one vector meet where di inc = dj ld, the least such pair
 * being di = ld / g, dj = inc / g, g = gcd(inc, ld). Two vectors in one array may be interleaved: all elements of either are at
 * one distance from each other modulo the gcd of their steps. */
#include "solver/vectors.h"

int kcl_read_sized(kcl_context *ctx, const char *name, const void *given, size_t least, size_t size,
                   void *out) {
  const char *bytes = given;
  size_t have;
  memset(out, 0, size);
  memcpy(&have, given, sizeof have);
  if (have < least)
    return kcl_fail(ctx, KCL_USAGE, "%s.size is %zu: that of the struct is needed, %zu here", name,
                    have, size);
  for (size_t i = size; i < have; i++)
    if (bytes[i])
      return kcl_fail(ctx, KCL_USAGE, "%s is of a newer version: byte %zu is set", name, i);
  memcpy(out, given, have < size ? have : size);
  return KCL_OK;
}

/* ---------------------------------------------------------------- fields */

typedef struct field {
  const char *name;
  int64_t value;
} field;

static int check_signs(kcl_context *ctx, const char *name, const kcl_vectors *v) {
  const field f[] = {
      {"offset", v->offset}, {"rows", v->rows}, {"cols", v->cols}, {"ld", v->ld}, {"inc", v->inc}};
  for (size_t i = 0; i < sizeof f / sizeof *f; i++)
    if (f[i].value < 0)
      return kcl_fail(ctx, KCL_USAGE, "%s.%s is %lld: 0 or more", name, f[i].name,
                      (long long)f[i].value);
  return KCL_OK;
}

static int check_ranks_fields(kcl_context *ctx, const char *name, const kcl_vectors *v) {
  const field f[] = {{"offset", v->offset}, {"rows", v->rows}, {"ld", v->ld},
                     {"inc", v->inc},       {"type", v->type}, {"place", v->place}};
  for (size_t i = 0; i < sizeof f / sizeof *f; i++)
    if (f[i].value)
      return kcl_fail(ctx, KCL_USAGE, "%s.%s is %lld: not on several ranks", name, f[i].name,
                      (long long)f[i].value);
  return KCL_OK;
}

static int check_kind(kcl_context *ctx, const kcl_vectors *v, const kcl_vectors_need *need) {
  if (!v->data) return kcl_fail(ctx, KCL_USAGE, "%s.data is NULL", need->name);
  if (v->type && v->type != kcl_type_letter(need->type))
    return kcl_fail(ctx, KCL_USAGE, "%s.type is %d ('%c'): '%c' or 0 is needed", need->name,
                    (int)v->type, v->type > ' ' && v->type < 127 ? (char)v->type : '?',
                    kcl_type_letter(need->type));
  if (v->place != KCL_HOST && v->place != KCL_OPENCL)
    return kcl_fail(ctx, KCL_USAGE, "%s.place is %d: KCL_HOST or KCL_OPENCL", need->name,
                    (int)v->place);
  if (v->place == KCL_OPENCL && !ctx->opencl)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s.place is KCL_OPENCL, and the native executor has no buffers", need->name);
  if (v->rows && v->rows != need->rows)
    return kcl_fail(ctx, KCL_USAGE, "%s.rows is %lld: the matrix needs %lld", need->name,
                    (long long)v->rows, (long long)need->rows);
  return KCL_OK;
}

/* ---------------------------------------------------------------- memory */

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    const int64_t r = a % b;
    a = b, b = r;
  }
  return a;
}

/* Bytes from the beginning of data to the end of the last number; negative: more than memory can hold. */
static int64_t bytes_to_end(const kcl_vectors *v, int64_t size) {
  int64_t down, along, end;
  if (__builtin_mul_overflow(v->rows - 1, v->inc, &down) ||
      __builtin_mul_overflow(v->cols - 1, v->ld, &along) ||
      __builtin_add_overflow(down, along, &end) ||
      __builtin_add_overflow(end, v->offset + 1, &end) || __builtin_mul_overflow(end, size, &end))
    return -1;
  return end;
}

static int check_spacing(kcl_context *ctx, const char *name, const kcl_vectors *v, int64_t size) {
  const int64_t g = common_divisor(v->inc, v->ld);
  if (v->cols > PTRDIFF_MAX / (int64_t)sizeof(kcl_report) || v->offset == INT64_MAX ||
      bytes_to_end(v, size) < 0)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s.cols is %lld, ld %lld, inc %lld and offset %lld: more than memory can hold",
                    name, (long long)v->cols, (long long)v->ld, (long long)v->inc,
                    (long long)v->offset);
  if (v->ld / g < v->rows && v->inc / g < v->cols)
    return kcl_fail(ctx, KCL_USAGE, "%s.ld is %lld and inc %lld: columns of %lld numbers overlap",
                    name, (long long)v->ld, (long long)v->inc, (long long)v->rows);
  return KCL_OK;
}

static int check_buffer_of(kcl_context *ctx, const kcl_vectors *v, const kcl_vectors_need *need) {
  const size_t bytes = (size_t)bytes_to_end(v, (int64_t)kcl_type_size(need->type));
  kcl_buffer_place p;
  kcl_describe_buffer(ctx, v->data, &p);
  if (!p.is_buffer) return kcl_fail(ctx, KCL_USAGE, "%s.data is not an OpenCL buffer", need->name);
  if (!p.of_context)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s.data is a buffer of another OpenCL context: use that of kcl_context_opencl",
                    need->name);
  if (need->writes && !p.writable)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s.data is a buffer that kernels only read (CL_MEM_READ_ONLY): it is to be "
                    "written",
                    need->name);
  if (need->reads && !p.readable)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s.data is a buffer that kernels only write (CL_MEM_WRITE_ONLY): it is to be "
                    "read",
                    need->name);
  if (p.bytes >= bytes) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "%s.data is a buffer of %zu bytes: %lld by %lld of type %c need %zu", need->name,
                  p.bytes, (long long)v->rows, (long long)v->cols, kcl_type_letter(need->type),
                  bytes);
}

/* ---------------------------------------------------------------- both */

int kcl_vectors_read(kcl_context *ctx, const kcl_vectors *given, const kcl_vectors_need *need,
                     kcl_vectors *out) {
  *out = (kcl_vectors){.cols = 1};
  if (need->absent && !given) return KCL_OK;
  KCL_CALL(kcl_need(ctx, need->name, given));
  KCL_CALL(kcl_read_sized(ctx, need->name, given, sizeof *out, sizeof *out, out));
  KCL_CALL(check_signs(ctx, need->name, out));
  if (!out->cols) out->cols = 1;
  if (need->shared) KCL_CALL(check_ranks_fields(ctx, need->name, out));
  if (need->absent) return KCL_OK;
  KCL_CALL(check_kind(ctx, out, need));
  out->rows = need->rows, out->type = (unsigned char)kcl_type_letter(need->type);
  if (!out->inc) out->inc = 1;
  if (!out->ld && __builtin_mul_overflow(out->rows, out->inc, &out->ld)) out->ld = INT64_MAX;
  int rc = check_spacing(ctx, need->name, out, (int64_t)kcl_type_size(need->type));
  return rc || out->place == KCL_HOST ? rc : check_buffer_of(ctx, out, need);
}

/* Memory of a vector: bytes [from, to) after base; `step` between any two numbers, or a multiple. */
typedef struct extent {
  uintptr_t base, from, to;
  int64_t step;
} extent;

static extent extent_of(kcl_context *ctx, const kcl_vectors *v, int64_t size) {
  kcl_buffer_place p = {.offset = (uintptr_t)v->data};
  if (v->place == KCL_OPENCL) kcl_describe_buffer(ctx, v->data, &p);
  return (extent){.base = (uintptr_t)p.root,
                  .from = p.offset + (uintptr_t)(v->offset * size),
                  .to = p.offset + (uintptr_t)bytes_to_end(v, size),
                  .step = size * common_divisor(v->rows > 1 ? v->inc : 0, v->cols > 1 ? v->ld : 0)};
}

static bool vectors_meet(kcl_context *ctx, const kcl_vectors *x, const kcl_vectors *y,
                         int64_t size) {
  const extent a = extent_of(ctx, x, size), b = extent_of(ctx, y, size);
  const int64_t g = common_divisor(a.step, b.step);
  if (a.base != b.base || a.from >= b.to || b.from >= a.to) return false;
  if (!g) return true;
  const int64_t apart =
      (int64_t)((a.from > b.from ? a.from - b.from : b.from - a.from) % (uintptr_t)g);
  return apart < size || apart > g - size;
}

int kcl_vectors_check_pair(kcl_context *ctx, const kcl_vectors *x, const kcl_vectors *y,
                           const char *const names[2]) {
  const size_t size = x->type == 's' ? 4 : x->type == 'z' ? 16 : 8;
  if (x->cols != y->cols)
    return kcl_fail(ctx, KCL_USAGE, "%s.cols is %lld and %s.cols %lld: they are to be equal",
                    names[0], (long long)x->cols, names[1], (long long)y->cols);
  if (x->place != y->place)
    return kcl_fail(ctx, KCL_USAGE, "%s.place is %d and %s.place %d: they are to be equal",
                    names[0], (int)x->place, names[1], (int)y->place);
  if (!vectors_meet(ctx, x, y, (int64_t)size)) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "%s and %s overlap: each needs memory of its own", names[0],
                  names[1]);
}

/* ---------------------------------------------------------------- columns */

char *kcl_vectors_at(const kcl_vectors *v, int64_t j, size_t size) {
  return (char *)v->data + (size_t)(v->offset + j * v->ld) * size;
}

kcl_column kcl_vectors_column(const kcl_vectors *v, int64_t j, kcl_type type) {
  return (kcl_column){v->data, v->offset + j * v->ld, v->inc, type};
}

typedef struct spaced_copy {
  char *to;
  const char *from;
  size_t to_step, from_step, size; /* bytes */
} spaced_copy;

static void copy_spaced(void *arg, int64_t first, int64_t end) {
  const spaced_copy *c = arg;
  for (int64_t i = first; i < end; i++)
    memcpy(c->to + (size_t)i * c->to_step, c->from + (size_t)i * c->from_step, c->size);
}

void kcl_vectors_gather(const kcl_vectors *v, int64_t j, size_t size, void *out) {
  spaced_copy c = {out, kcl_vectors_at(v, j, size), size, (size_t)v->inc * size, size};
  kcl_for(v->rows, KCL_FEW, copy_spaced, &c);
}

void kcl_vectors_scatter(const kcl_vectors *v, int64_t j, size_t size, const void *in) {
  spaced_copy c = {kcl_vectors_at(v, j, size), in, (size_t)v->inc * size, size, size};
  kcl_for(v->rows, KCL_FEW, copy_spaced, &c);
}
