/* Addresses of buffers, eight at a time, for tables of them. */
kernel void addresses(global ulong *to, const int first, global const uchar *a, global const uchar *b,
                      global const uchar *c, global const uchar *d, global const uchar *e, global const uchar *f,
                      global const uchar *g, global const uchar *h)
{
  if (get_global_id(0) != 0) return;
  to[first] = (ulong)a, to[first + 1] = (ulong)b, to[first + 2] = (ulong)c, to[first + 3] = (ulong)d;
  to[first + 4] = (ulong)e, to[first + 5] = (ulong)f, to[first + 6] = (ulong)g, to[first + 7] = (ulong)h;
}
