/* One stage in the persistent kernel. A skeleton: core/opencl/persistent/persistent_stage_source.c fills the holes.
 *
 *   overlapped   the product, where its x was published before the reduction in flight was sent: its rows are summed
 *                into registers meanwhile
 *   receive      the reduction in flight: totals of the dots of the stage before, into their slots
 *   urgent       operations on slots that the stage's vectors depend on, by the first work-item; is the loop still active?
 *   flip         published vectors that the stage writes: the other copy becomes current
 *   gather       halo of the product's x
 *   send         the stage's own reduction leaves, or a grid barrier after a product without dots
 *   waiting      operations on slots that can wait for it: tests, history, quotients for the next pass
 */
@comment@
@overlapped@
@receive@
@urgent@
if (!active) hi = lo, end = begin;
{
  version++;
  @flip@
  @gather@
  @factors@
  @sums@
  @loop@
  @published@
  @send@
  @waiting@
  @barrier@
}
