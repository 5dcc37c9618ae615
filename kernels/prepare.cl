/* What a format does before its product, a launch of its own: fills the arrays that it declared as prepared. */
kernel OF_WG
void prepare_@id@(const idx items, global const scalar *restrict x@prepared_parameters@)
{
  local scalar scratch[WG + @format_scalars@];
  ROW_BLOCK(items)
  fill_@id@(@prepared_arguments@, x, lo, hi, scratch);
}

