/* The methods' costs: stages, products, vector passes, bytes and vectors of every method, counted here from the recorded
 * program, against core/program's byte model and against the table of docs/methods.md.
 *
 * usage: test_methods [--write]     --write: puts the table as counted into docs/methods.md (in the source folder)
 *
 * The count follows one stage as one fused loop: the operand of the product is read, an operand that is not yet in a
 * register is read, what is assigned is in a register and is written once, unless it is a work vector that the phase never
 * loads again. A constant 0 as coefficient reads nothing.
 */
#include "solver/solver.h"
#include "tests/conform.h"
#include "tests/options.h"
#include "tests/suits.h"

static kcl_context *ctx;

/* ---------------------------------------------------------------- counting */

/* Elements of a pass over a phase: those of vectors that every right-hand side has, and of constants, which are shared. */
typedef struct moved {
  double own, shared;
  double by_length[2]; /* of `own` and `shared`: vectors of the length of b, others; in vectors */
  int products;
} moved;

typedef struct stage_state {
  bool inside[256], loaded[256], written[256]; /* in a register; read from memory; assigned */
} stage_state;

static void use(const kcl_program *k, moved *m, kcl_vec v) {
  const double n = (double)k->vector[v].n * (k->vector[v].narrow ? 0.5 : 1);
  *(kcl_vector_shared(k, v) ? &m->shared : &m->own) += n;
  m->by_length[k->vector[v].n != k->n] += 1;
}

static void read_operand(stage_state *s, kcl_vec v) {
  if (!s->inside[v]) s->loaded[v] = true;
  s->inside[v] = true;
}

static stage_state follow(const kcl_stage *s) {
  stage_state state = {0};
  if (s->A) {
    read_operand(&state, s->x);
    state.inside[s->y] = state.written[s->y] = true;
  }
  for (int o = 0; o < s->vectors; o++) {
    const kcl_op *op = &s->vector[o];
    if (op->code == KCL_OP_DOT) {
      read_operand(&state, op->x), read_operand(&state, op->y);
      continue;
    }
    if (op->code == KCL_OP_TIMES || !is_constant(op->a, 0)) read_operand(&state, op->x);
    if (op->code == KCL_OP_TIMES || !is_constant(op->b, 0)) read_operand(&state, op->z);
    state.inside[op->y] = state.written[op->y] = true;
  }
  return state;
}

/* Is what stage i leaves in v loaded by a later one? */
static bool loaded_later(const kcl_program *k, kcl_phase phase, int i, kcl_vec v) {
  while (++i < k->stages[phase]) {
    const stage_state later = follow(&k->stage[phase][i]);
    if (later.loaded[v] || later.written[v]) return later.loaded[v];
  }
  return false;
}

static moved count(const kcl_program *k, kcl_phase phase) {
  moved m = {0};
  for (int i = 0; i < k->stages[phase]; i++) {
    const stage_state state = follow(&k->stage[phase][i]);
    m.products += k->stage[phase][i].A != NULL;
    for (kcl_vec v = 0; v < k->vectors; v++) {
      const bool work = k->vector[v].work.s[0] && !state.loaded[v];
      if (state.loaded[v]) use(k, &m, v);
      if (state.written[v] && !(work && !loaded_later(k, phase, i, v))) use(k, &m, v);
    }
  }
  return m;
}

/* The arrays of csr-scalar on the cpu: 8-byte row pointers, 4-byte columns, values, of levels of multigrid as float.
 * Preconditioners choose formats. */
static double matrix_bytes(const kcl_stored *A) {
  if (strcmp(A->format->name, "csr-scalar")) return kcl_stored_bytes(A);
  const double value = A->array[2].kind == KCL_SINGLE ? 4 : (double)kcl_type_size(A->type);
  return 8.0 * (double)(A->rows + 1) + (4.0 + value) * (double)A->nnz;
}

static double bytes(const kcl_program *k, kcl_phase phase, int nrhs) {
  moved m = count(k, phase);
  double matrices = 0;
  for (int i = 0; i < k->stages[phase]; i++)
    if (k->stage[phase][i].A) matrices += matrix_bytes(k->stage[phase][i].A);
  return matrices + (double)kcl_type_size(k->type) * (m.own * nrhs + m.shared);
}

/* ---------------------------------------------------------------- programs */

/* A method's program on a system that every method fits, or a rectangular one for those that take it. */
static kcl_solver *set_up(const kcl_method *m, const char *precond, const char *format,
                          kcl_type type, kcl_csr *A) {
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  o.solver = m->name, o.precond = precond, o.format = format, o.precision = type;
  CHECKF(kcl_setup(ctx, A, &o, &s) == KCL_OK, "%s: %s", m->name, kcl_error());
  return s;
}

static void test_bytes(const kcl_method *m, const char *precond, kcl_type type, kcl_csr *A) {
  static const int nrhs[] = {0, 1, 4};
  const kcl_options o = {.solver = m->name, .precond = precond, .precision = type};
  if (!precond_suits(ctx, A, &o)) return;
  kcl_solver *s = set_up(m, precond, "csr-scalar", type, A);
  for (kcl_phase p = 0; s && p < KCL_PHASES; p++)
    for (int i = 0; i < 3; i++) {
      double expected = bytes(s->selection.engine->program, p, nrhs[i]),
             said = kcl_program_bytes(s->selection.engine->program, p, nrhs[i]);
      CHECKF(expected == said,
             "%s, %s, type %c, phase %d, %d right-hand sides: %.0f bytes, not %.0f", m->name,
             precond, kcl_type_letter(type), (int)p, nrhs[i], said, expected);
    }
  if (s) kcl_solver_free(&s);
}

/* Nothing joins the stage of a product by a format that scatters. */
static void test_scatter(const kcl_method *m, kcl_csr *A) {
  kcl_solver *s = set_up(m, "none", "coo", KCL_D, A);
  int products = 0;
  for (int i = 0; s && i < s->selection.engine->program->stages[KCL_LOOP]; i++) {
    const kcl_stage *g = &s->selection.engine->program->stage[KCL_LOOP][i];
    products += g->A != NULL;
    CHECKF(!g->A || !g->vectors, "%s: stage %d joins a product that scatters", m->name, i);
  }
  CHECK(products > 0);
  if (s) kcl_solver_free(&s);
}

/* ---------------------------------------------------------------- the table */

typedef struct text {
  char at[20000];
  int used;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->used += vsnprintf(t->at + t->used, sizeof t->at - (size_t)t->used, format, args);
  va_end(args);
}

/* At most one decimal. */
static void put_number(text *t, double a) {
  bool whole = fabs(a - round(a)) < 0.05;
  put(t, whole ? "%.0f" : "%.1f", a);
}

typedef struct costs {
  double products[2], stages, passes[2]; /* per iteration; with A and A^H; by_length */
  int vectors;
} costs;

static costs measure(const kcl_method *m, const char *precond, kcl_csr *A) {
  costs c = {0};
  kcl_solver *s = set_up(m, precond, "csr-scalar", KCL_D, A);
  if (!s) return c;
  const kcl_program *k = s->selection.engine->program;
  moved loop = count(k, KCL_LOOP);
  c.stages = (double)k->stages[KCL_LOOP] / k->iterations;
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) {
    const kcl_stage *g = &k->stage[KCL_LOOP][i];
    if (g->A) c.products[g->A == k->AH] += 1.0 / k->iterations;
  }
  for (int i = 0; i < 2; i++) c.passes[i] = loop.by_length[i] / k->iterations;
  for (kcl_vec v = 0; v < k->vectors; v++) c.vectors += k->vector[v].n > 1;
  kcl_solver_free(&s);
  return c;
}

static void put_passes(text *t, const kcl_method *m, const costs *c) {
  put_number(t, c->passes[0]);
  if (!m->least_squares) return;
  put(t, " m + "), put_number(t, c->passes[1]), put(t, " n");
}

static void put_row(text *t, const kcl_method *m, kcl_csr *A) {
  costs c[2] = {measure(m, "none", A), measure(m, "jacobi", A)};
  CHECKF(c[0].stages == c[1].stages, "%s: Jacobi adds no stage", m->name);
  put(t, "| `%s` | %s | ", m->name, m->summary);
  if (c[0].products[1] > 0) {
    put_number(t, c[0].products[0]), put(t, " A, ");
    put_number(t, c[0].products[1]), put(t, " A^H");
  } else {
    put(t, fabs(c[0].products[0] - round(c[0].products[0])) > 1e-9 ? "%.2f" : "%.0f",
        c[0].products[0]);
  }
  put(t, " | "), put_number(t, c[0].stages), put(t, " | ");
  put_passes(t, m, &c[0]), put(t, " / "), put_passes(t, m, &c[1]);
  put(t, " | %d / %d | %s |\n", c[0].vectors, c[1].vectors, m->source);
}

static const char begin_mark[] = "<!-- counted by tests/test_methods.c; --write renews it -->\n",
                  end_mark[] = "<!-- end -->\n", page[] = "docs/methods.md";

static char *read_page(void) {
  char *all = calloc(1, 1 << 20);
  FILE *f = fopen(page, "r");
  size_t size = f ? fread(all, 1, (1 << 20) - 1, f) : 0;
  if (f) fclose(f);
  return CHECKF(size > 0, "%s is there: run from the source folder", page) ? all
                                                                           : (free(all), NULL);
}

static void write_page(const char *all, const char *from, const char *to, const text *table) {
  FILE *f = fopen(page, "w");
  CHECK(f != NULL);
  if (!f) return;
  fwrite(all, 1, (size_t)(from - all), f);
  fwrite(table->at, 1, (size_t)table->used, f);
  fputs(to, f);
  CHECK(fclose(f) == 0);
}

/* The first line that differs. */
static void compare(const char *said, const char *to, const text *table) {
  const char *counted = table->at;
  while (said < to || *counted) {
    const char *a = said < to ? strchr(said, '\n') : said, *b = strchr(counted, '\n');
    int na = said < to ? (int)(a - said) : 0, nb = b ? (int)(b - counted) : 0;
    if (!CHECKF(na == nb && !strncmp(said, counted, (size_t)na),
                "%s has \"%.*s\", counted is \"%.*s\"", page, na, said, nb, counted))
      return;
    said = said < to ? a + 1 : said, counted = b ? b + 1 : counted + strlen(counted);
  }
}

static void test_table(kcl_csr *square, kcl_csr *rectangular, bool write) {
  static text table;
  put(&table, "| method | for | products | stages | transfers | vectors | source |\n"
              "| --- | --- | --- | --- | --- | --- | --- |\n");
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) {
    const kcl_method *m;
    if (CHECK(kcl_method_find(ctx, kcl_list(KCL_SOLVERS, i).name, &m) == KCL_OK))
      put_row(&table, m, m->least_squares ? rectangular : square);
  }
  char *all = read_page(), *from = all ? strstr(all, begin_mark) : NULL,
       *to = from ? strstr(from, end_mark) : NULL;
  if (CHECKF(from && to, "%s has the marks of the table", page)) {
    from += strlen(begin_mark);
    if (write)
      write_page(all, from, to, &table);
    else
      compare(from, to, &table);
  }
  free(all);
}

int main(int argc, char **argv) {
  static const kcl_type types[] = {KCL_S, KCL_D, KCL_C, KCL_Z};
  kcl_csr *square = NULL, *rectangular = NULL;
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, "cpu", 1)) return 1;
  if (kcl_generate(ctx, "poisson2d:12", &square, NULL)) return 1;
  if (kcl_generate(ctx, "bibd:7x3", &rectangular, NULL)) return 1;
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) {
    const kcl_method *m;
    if (kcl_method_find(ctx, kcl_list(KCL_SOLVERS, i).name, &m)) continue;
    test_scatter(m, square);
    for (int t = 0; t < 4; t++)
      for (int p = 0; p < kcl_list_size(KCL_PRECONDS); p++) {
        test_bytes(m, kcl_list(KCL_PRECONDS, p).name, types[t], square);
        if (m->least_squares) test_bytes(m, kcl_list(KCL_PRECONDS, p).name, types[t], rectangular);
      }
  }
  test_table(square, rectangular, argc > 1 && !strcmp(argv[1], "--write"));
  kcl_csr_free(&square), kcl_csr_free(&rectangular);
  kcl_context_free(&ctx);
  return check_report();
}
