/* A tar archive: blocks of 512 bytes, a header before each member, zero blocks at the end.
 *
 *   header   name 0..99   size 124..135 octal   sum 148..155 octal   type 156 ('0' or 0: plain file)
 *
 * The sum is over the header's bytes with its own field as blanks. Members of other types (folders,
 * links, extended headers) are skipped. */
#include "data/collection/tar.h"

enum { TAR_BLOCK = 512 };

static bool octal(const char *p, int n, uint64_t *v) {
  int k = 0;
  for (*v = 0; k < n && *p == ' '; k++) p++;
  int first = k;
  for (; k < n && *p >= '0' && *p <= '7'; k++, p++) *v = *v * 8 + (uint64_t)(*p - '0');
  return k > first && (k == n || *p == ' ' || *p == 0);
}

static bool sum_valid(const char *h) {
  uint64_t sum = 0, stated;
  for (int k = 0; k < TAR_BLOCK; k++) sum += k >= 148 && k < 156 ? ' ' : (unsigned char)h[k];
  return octal(h + 148, 8, &stated) && sum == stated;
}

int kcl_tar_next(const kcl_text *t, size_t *at, kcl_tar_member *m) {
  while (*at < t->size) {
    const char *h = t->data + *at;
    uint64_t size;
    if (t->size - *at < TAR_BLOCK) return -1;
    if (*h == 0) return 0;
    if (!sum_valid(h) || !octal(h + 124, 12, &size) || size > t->size - *at - TAR_BLOCK) return -1;
    *at += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    if (h[156] != '0' && h[156] != 0) continue;
    m->name = h;
    for (int k = 0; k < 100 && h[k]; k++)
      if (h[k] == '/') m->name = h + k + 1;
    m->name_length = (int)strnlen(m->name, (size_t)(h + 100 - m->name));
    m->data = h + TAR_BLOCK, m->size = size;
    return 1;
  }
  return 0;
}
