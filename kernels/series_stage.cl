/* One kind of stage in a series: a function with the arguments of the stage's kernel. A skeleton: core/opencl/codegen/stage_source.c
 * fills the holes, as in stage.cl. */
@elements@
@format@
INLINE void stage_@id@(const idx n, const int active, local const scalar *s, local scalar *scratch@matrix_parameters@@vector_parameters@)
{
  @factors@
  @loop@
}
