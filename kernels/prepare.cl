/* Preparation of a product by its format, a launch of its own: fills the arrays that it declared as prepared,
 * in steps of `items` items each where the matrix has them. */
kernel OF_WG
void prepare_@id@(const idx items, global const scalar *restrict x@prepared_parameters@, const idx first)
{
  ROW_BLOCK(items)
  fill_@id@(@prepared_arguments@, x, first + lo, first + hi);
}

