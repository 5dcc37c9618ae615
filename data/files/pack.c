/* Output packed as a sequence of gzip members (RFC 1952), so that threads can pack parts in parallel. */
#include "data/files/text.h"
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#elif defined HAVE_ZLIB
#include <zlib.h>
#endif

#ifdef HAVE_LIBDEFLATE
static size_t deflate_bytes(const kcl_bytes *in, kcl_bytes *out) {
  struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
  if (!c) return 0;
  size_t capacity = libdeflate_gzip_compress_bound(c, in->size);
  out->data = malloc(capacity);
  if (out->data) out->size = libdeflate_gzip_compress(c, in->data, in->size, out->data, capacity);
  libdeflate_free_compressor(c);
  return out->size;
}
#elif defined HAVE_ZLIB
static size_t deflate_bytes(const kcl_bytes *in, kcl_bytes *out) {
  z_stream z = {0};
  if (in->size >> 31 || deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY)) return 0;
  size_t capacity = deflateBound(&z, (uLong)in->size) + 32;
  out->data = malloc(capacity);
  z.next_in = (Bytef *)in->data, z.avail_in = (uInt)in->size;
  z.next_out = (Bytef *)out->data, z.avail_out = (uInt)capacity;
  if (out->data && deflate(&z, Z_FINISH) == Z_STREAM_END) out->size = z.total_out;
  deflateEnd(&z);
  return out->size;
}
#else
static size_t deflate_bytes(const kcl_bytes *in, kcl_bytes *out) { return (void)in, out->size; }
#endif

int kcl_output_pack(const kcl_output *o, kcl_bytes *b) {
  kcl_bytes packed = {0};
  if (!o->pack || b->size == 0) return 0;
  bool good = deflate_bytes(b, &packed) > 0;
  free(good ? b->data : packed.data);
  if (good) *b = packed;
  return good ? 0 : 1;
}
