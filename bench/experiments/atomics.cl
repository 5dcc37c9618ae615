/* Every work-item adds 1 + id mod 3 once: to cell[0] (spread 0), or to cell[id] (spread 1).
 *
 *   native    the device's addition: atomic_add of int, a PTX instruction for float (NVIDIA only)
 *   exchange  a loop of compare-exchange, as OpenCL 1.x needs it for floating point
 */
kernel void int_native(global int *cell, int spread)
{
  const int id = get_global_id(0);
  atomic_add(&cell[id * spread], 1 + id % 3);
}

kernel void int_exchange(global int *cell, int spread)
{
  const int id = get_global_id(0);
  volatile global int *p = &cell[id * spread];
  int seen = 0, old;
  while ((old = atomic_cmpxchg(p, seen, seen + 1 + id % 3)) != seen) seen = old;
}

kernel void float_exchange(global int *cell, int spread)
{
  const int id = get_global_id(0);
  volatile global int *p = &cell[id * spread];
  int seen = 0, old;
  while ((old = atomic_cmpxchg(p, seen, as_int(as_float(seen) + (float)(1 + id % 3)))) != seen)
    seen = old;
}

#ifdef NVIDIA_PTX
kernel void float_native(global int *cell, int spread)
{
  const int id = get_global_id(0);
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&cell[id * spread]), "f"((float)(1 + id % 3)) : "memory");
}
#endif
