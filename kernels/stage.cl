/* A stage: one pass over memory, one launch. A skeleton: core/opencl/codegen/stage_source.c fills the holes from a recorded stage.
 *
 *   id                 phase and number, such as 1_0
 *   elements           the function elements_ID: what happens to element i of the vectors
 *   format             the file of the matrix's storage format, which calls elements_ID for each row it has summed
 *   *_parameters       of the kernel: sums over ranks, history, the matrix's arrays, vectors
 *   state_parameters   of a kernel that programs share: words of a state, and its slots
 *   load_state         and store_state: control blocks and slots; all at once where programs share the kernel
 *   turns_parameters   how many turns the loops have in this launch; slots_of_turns: numbers of its slots
 *   scratch_arrays     scalars in local memory: those of the slots, and behind them groups for sums, one array, since one that not
 *                      every stage uses makes PoCL 5 and 6 abort where they are told not to optimise
 *   scratch_parameter  those for sums as an argument, where the format needs more of them, as many as the matrix says
 *   reduce             partial sums of the stage before, added up into their slots
 *   scalars            operations on slots, by one work-item per right-hand side
 *   seed               sums known already, left where the first stage of LOOP expects partial sums
 *   factors, sums      coefficients of the vector operations in registers; sums of the dots, zero
 *   loop               over rows or elements
 *   partials           sums of the dots over the work-group, for the stage after
 */
@elements@
@format@
@prepare@
kernel OF_WG
void stage_@id@(global int *restrict states, const uint launch, const idx size, const int groups_before@sums_parameter@@history_parameter@@matrix_parameters@@vector_parameters@@turns_parameters@@state_parameters@@scratch_parameter@)
{
  @slots_of_turns@
  @scratch_arrays@
  local int control[CONTROL * NRHS];
  scalar total[@totals@];
  @load_state@
  const int active = active_rhs(control, @cycle_end@), was_active = active_rhs(control, @cycle_end_before@);
  const idx n = active ? size : 0; /* after a stop no elements are left, and every barrier is met */
  SYNC();
  @reduce@
  @scalars@
  @store_state@
  @seed@
  @factors@
  @sums@
  @loop@
  @partials@
}

