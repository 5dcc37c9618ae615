/* The persistent kernel: all stages of LOOP, `times` times over, and those of REPLACE every so many passes, in one launch.
 * A skeleton: core/opencl/persistent/persistent_source.c fills the holes. docs/persistent.md states the protocol between the groups.
 *
 * A straight line of stages without a branch around a barrier: after a stop groups go on meeting barriers to the end of the
 * pass, but own no elements any more. (The time some compilers take doubles with every branch around barriers.)
 */
@functions@
kernel OF_WG
void persistent(global int *restrict states, const uint launch, global real *restrict history, const idx n,
                const int groups_before, global volatile message *mailbox, uint number, const int times,
                int since_replace, const idx block_rows@matrix_parameters@@vector_parameters@@copies_parameters@, const idx halo_width@halo_parameters@)
{
  local scalar s[SLOTS], scratch[WG * @sums_at_once@];
  scalar total[@totals@];
  local int control[CONTROL];
  load_state(IN, s, control);
  const bool was_active = !control[STOP];
  @reduce@

  /* This group's row block, [lo, hi), and its halo, [begin, end): a range of x, or of the halo list. */
  const uint first_number = number;
  uint version = number + 1;
  const idx lo = min((idx)get_group_id(0) * block_rows, n);
  idx hi = min((idx)(lo + block_rows), n);
#if RENUMBERED
  const idx begin = 0;
  idx end = 0;
  if (!REDUCES_ONLY) list += from[get_group_id(0)], end = from[get_group_id(0) + 1] - from[get_group_id(0)];
#else
  const idx begin = max((idx)(lo - halo_width), (idx)0);
  idx end = REDUCES_ONLY ? begin : min((idx)(hi + halo_width), n);
  global const int *list = 0;
#endif
#if !LOCAL_HALO
  const int first = (int)(begin / block_rows), last = REDUCES_ONLY ? -1 : (int)((end - 1) / block_rows);
  global volatile uint *flags = FLAGS;
#endif
  @row_sums@
  @load_registers@
  @publish@
#if !LOCAL_HALO
  set_flag(flags, version);
#endif

  /* Two grid barriers. Nothing is touched until every group knows that all groups are resident and know it. */
  for (int barriers = 0; barriers < 2 && !control[GROUP_MISSING]; barriers++) {
    SYNC();
    send_sums(mailbox, ++number, 0, total, scratch);
    await_sums(mailbox, number, 0, 1, total, scratch, control);
    SYNC();
  }
  number = first_number + 2; /* in all groups, whether they passed both or not */
  bool active = !control[STOP] && !control[GROUP_MISSING];
  if (!active) hi = lo, end = begin;
  SYNC();
  @send_known@
  for (int pass = 0; pass < times && active; pass++) {
    @loop@
    @replace@
  }
  @receive_last@
  hi = min((idx)(lo + block_rows), n);
  @store_registers@
  SYNC();
  store_state(OUT, s, control);
  if (get_local_id(0) == 0 && control[GROUP_MISSING] == 2) atomic_or((global volatile uint *)OUT + GROUP_LOST, 1u);
  @seed@
}

