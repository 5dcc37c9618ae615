/* Queries of executors on a program's stages: their vectors and dots, the bytes they move, which stage reduces whose dots. */
#include "core/program/ranks.h"
#include <limits.h>

int kcl_stage_dots(const kcl_stage *s) {
  int dots = 0;
  for (int i = 0; i < s->vectors; i++) dots += s->vector[i].code == KCL_OP_DOT;
  return dots;
}

int kcl_stage_turns(const kcl_stage *s) {
  int most = 0;
  for (int i = 0; i < s->scalars; i++)
    if (s->scalar[i].turn > most) most = s->scalar[i].turn;
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].turn > most) most = s->vector[i].turn;
  return most;
}

const kcl_op *kcl_stage_halo_dot(const kcl_stage *s, int *number) {
  int dots = 0;
  if (!kcl_stage_halo(s)) return NULL;
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    if (o->code != KCL_OP_DOT) continue;
    if (number) *number = dots;
    if (o->x == s->y || o->y == s->y) return o;
    dots++;
  }
  return NULL;
}

bool kcl_stage_writes_history(const kcl_stage *s) {
  bool writes_history = false;
  for (int i = 0; i < s->scalars; i++)
    writes_history = writes_history || s->scalar[i].code == KCL_OP_END_ITERATION ||
                     s->scalar[i].code == KCL_OP_RITZ;
  return writes_history;
}

bool kcl_stage_writes(const kcl_stage *s, kcl_vec v) {
  return (s->A && s->y == v) || kcl_stage_rewrites(s, v);
}

bool kcl_stage_rewrites(const kcl_stage *s, kcl_vec v) {
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].code != KCL_OP_DOT && s->vector[i].y == v) return true;
  return false;
}

static void add_to_list(kcl_vec *list, int *count, int capacity, kcl_vec v) {
  for (int i = 0; i < *count; i++)
    if (list[i] == v) return;
  if (*count < capacity) list[(*count)++] = v;
}

int kcl_stage_vectors(const kcl_stage *s, kcl_vec *list, int capacity) {
  int count = 0;
  if (s->A) add_to_list(list, &count, capacity, s->y), add_to_list(list, &count, capacity, s->x);
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    add_to_list(list, &count, capacity, o->x);
    if (o->code != KCL_OP_DOT) add_to_list(list, &count, capacity, o->z);
    add_to_list(list, &count, capacity, o->y);
  }
  return count;
}

int kcl_program_dots(const kcl_program *k) {
  int most = 1;
  for (int p = 0; p < KCL_PHASES; p++)
    for (int i = 0; i < k->stages[p]; i++) {
      int d = kcl_stage_dots(&k->stage[p][i]);
      if (d > most) most = d;
    }
  return most;
}

/* ---------------------------------------------------------------- bytes */

static bool op_reads(const kcl_op *o, kcl_vec v) {
  if (o->code == KCL_OP_DOT) return o->x == v || o->y == v;
  return (o->x == v && !is_constant(o->a, 0)) || (o->z == v && !is_constant(o->b, 0));
}

/* Does a stage read the vector from memory? Not when it has written it before. */
static bool stage_reads(const kcl_stage *s, kcl_vec v) {
  if (kcl_stage_operator(s) && s->x == v) return true;
  if (s->A && s->y == v) return false;
  for (int i = 0; i < s->vectors; i++) {
    if (op_reads(&s->vector[i], v)) return true;
    if (s->vector[i].code != KCL_OP_DOT && s->vector[i].y == v) return false;
  }
  return false;
}

static double bytes_of_vector(const kcl_program *k, kcl_vec v, int nrhs) {
  return (kcl_vector_shared(k, v) ? 1 : nrhs) * (double)kcl_type_size(kcl_vector_stored(k, v)) *
         (double)k->vector[v].n;
}

/* Counts each vector of a stage once if it is read, and once if it is written; those of a function of the caller's once more. */
double kcl_stage_bytes(const kcl_program *k, const kcl_stage *s, int nrhs) {
  enum { MOST_LISTED = 64 };
  kcl_vec list[MOST_LISTED];
  int count = kcl_stage_vectors(s, list, MOST_LISTED);
  double bytes = s->A ? kcl_stored_bytes(s->A) + kcl_stored_prepared_bytes(s->A) : 0;
  if (s->called) bytes += bytes_of_vector(k, s->x, nrhs) + bytes_of_vector(k, s->y, nrhs);
  for (int v = 0; v < count; v++)
    bytes += bytes_of_vector(k, list[v], nrhs) *
             ((kcl_stage_writes(s, list[v]) && kcl_stage_temporary(s, list[v]) < 0) +
              stage_reads(s, list[v]));
  return bytes;
}

double kcl_stage_streamed(const kcl_program *k, const kcl_stage *s) {
  double bytes = kcl_stage_bytes(k, s, k->nrhs);
  return s->A ? bytes - kcl_stored_bytes(s->A) + s->A->cost.streamed : bytes;
}

double kcl_program_bytes(const kcl_program *k, kcl_phase phase, int nrhs) {
  double bytes = 0;
  for (int i = 0; i < k->stages[phase]; i++) bytes += kcl_stage_bytes(k, &k->stage[phase][i], nrhs);
  return bytes;
}

/* Bytes of the vectors and of the matrices of LOOP, each once. */
static double working_set(const kcl_program *k) {
  double bytes = 0;
  for (kcl_vec v = 0; v < k->vectors; v++)
    bytes += (double)k->vector[v].n * (double)kcl_type_size(kcl_vector_stored(k, v)) *
             (kcl_vector_shared(k, v) ? 1 : k->nrhs);
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) {
    const kcl_stored *A = k->stage[KCL_LOOP][i].A;
    for (int j = 0; A && j < i; j++)
      if (k->stage[KCL_LOOP][j].A == A) A = NULL;
    if (A) bytes += kcl_stored_bytes(A);
  }
  return bytes;
}

double kcl_program_rate(const kcl_program *k, double unknown) {
  const kcl_stream *s = &k->ctx->stream;
  if (!(s->rate > 0)) return unknown;
  if (!(s->cache_rate > s->rate) || !s->cache_bytes) return s->rate;
  const double full = working_set(k) / (double)s->cache_bytes,
               missed =
                   fmin(fmax(2 * full - 1, 0), 1); /* none in half of the cache, all beyond it */
  return 1 / (missed / s->rate + (1 - missed) / s->cache_rate);
}

/* ---------------------------------------------------------------- temporary vectors */

/* Stages at the end of a cycle count as readers alone: they may be left out. */
static bool phase_reads_first(const kcl_program *k, kcl_phase phase, kcl_vec v) {
  for (int i = 0; i < k->stages[phase]; i++) {
    const kcl_stage *s = &k->stage[phase][i];
    if (stage_reads(s, v)) return true;
    if (!s->cycle_end && kcl_stage_writes(s, v)) return false;
  }
  return false;
}

bool kcl_vector_carried(const kcl_program *k, kcl_vec v) {
  if (v == k->b || kcl_vector_shared(k, v)) return false;
  return v == k->x || phase_reads_first(k, KCL_LOOP, v) || phase_reads_first(k, KCL_REPLACE, v);
}

static bool read_after(const kcl_program *k, int phase, int number, kcl_vec v) {
  for (int i = number + 1; i < k->stages[phase]; i++) {
    if (stage_reads(&k->stage[phase][i], v)) return true;
    if (kcl_stage_writes(&k->stage[phase][i], v)) return false;
  }
  return false;
}

/* Can the vector be temporary? Not as the result of a product in steps or of one that is completed after the launch. */
static bool can_be_temporary(const kcl_program *k, const kcl_stage *s, kcl_vec v) {
  const bool product = s->A && s->y == v;
  return k->vector[v].work.s[0] && kcl_stage_writes(s, v) && !stage_reads(s, v) &&
         !(product && (s->A->steps || kcl_stored_ends_stage(s->A)));
}

static void find_temporaries(const kcl_program *k, int phase, int number) {
  kcl_stage *s = &k->stage[phase][number];
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  const int count = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  for (int i = 0; i < count && s->temporaries < KCL_MOST_TEMPORARIES; i++)
    if (can_be_temporary(k, s, list[i]) && !read_after(k, phase, number, list[i]))
      s->temporary[s->temporaries++] = list[i];
}

void kcl_find_temporaries(kcl_program *k) {
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++) find_temporaries(k, phase, i);
}

/* ---------------------------------------------------------------- reductions across stages; REPLACE */

static const kcl_stage *last_of_loop(const kcl_program *k) {
  return &k->stage[KCL_LOOP][k->stages[KCL_LOOP] - 1];
}

/* Rounding errors of recurrences grow with every iteration: measured on pipelined CG, these keep them
 * below what matters at the usual tolerances. */
int kcl_replacement_interval(const kcl_program *k) {
  bool single = k->type == KCL_S || k->type == KCL_C;
  if (!k->stages[KCL_REPLACE]) return INT_MAX;
  return ((single ? 16 : 64) + k->iterations - 1) / k->iterations;
}

const kcl_stage *kcl_stage_previous(const kcl_program *k, kcl_phase phase, int i) {
  if (i) return &k->stage[phase][i - 1];
  return phase == KCL_LOOP && k->carried ? last_of_loop(k) : NULL;
}

static bool computes(const kcl_stage *s, const kcl_stage *before, kcl_coef c) {
  for (int i = 0; i < s->scalars; i++)
    if (c.slot >= 0 && s->scalar[i].slot == c.slot) return true;
  for (int i = 0; i < before->vectors; i++)
    if (before->vector[i].code == KCL_OP_DOT && before->vector[i].slot == c.slot) return true;
  return false;
}

bool kcl_stage_runs_ahead(const kcl_stage *s, const kcl_stage *before) {
  if (!s->A || kcl_stage_dots(s) || s->cycle_end != before->cycle_end) return false;
  for (int i = 0; i < s->vectors; i++)
    if (computes(s, before, s->vector[i].a) || computes(s, before, s->vector[i].b)) return false;
  return true;
}

const kcl_stage *kcl_stage_seeds(const kcl_program *k, kcl_phase phase, int i) {
  bool seeds = k->carried && phase != KCL_LOOP && i == k->stages[phase] - 1;
  return seeds ? last_of_loop(k) : NULL;
}
