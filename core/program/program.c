/* A program as it is declared: its vectors and slots with their names, and what a method is given. */
#include "core/program/record.h"
#include <stdarg.h>
#include <stdio.h>

/* ---------------------------------------------------------------- storage */

void *kcl_program_grow(kcl_program *k, void **list, int count, size_t size) {
  if ((count & (count - 1)) == 0) { /* full at every power of two */
    void *more = realloc(*list, size * (size_t)(count ? 2 * count : 1));
    if (!more) {
      k->status = kcl_fail(k->ctx, KCL_MEMORY, "out of memory while recording a method");
      return NULL;
    }
    *list = more;
  }
  return memset((char *)*list + size * (size_t)count, 0, size);
}

int kcl_program_create(kcl_context *ctx, kcl_type type, int64_t rows, int64_t cols,
                       kcl_program **out) {
  KCL_CALL(kcl_alloc(ctx, 1, sizeof **out, "a program", (void **)out));
  **out = (kcl_program){.ctx = ctx, .type = type, .n = rows, .nrhs = 1, .phase = KCL_START};
  (*out)->target = kcl_scalar(*out, "target");
  (*out)->rr = kcl_scalar(*out, "unset");
  (*out)->b = kcl_vector(*out, "b");
  (*out)->x = kcl_vector_of(*out, cols, "x");
  if (!(*out)->status) (*out)->vector[(*out)->x].of_columns = true;
  return (*out)->status;
}

void kcl_program_free(kcl_program **k) {
  if (!*k) return;
  for (int p = 0; p < KCL_PHASES; p++) {
    for (int s = 0; s < (*k)->stages[p]; s++)
      free((*k)->stage[p][s].scalar), free((*k)->stage[p][s].vector);
    free((*k)->stage[p]);
  }
  for (int v = 0; v < (*k)->vectors; v++)
    if (!(*k)->vector[v].borrowed) free((*k)->vector[v].values);
  free((*k)->vector);
  free((*k)->slot);
  for (int i = 0; i < 2; i++) free((*k)->names[i].last);
  free((*k)->op);
  free(*k);
  *k = NULL;
}

kcl_vec kcl_x(kcl_program *k) { return k->x; }
kcl_vec kcl_b(kcl_program *k) { return k->b; }
kcl_stored *kcl_A(kcl_program *k) { return k->A; }
kcl_stored *kcl_AH(kcl_program *k) { return k->AH; }
int kcl_restart(kcl_program *k) { return k->restart; }
bool kcl_has_resume(kcl_program *k) { return k->resumes; }

/* ---------------------------------------------------------------- names, vectors, slots */

static kcl_symbol *symbol_at(const kcl_program *k, bool slots, int i) {
  return slots ? &k->slot[i] : &k->vector[i].name;
}

/* FNV-1a (Fowler, Noll & Vo 1991) */
static int *last_with_hash(const kcl_name_table *t, const char *name) {
  unsigned h = 2166136261u;
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return &t->last[h % (unsigned)t->hashes];
}

static bool name_taken(const kcl_program *k, bool slots, const char *name) {
  const kcl_name_table *t = &k->names[slots];
  int i = t->hashes ? *last_with_hash(t, name) : 0;
  while (i && strcmp(name, symbol_at(k, slots, i - 1)->s)) i = symbol_at(k, slots, i - 1)->next;
  return i;
}

static void link_name(kcl_program *k, bool slots, int i) {
  kcl_symbol *name = symbol_at(k, slots, i);
  int *last = last_with_hash(&k->names[slots], name->s);
  name->next = *last, *last = i + 1;
}

/* Vector (or slot) i is called that. The table has more hashes than names. */
static bool register_name(kcl_program *k, bool slots, int i, kcl_symbol name) {
  enum { LEAST = 64 };
  kcl_name_table *t = &k->names[slots];
  *symbol_at(k, slots, i) = name;
  if (i >= t->hashes) {
    const int hashes = i ? 4 * i : LEAST;
    int *last = calloc((size_t)hashes, sizeof *last);
    if (!last) return k->status = kcl_fail(k->ctx, KCL_MEMORY, "out of memory: names"), false;
    free(t->last), *t = (kcl_name_table){last, hashes};
    for (int j = 0; j < i; j++) link_name(k, slots, j);
  }
  link_name(k, slots, i);
  return true;
}

/* The name, printed by format, with a number appended if a vector (or slot) has that name already. */
static kcl_symbol new_name(const kcl_program *k, bool slots, const char *format, va_list args) {
  kcl_symbol base = {0}, name;
  vsnprintf(base.s, sizeof base.s - 6, format, args);
  name = base;
  for (int number = 2; name_taken(k, slots, name.s); number++)
    snprintf(name.s, sizeof name.s, "%.17s_%d", base.s, number % 10000);
  return name;
}

static kcl_vec new_vector(kcl_program *k, int64_t n, const char *format, va_list args) {
  kcl_symbol name = new_name(k, false, format, args);
  kcl_vector_info *v = kcl_program_grow(k, (void **)&k->vector, k->vectors, sizeof *v);
  if (!v) return 0;
  if (!register_name(k, false, k->vectors, name)) return 0;
  v->n = n;
  v->type = k->type;
  return k->vectors++;
}

static kcl_vec new_vector_like(kcl_program *k, kcl_vec like, const char *format, va_list args) {
  kcl_vec v = new_vector(k, k->vector[like].n, format, args);
  if (!k->status) k->vector[v].of_columns = k->vector[like].of_columns;
  return v;
}

kcl_vec kcl_vector(kcl_program *k, const char *name, ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, k->n, name, args);
  va_end(args);
  return v;
}

kcl_vec kcl_vector_of(kcl_program *k, int64_t n, const char *name, ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, n, name, args);
  va_end(args);
  return v;
}

kcl_vec kcl_vector_like(kcl_program *k, kcl_vec like, const char *name, ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector_like(k, like, name, args);
  va_end(args);
  return v;
}

kcl_slot kcl_scalar(kcl_program *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  kcl_symbol name = new_name(k, true, format, args);
  va_end(args);
  kcl_symbol *s = kcl_program_grow(k, (void **)&k->slot, k->slots, sizeof *s);
  if (!s) return 0;
  return register_name(k, true, k->slots, name) ? k->slots++ : 0;
}

/* Calls make for each word of `names`. */
static void for_words(kcl_program *k, const char *names, int *const *out,
                      int (*make)(kcl_program *, const char *, ...)) {
  for (int length; *names; names += length + (names[length] == ' ')) {
    length = (int)strcspn(names, " ");
    **out++ = make(k, "%.*s", length, names);
  }
}
void kcl_new_vectors(kcl_program *k, const char *names, kcl_vec *const *out) {
  for_words(k, names, out, kcl_vector);
}
void kcl_new_scalars(kcl_program *k, const char *names, kcl_slot *const *out) {
  for_words(k, names, out, kcl_scalar);
}

bool kcl_vector_shared(const kcl_program *k, kcl_vec v) {
  return k->vector[v].values || k->vector[v].device;
}

kcl_type kcl_vector_stored(const kcl_program *k, kcl_vec v) {
  return k->vector[v].narrow ? KCL_S : k->type;
}

int kcl_width_of(int nrhs) {
  int width = 1;
  while (width < nrhs) width *= 2;
  return width;
}

int kcl_rhs_width(const kcl_program *k) { return kcl_width_of(k->nrhs); }

kcl_vec kcl_constant(kcl_program *k, int64_t n, kcl_type type, const void *values, const char *name,
                     ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, n, name, args);
  va_end(args);
  if (k->status) return v;
  k->vector[v].type = type;
  k->status = kcl_alloc(k->ctx, n, kcl_type_size(type), "a vector", &k->vector[v].values);
  if (!k->status) kcl_copy_bytes(k->vector[v].values, values, n * (int64_t)kcl_type_size(type));
  return v;
}

kcl_vec kcl_constant_in_place(kcl_program *k, int64_t n, kcl_type type, void *values, bool narrow,
                              const char *name) {
  kcl_vec v = kcl_vector_of(k, n, "%s", name);
  if (k->status) return v;
  k->vector[v].type = type;
  k->vector[v].values = values;
  k->vector[v].borrowed = true;
  k->vector[v].narrow = narrow;
  return v;
}

kcl_vec kcl_constant_on_device(kcl_program *k, int64_t n, void *buffer, bool narrow,
                               const char *name) {
  kcl_vec v = kcl_vector_of(k, n, "%s", name);
  if (!k->status) k->vector[v].device = buffer, k->vector[v].narrow = narrow;
  return v;
}

static kcl_vec find_or_add_work_vector(kcl_program *k, int64_t n, bool narrow, const char *name) {
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (k->vector[v].n == n && k->vector[v].narrow == narrow && !strcmp(k->vector[v].work.s, name))
      return v;
  kcl_vec v = kcl_vector_of(k, n, "%s", name);
  if (k->status) return v;
  snprintf(k->vector[v].work.s, sizeof k->vector[v].work.s, "%s", name);
  k->vector[v].narrow = narrow;
  return v;
}

kcl_vec kcl_work(kcl_program *k, int64_t n, const char *name) {
  return find_or_add_work_vector(k, n, false, name);
}
kcl_vec kcl_narrow_work(kcl_program *k, int64_t n, const char *name) {
  return find_or_add_work_vector(k, n, true, name);
}
kcl_vec kcl_work_like(kcl_program *k, kcl_vec like, int64_t n, const char *name) {
  return find_or_add_work_vector(k, n, k->vector[like].narrow, name);
}

kcl_vec kcl_preconditioned(kcl_program *k, kcl_vec r, const char *name, ...) {
  va_list args;
  if (!k->precondition) return r;
  va_start(args, name);
  kcl_vec v = new_vector_like(k, r, name, args);
  va_end(args);
  return v;
}
