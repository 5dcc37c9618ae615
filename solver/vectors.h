/* Vectors of callers (kcl_vectors), checked and completed. */
#ifndef KCL_VECTORS_H
#define KCL_VECTORS_H

#include "core/device/device.h"

/* Copies a struct of a caller's to out, of `size` bytes, whose fields after those given are 0. Its first field is its size. KCL_USAGE:
 * that is less than `least`, or a byte that this library does not know is set. */
int kcl_read_sized(kcl_context *ctx, const char *name, const void *given, size_t least, size_t size,
                   void *out);

/* Requirements on a vector. */
typedef struct kcl_vectors_need {
  const char *name; /* of the argument, for messages */
  kcl_type type;
  int64_t rows;
  bool reads, writes; /* by kernels, of a buffer */
  bool shared;        /* on several ranks, which read data and cols alone; */
  bool absent;        /* and this one has no part: it may be NULL */
} kcl_vectors_need;

/* *out: the vectors given, all fields set. KCL_USAGE: see kcl_vectors in krylocl.h. */
int kcl_vectors_read(kcl_context *ctx, const kcl_vectors *given, const kcl_vectors_need *need,
                     kcl_vectors *out);
/* KCL_USAGE: x and y, both read, differ in columns or place, or overlap; names: of both. */
int kcl_vectors_check_pair(kcl_context *ctx, const kcl_vectors *x, const kcl_vectors *y,
                           const char *const names[2]);

/* Vectors, read: the first number of column j of an array; and column j of a buffer, of this type. */
char *kcl_vectors_at(const kcl_vectors *v, int64_t j, size_t size);
kcl_column kcl_vectors_column(const kcl_vectors *v, int64_t j, kcl_type type);
/* Column j of an array to and from numbers without gaps, [rows] of `size` bytes. */
void kcl_vectors_gather(const kcl_vectors *v, int64_t j, size_t size, void *out);
void kcl_vectors_scatter(const kcl_vectors *v, int64_t j, size_t size, const void *in);

#endif
