/* Any stage of any program, by one kernel. What a stage does is read from a table (core/opencl/run/interpreter.c), so that nothing is compiled
 * for a method or a system: first solves begin with this kernel. Operands go through memory instead of registers, and the matrix is in CSR.
 * One right-hand side.
 *
 *   table    per stage: WORDS words, then lists, in the order of their sizes in these words: the slots of the sums of the stage before,
 *            slots of seeds, numbers of addresses, vector operations, their coefficients, scalar operations
 *   address  of the vectors and of the arrays of matrices
 */
enum {
  ELEMENTS,
  GROUPS_BEFORE,
  CYCLE_END,        /* is it carried out for a stop inside the cycle, too, */
  CYCLE_END_BEFORE, /* and the stage before? */
  SUMS,
  SEEDS,
  VECTORS,
  OPERATIONS, /* of vectors */
  SCALAR_OPERATIONS,
  LANES,  /* work-items per row of the product; 0: there is none */
  MATRIX, /* the number of its first address: row_ptr, col, val; */
  Y,      /* its vectors, by their places in the list */
  X,
  TARGET, /* the slot of the squared norm to reach */
  WORDS
};
/* A coefficient: a slot, or -1 and the bits of a constant of type real, low word first. */
enum { SLOT_WORD, SIGN_WORD, LOW_WORD, HIGH_WORD, COEFFICIENT_WORDS };
enum { NEGATED = 1, CONJUGATED = 2 };
/* A vector operation: y = 0, y = a x, y = a x + b z, y = x z, y = conj(x) z, sums of conj(x) y and of x y. */
enum { CODE_WORD, Y_WORD, X_WORD, Z_WORD, OPERATION_WORDS };
enum { CLEAR, SCALE, COMBINE, TIMES, TIMES_CONJUGATED, DOT, DOT_PLAIN };
/* A scalar operation: its code, slot and reason, then two coefficients. */
enum { SCALAR_CODE, SCALAR_SLOT, SCALAR_REASON, SCALAR_A, SCALAR_B = SCALAR_A + COEFFICIENT_WORDS, SCALAR_WORDS = SCALAR_B + COEFFICIENT_WORDS };
enum { ASSIGN, DIVIDE, MULTIPLY, ADD, ROOT, MODULUS, LEAST, POSITIVE, NONZERO, RITZ, END_ITERATION, END_IN_CYCLE, LEAVE_CYCLE };
enum { MOST_OPERATIONS = 64, MOST_VECTORS = 32 }; /* of a stage */
enum { COPIED_WORDS = 2 * MOST_OPERATIONS * COEFFICIENT_WORDS, SCALARS_AT_ONCE = COPIED_WORDS / SCALAR_WORDS };

static inline real constant_of(local const int *w)
{
#if KCL_TYPE == 1 || KCL_TYPE == 3
  return as_double((long)(((ulong)(uint)w[HIGH_WORD] << 32) | (uint)w[LOW_WORD]));
#else
  return as_float(w[LOW_WORD]);
#endif
}

static inline scalar coefficient_of(local const int *w, local const scalar *s)
{
  if (w[SLOT_WORD] < 0) return s_make(constant_of(w));
  scalar a = s[w[SLOT_WORD]];
  if (w[SIGN_WORD] & CONJUGATED) a = s_conj(a);
  return w[SIGN_WORD] & NEGATED ? s_neg(a) : a;
}

/* By one work-item. */
static inline void operate_on_scalar(local const int *w, const int target, local scalar *s, local int *control, global real *history)
{
  const scalar a = coefficient_of(w + SCALAR_A, s), b = coefficient_of(w + SCALAR_B, s), tested = s[w[SCALAR_SLOT]];
  scalar result = tested;
  switch (w[SCALAR_CODE]) {
  case ASSIGN: result = a; break;
  case DIVIDE: result = s_div(a, b); break;
  case MULTIPLY: result = s_mul(a, b); break;
  case ADD: result = s_add(a, b); break;
  case ROOT: result = s_root(a); break;
  case MODULUS: result = s_modulus(a); break;
  case LEAST: result = s_least(a, b); break;
  case POSITIVE:
    stop_when(s_re(tested) <= 0, w[SCALAR_REASON], control);
    stop_when(!(s_re(tested) > 0), NOT_FINITE, control);
    break;
  case NONZERO: stop_when(s_zero(tested), w[SCALAR_REASON], control); break;
  case RITZ:
    if (get_group_id(0) == 0) store_ritz(a, b, control, history);
    break;
  case LEAVE_CYCLE: control[CYCLE_OPEN] = 0; break;
  default:
    end_iteration(tested, s_re(s[target]), control, history);
    if (w[SCALAR_CODE] == END_IN_CYCLE) leave_cycle_open(control);
  }
  s[w[SCALAR_SLOT]] = result;
}

static inline global scalar *partials_of(global const int *state, const int slots, const int partials_max, const int dot)
{
  return (global scalar *)slots_of(state) + slots + dot * partials_max;
}

/* All of the group call these: words of the table in local memory, and the scalar operations by way of them. */
static inline void copy_words(global const int *from, const int count, local int *to)
{
  SYNC();
  for (int i = get_local_id(0); i < count; i += WG) to[i] = from[i];
  SYNC();
}

static inline void operate_on_scalars(global const int *w, const int count, const int active, const int target, local int *copied,
                                      local scalar *s, local int *control, global real *history)
{
  for (int first = 0; first < count; first += SCALARS_AT_ONCE) {
    const int some = min((int)SCALARS_AT_ONCE, count - first);
    copy_words(w + first * SCALAR_WORDS, some * SCALAR_WORDS, copied);
    for (int i = 0; i < some && get_local_id(0) == 0 && active; i++)
      operate_on_scalar(copied + i * SCALAR_WORDS, target, s, control, history);
  }
}

/* Sums of the stage before to their slots. */
static inline void reduce_sums(global const int *w, global const int *slot, const int active, global const int *in, const int slots,
                               const int partials_max, local scalar *s, local scalar *scratch)
{
  for (int d = 0; d < w[SUMS]; d += AT_ONCE) {
    const int count = min(AT_ONCE, w[SUMS] - d);
    scalar a[AT_ONCE];
    for (int q = 0; q < AT_ONCE; q++) {
      global const scalar *partial = partials_of(in, slots, partials_max, d + min(q, count - 1));
      a[q] = s_make(0);
      for (int g = get_local_id(0); g < w[GROUPS_BEFORE]; g += WG) a[q] = s_add(a[q], partial[g]);
    }
    group_sums(a, AT_ONCE, scratch);
    for (int q = 0; q < count && get_local_id(0) == 0 && active; q++) s[slot[d + q]] = a[q];
    SYNC();
  }
}

/* Element `row` of A x, added up by `lanes` neighbours, for each row of the group: that of this work-item. All of the group call it. */
static inline scalar product_row(global const ulong *address, global const scalar *x, const idx base, const idx n, const int lanes,
                                 local scalar *scratch)
{
  global const int *row_ptr = (global const int *)address[0], *col = (global const int *)address[1];
  global const scalar *val = (global const scalar *)address[2];
  const int l = get_local_id(0), teams = WG / lanes;
  scalar value = s_make(0);
  for (int r = 0; r < lanes; r++) {
    const idx row = base + r * teams + l / lanes;
    scalar sum = s_make(0);
    if (row < n)
      for (int k = row_ptr[row] + l % lanes; k < row_ptr[row + 1]; k += lanes) sum = s_fma(val[k], x[col[k]], sum);
    if (lanes == 1) return sum;
    sum = lanes_sum(sum, lanes, scratch + WG);
    if (l % lanes == 0) scratch[r * teams + l / lanes] = sum;
  }
  SYNC();
  value = scratch[l];
  SYNC();
  return value;
}

static inline void operate_on_element(const idx i, const int count, local const int *operation, local const ulong *vector,
                                      local const scalar *factor, scalar *sum)
{
  for (int o = 0, d = 0; o < count; o++) {
    local const int *w = operation + o * OPERATION_WORDS;
    global scalar *y = (global scalar *)vector[w[Y_WORD]];
    global const scalar *x = (global const scalar *)vector[w[X_WORD]], *z = (global const scalar *)vector[w[Z_WORD]];
    const scalar a = factor[2 * o], b = factor[2 * o + 1];
    switch (w[CODE_WORD]) {
    case CLEAR: y[i] = s_make(0); break;
    case SCALE: y[i] = s_mul(a, x[i]); break;
    case COMBINE: y[i] = s_fma(a, x[i], s_mul(b, z[i])); break;
    case TIMES: y[i] = s_mul(x[i], z[i]); break;
    case TIMES_CONJUGATED: y[i] = s_mul(s_conj(x[i]), z[i]); break;
    case DOT: sum[d] = s_fma(s_conj(x[i]), y[i], sum[d]), d++; break;
    default: sum[d] = s_fma(x[i], y[i], sum[d]), d++;
    }
  }
}

/* local_memory: [slots] slots, [2 MOST_OPERATIONS] coefficients, [AT_ONCE WG] for sums. */
kernel OF_WG
void interpreter(global int *restrict states, const uint launch, global const int *restrict table, const int at,
                 global const ulong *restrict address, global real *restrict history, const int state_words, const int slots,
                 const int partials_max, local scalar *local_memory)
{
  local int control[CONTROL], operation[MOST_OPERATIONS * OPERATION_WORDS], copied[COPIED_WORDS];
  local ulong vector[MOST_VECTORS];
  local scalar *s = local_memory, *factor = s + slots, *scratch = factor + 2 * MOST_OPERATIONS;
  global const int *w = table + at, *sum_slots = w + WORDS, *seed_slots = sum_slots + w[SUMS], *numbers = seed_slots + w[SEEDS],
                   *operations = numbers + w[VECTORS], *coefficients = operations + w[OPERATIONS] * OPERATION_WORDS,
                   *scalar_operations = coefficients + 2 * w[OPERATIONS] * COEFFICIENT_WORDS;
  const int l = get_local_id(0), count = w[OPERATIONS];
  for (int i = l; i < slots; i += WG) s[i] = slots_of(IN)[i];
  for (int i = l; i < CONTROL; i += WG) control[i] = IN[i];
  for (int i = l; i < count * OPERATION_WORDS; i += WG) operation[i] = operations[i];
  for (int i = l; i < w[VECTORS]; i += WG) vector[i] = address[numbers[i]];
  SYNC();
  const int active = active_rhs(control, w[CYCLE_END]), was_active = active_rhs(control, w[CYCLE_END_BEFORE]);
  const idx n = active ? w[ELEMENTS] : 0;
  SYNC();
  reduce_sums(w, sum_slots, was_active, IN, slots, partials_max, s, scratch);
  operate_on_scalars(scalar_operations, w[SCALAR_OPERATIONS], active, w[TARGET], copied, s, control, history);
  copy_words(coefficients, 2 * count * COEFFICIENT_WORDS, copied);
  if (get_group_id(0) == 0) {
    for (int i = l; i < slots; i += WG) ((global scalar *)slots_of(OUT))[i] = s[i];
    for (int i = l; i < CONTROL; i += WG) OUT[i] = control[i];
    for (int d = 0; d < w[SEEDS]; d++)
      for (int g = l; g < partials_max; g += WG) partials_of(OUT, slots, partials_max, d)[g] = g ? s_make(0) : s[seed_slots[d]];
  }
  for (int i = l; i < 2 * count; i += WG) factor[i] = coefficient_of(copied + i * COEFFICIENT_WORDS, s);
  SYNC();
  scalar sum[MOST_OPERATIONS];
  int dots = 0;
  for (int o = 0; o < count; o++)
    if (operation[o * OPERATION_WORDS] >= DOT) sum[dots++] = s_make(0);
  for (idx base = get_group_id(0) * WG; base < n; base += get_num_groups(0) * WG) {
    const idx i = base + l;
    if (w[LANES]) {
      const scalar value = product_row(address + w[MATRIX], (global const scalar *)vector[w[X]], base, n, w[LANES], scratch);
      if (i < n) ((global scalar *)vector[w[Y]])[i] = value;
    }
    if (i < n) operate_on_element(i, count, operation, vector, factor, sum);
  }
  for (int d = 0; d < dots; d += AT_ONCE) {
    scalar a[AT_ONCE];
    for (int q = 0; q < AT_ONCE; q++) a[q] = sum[min(d + q, dots - 1)];
    group_sums(a, AT_ONCE, scratch);
    for (int q = 0; q < min(AT_ONCE, dots - d) && l == 0; q++) partials_of(OUT, slots, partials_max, d + q)[get_group_id(0)] = a[q];
  }
}
