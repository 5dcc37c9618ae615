/* The version of the library. The four scalar types: sizes, names, access to an element, conversion. */
#include "core/base/base.h"

const char *kcl_version(void) { return KCL_VERSION; }

static bool valid(kcl_type t) { return (int)t >= KCL_S && t <= KCL_Z; }

size_t kcl_type_size(kcl_type t) { return valid(t) ? (size_t[]){4, 8, 8, 16}[t] : 0; }
bool kcl_type_complex(kcl_type t) { return t == KCL_C || t == KCL_Z; }
double kcl_default_tol(kcl_type t) { return t == KCL_S || t == KCL_C ? 1e-5 : 1e-8; }
char kcl_type_letter(kcl_type t) { return valid(t) ? "sdcz"[t] : '?'; }

int kcl_type_of_letter(const char *name, int letter, kcl_type *out) {
  for (int t = KCL_S; t <= KCL_Z; t++)
    if (kcl_type_letter((kcl_type)t) == letter) return *out = (kcl_type)t, KCL_OK;
  return kcl_fail(NULL, KCL_USAGE, "%s is %d: the letter 's', 'd', 'c' or 'z'", name, letter);
}

const char *kcl_symmetry_name(kcl_symmetry s) {
  static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  return (unsigned)s <= KCL_HERMITIAN ? names[s] : "unknown";
}
const char *kcl_field_name(kcl_field f) {
  static const char *const names[] = {"real", "integer", "complex", "pattern"};
  return (unsigned)f <= KCL_PATTERN ? names[f] : "unknown";
}

typedef struct scaled_copy {
  kcl_type to, from;
  void *y;
  const void *x;
  double scale;
} scaled_copy;

static void copy_scaled(void *arg, int64_t first, int64_t end) {
  const scaled_copy *c = arg;
  for (int64_t i = first; i < end; i++) {
    double z[2];
    kcl_element(c->from, c->x, i, z);
    z[0] *= c->scale, z[1] *= c->scale;
    kcl_set_element(c->to, c->y, i, z);
  }
}

typedef struct moving {
  char *to;
  const char *from;
} moving;

static void move_bytes(void *arg, int64_t first, int64_t end) {
  const moving *m = arg;
  memcpy(m->to + first, m->from + first, (size_t)(end - first));
}

void kcl_copy_bytes(void *to, const void *from, int64_t bytes) {
  kcl_for(bytes, 1 << 18, move_bytes, &(moving){to, from});
}

void kcl_copy(kcl_type to, void *y, kcl_type from, const void *x, int64_t n, double scale) {
  if (to == from && scale == 1)
    kcl_copy_bytes(y, x, n * (int64_t)kcl_type_size(to));
  else
    kcl_for(n, KCL_FEW, copy_scaled, &(scaled_copy){to, from, y, x, scale});
}

int kcl_type_check(kcl_context *ctx, const char *what, kcl_type type) {
  if (valid(type)) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "%s %d is not one of KCL_S, KCL_D, KCL_C, KCL_Z", what,
                  (int)type);
}

int kcl_symmetry_check(kcl_context *ctx, kcl_symmetry s) {
  if ((unsigned)s <= KCL_HERMITIAN) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "symmetry %d is none of KCL_GENERAL, ..., KCL_HERMITIAN", (int)s);
}

typedef struct norm_data {
  kcl_type type;
  const void *v;
} norm_data;

static double largest_part(const void *arg, int64_t from, int64_t to) {
  const norm_data *n = arg;
  double largest = 0;
  for (int64_t i = from; i < to; i++) {
    double a = kcl_abs(n->type, n->v, i);
    if (a > largest || isnan(a)) largest = a;
  }
  return largest;
}

double kcl_norm_inf(kcl_type t, const void *v, int64_t n) {
  return kcl_largest(n, KCL_FEW, largest_part, &(norm_data){.type = t, .v = v});
}

bool kcl_find_entry(const kcl_csr *A, int64_t i, int64_t j, double z[2]) {
  const int64_t end = A->row_ptr[i + 1], k = kcl_first_from(A->col, A->row_ptr[i], end, j);
  z[0] = z[1] = 0;
  if (k == end || A->col[k] != j) return false;
  kcl_element(A->type, A->val, k, z);
  return true;
}
