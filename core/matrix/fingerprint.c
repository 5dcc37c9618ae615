/* See fingerprint.h. */
#include "core/matrix/fingerprint.h"
#include "core/base/sum64.h"

/* A number of 8 or 16 bytes, or of 4. */
static inline uint64_t add_value(uint64_t h, const char *v, size_t size) {
  uint64_t word = 0, second;
  if (size < sizeof word)
    memcpy(&word, v, 4);
  else
    memcpy(&word, v, sizeof word);
  h = kcl_mix_bits(h + word + 1);
  if (size <= sizeof word) return h;
  memcpy(&second, v + sizeof word, sizeof second);
  return kcl_mix_bits(h + second);
}

typedef struct placing {
  const kcl_placed_rows *rows;
  _Atomic uint64_t structure, values;
} placing;

static void add_placed_rows(void *arg, int64_t from, int64_t to) {
  placing *p = arg;
  const kcl_placed_rows *q = p->rows;
  const kcl_csr *A = q->A;
  const size_t size = kcl_type_size(A->type);
  uint64_t structure = 0, values = 0;
  for (int64_t i = from; i < to; i++) {
    const uint64_t row = (uint64_t)(q->first_row + (q->row ? q->row[i] : i)) << 32;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t j = q->column ? q->column[A->col[k]] : q->first_column + A->col[k];
      const uint64_t place = kcl_mix_bits(row + (uint64_t)j + 1);
      structure += place;
      values += add_value(place, (const char *)A->val + (size_t)k * size, size);
    }
  }
  atomic_fetch_add(&p->structure, structure);
  atomic_fetch_add(&p->values, values);
}

void kcl_fingerprint_add(kcl_fingerprint *f, const kcl_placed_rows *rows) {
  placing p = {.rows = rows};
  kcl_for(rows->A->rows, KCL_FEW_ROWS, add_placed_rows, &p);
  f->structure += p.structure, f->values += p.values;
}

typedef struct placed_vector {
  const char *v;
  size_t size;
  int64_t first;
  _Atomic uint64_t sum;
} placed_vector;

static void add_placed_elements(void *arg, int64_t from, int64_t to) {
  placed_vector *p = arg;
  uint64_t sum = 0;
  for (int64_t i = from; i < to; i++)
    sum +=
        add_value(kcl_mix_bits((uint64_t)(p->first + i) + 1), p->v + (size_t)i * p->size, p->size);
  atomic_fetch_add(&p->sum, sum);
}

uint64_t kcl_fingerprint_vector(kcl_type type, const void *v, int64_t n, int64_t first) {
  placed_vector p = {.v = v, .size = kcl_type_size(type), .first = first};
  kcl_for(n, KCL_FEW, add_placed_elements, &p);
  return p.sum;
}
