/* Recorded programs: a Krylov method is written once and runs fused everywhere.
 *
 * A method's `record` function calls the functions below once. Each call records one operation; nothing is computed. The recorder
 * lays the operations into stages. A stage is one pass over memory, one kernel launch:
 *
 *   scalars     divide, multiply, tests ... on slots; after them every coefficient is known
 *   product     at most one y = A x, first in its stage
 *   vectors     linear combinations and dot products, element by element, each operand read once
 *
 * An operation joins the open stage unless it needs a dot product that the stage is still summing, or an element that another
 * work-item writes. So the order of recording is the schedule: two updates that read p stand next to each other where p is
 * to be read once. CG comes out as three stages per iteration, and its file is the algorithm of the paper. Dots at the end of
 * LOOP are reduced at its beginning (the reduction is carried across the loop), so it does not matter where a method cuts its
 * cycle; START and REPLACE seed the same partial sums.
 *
 * Slots are scalars of the program's type in the memory of the device. A program may serve several right-hand sides at once:
 * every vector but the constants, every slot and the control block then exist once per right-hand side, and each pass over
 * the matrix serves them all. A right-hand side that has stopped keeps its vectors. Methods record one.
 */
#ifndef KCL_PROGRAM_H
#define KCL_PROGRAM_H

#include "core/matrix/stored.h"

typedef int kcl_vec;  /* the number of a vector */
typedef int kcl_slot; /* the number of a scalar */
/* The longest kernels that an OpenCL device may have: of many iterations (persistent), of several stages (series), of one stage; or one
 * kernel for all stages of any program (interpreter). */
typedef enum kcl_fusion {
  KCL_FUSED_ITERATIONS,
  KCL_FUSED_STAGES,
  KCL_SINGLE_STAGES,
  KCL_INTERPRETED_STAGES
} kcl_fusion;
typedef struct kcl_program kcl_program;

/* A coefficient: a constant when slot < 0, else the slot's value, negated or conjugated. */
typedef struct kcl_coef {
  double constant;
  kcl_slot slot;
  bool negate, conjugate;
} kcl_coef;
#define KCL_ZERO ((kcl_coef){.constant = 0, .slot = -1})
#define KCL_ONE ((kcl_coef){.constant = 1, .slot = -1})
#define KCL_MINUS ((kcl_coef){.constant = -1, .slot = -1})
static inline kcl_coef constant_coef(double value) {
  return (kcl_coef){.constant = value, .slot = -1};
}
/* Is it this constant? */
static inline bool is_constant(kcl_coef c, double value) {
  return c.slot < 0 && c.constant == value;
}
static inline kcl_coef plus(kcl_slot s) { return (kcl_coef){.slot = s}; }
static inline kcl_coef minus(kcl_slot s) { return (kcl_coef){.slot = s, .negate = true}; }
static inline kcl_coef conjugate(kcl_coef c) {
  c.conjugate = !c.conjugate;
  return c;
}

/* ---- what a method is given: the system A x = b, and where things are */
kcl_vec kcl_x(kcl_program *k);
kcl_vec kcl_b(kcl_program *k);
kcl_stored *kcl_A(kcl_program *k);
kcl_stored *kcl_AH(kcl_program *k);  /* its adjoint; for methods that declare `adjoint` */
int kcl_restart(kcl_program *k);     /* iterations per cycle; for methods that declare `restart` */
bool kcl_has_resume(kcl_program *k); /* will RESUME be run? */

/* New vectors and scalars, zero. `name`, as printf, is the symbol in the cited paper; generated source and
 * `krylocl explain` use it. A name that exists already gets a number. */
kcl_vec kcl_vector(kcl_program *k, const char *name, ...) KCL_PRINTF(2, 3); /* of A's rows */
kcl_vec kcl_vector_like(kcl_program *k, kcl_vec v, const char *name, ...)
    KCL_PRINTF(3, 4); /* as long as v, such as x: A's columns */
kcl_vec kcl_vector_of(kcl_program *k, int64_t n, const char *name, ...) KCL_PRINTF(3, 4);
kcl_vec kcl_constant(kcl_program *k, int64_t n, kcl_type type, const void *values, const char *name,
                     ...) KCL_PRINTF(5, 6); /* n values, copied; never written */
/* A constant that is not copied: values outlive the program. narrow: stored as float. */
kcl_vec kcl_constant_in_place(kcl_program *k, int64_t n, kcl_type type, void *values, bool narrow,
                              const char *name);
/* On an OpenCL device: buffer, cl_mem [n] as the vector is stored, is copied there. */
kcl_vec kcl_constant_on_device(kcl_program *k, int64_t n, void *buffer, bool narrow,
                               const char *name);
/* For preconditioners: a vector whose values last for one application. The same name, length and storage give the same vector
 * each time. The first is as the program's others. The second is narrow: in a program of type double its elements are stored as
 * float; a product takes and gives such vectors where kcl_stored_takes_narrow, and x and y are both narrow or both not. The third is
 * stored as `like` is. */
kcl_vec kcl_work(kcl_program *k, int64_t n, const char *name);
kcl_vec kcl_narrow_work(kcl_program *k, int64_t n, const char *name);
kcl_vec kcl_work_like(kcl_program *k, kcl_vec like, int64_t n, const char *name);
kcl_slot kcl_scalar(kcl_program *k, const char *name, ...) KCL_PRINTF(2, 3);
/* As many as there are words in `names`, one per pointer. */
void kcl_new_vectors(kcl_program *k, const char *names, kcl_vec *const *out);
void kcl_new_scalars(kcl_program *k, const char *names, kcl_slot *const *out);

/* ---- the phases
 * START    from x to the first iteration; also after a claim of convergence that did not hold
 * LOOP     one iteration, or a cycle of several
 * REPLACE  residual replacement, for methods whose recurrences drift: every kcl_replacement_interval passes vectors are
 *          recomputed from what they stand for
 * RESUME   where kcl_has_resume(k): b is a new residual and x = 0, but the search continues (solver/mixed)
 * VERIFY   of guarded programs: the distance of the method's residual from b - A x (kcl_record_verification) */
typedef enum kcl_phase {
  KCL_START,
  KCL_LOOP,
  KCL_REPLACE,
  KCL_RESUME,
  KCL_VERIFY,
  KCL_PHASES
} kcl_phase;
void kcl_begin(kcl_program *k, kcl_phase phase);

/* ---- vectors. The operands of an operation have one length; a stage runs over one length (x has A's columns, b its
 * rows). Operands may coincide. */
void kcl_apply(kcl_program *k, kcl_vec y, kcl_stored *A, kcl_vec x); /* y = A x, y != x */
void kcl_lincomb(kcl_program *k, kcl_vec y, kcl_coef a, kcl_vec x, kcl_coef b,
                 kcl_vec z); /* y = a x + b z */
void kcl_times(kcl_program *k, kcl_vec y, kcl_vec d, kcl_vec x,
               bool conjugate_d);                                /* y_i = d_i x_i */
void kcl_dot(kcl_program *k, kcl_slot s, kcl_vec x, kcl_vec y);  /* s = x^H y */
void kcl_dotu(kcl_program *k, kcl_slot s, kcl_vec x, kcl_vec y); /* s = x^T y, nothing conjugated */
static inline void kcl_copy_vector(kcl_program *k, kcl_vec y, kcl_vec x) /* y = x */
{
  kcl_lincomb(k, y, KCL_ONE, x, KCL_ZERO, x);
}
static inline void kcl_zero_vector(kcl_program *k, kcl_vec y) /* y = 0 */
{
  kcl_lincomb(k, y, KCL_ZERO, y, KCL_ZERO, y);
}
/* r = b - A x and rr = r^H r: every START begins with it. The host checks claims of convergence against it. rr is also the slot
 * that kcl_end_iteration tests, or k->rr is set to that one: the host reads it after each batch. */
void kcl_residual(kcl_program *k, kcl_vec r, kcl_slot rr);
/* VERIFY, between two passes over LOOP, for which slots and partial sums are lost: squared norms of each vector that LOOP goes on
 * from, in the order of vectors, and, unless the vector of kcl_residual is another one then, of gap = r - (b - A x). After LOOP. */
void kcl_record_verification(kcl_program *k, bool gap);
/* For preconditioners: matrices of this format, with these arrays, occur in place of those applied (kcl_program.expect). */
void kcl_expect(kcl_program *k, kcl_stored *A);
/* The vector for M^-1 r: a new one; without a preconditioner r itself, and kcl_precondition records nothing. */
kcl_vec kcl_preconditioned(kcl_program *k, kcl_vec r, const char *name, ...) KCL_PRINTF(3, 4);
void kcl_precondition(kcl_program *k, kcl_vec z, kcl_vec r,
                      bool adjoint); /* z = M^-1 r, or M^-H r */

/* ---- scalars. A quotient by zero is zero; the method's tests give it a reason. */
void kcl_assign(kcl_program *k, kcl_slot s, kcl_coef a);               /* s = a */
void kcl_divide(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b);   /* s = a / b */
void kcl_multiply(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b); /* s = a b */
void kcl_add(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b);      /* s = a + b */
void kcl_root(kcl_program *k, kcl_slot s, kcl_coef a);                 /* s = sqrt(max(Re a, 0)) */
void kcl_modulus(kcl_program *k, kcl_slot s, kcl_coef a);              /* s = |a| */
void kcl_least(kcl_program *k, kcl_slot s, kcl_coef a,
               kcl_coef b); /* the one with the lesser real part; a if that is NaN */

/* ---- loops. What follows until kcl_end_turns is turn i (0 <= i < 64) of a loop whose length differs between the iterations of a cycle.
 * Stages that differ in the number of their turns, and in which vectors and slots these use, may share a kernel
 * (core/opencl/codegen/stage_turns.c). A turn writes only vectors that its stage has used before. */
void kcl_turn(kcl_program *k, int i);
void kcl_end_turns(kcl_program *k);

/* ---- tests, on the device. The stage of a failed test is still carried out, the stages after it are not: the host,
 * which polls rarely, finds the state of that moment. */
void kcl_need_positive(kcl_program *k, kcl_slot s, kcl_reason otherwise); /* real part > 0 */
void kcl_need_nonzero(kcl_program *k, kcl_slot s, kcl_reason otherwise);
void kcl_history_ritz(kcl_program *k, kcl_slot alpha,
                      kcl_slot beta); /* CG's coefficients, for condition estimates */
void kcl_end_iteration(kcl_program *k,
                       kcl_slot rr); /* ends an iteration: history, count, convergence test */
/* For cycles of several iterations that update x at their end: a kcl_end_iteration whose stop leaves the cycle open. The end of the
 * cycle, recorded between the other two, is then still carried out, once. */
void kcl_end_iteration_in_cycle(kcl_program *k, kcl_slot rr);
void kcl_enter_cycle_end(kcl_program *k);
void kcl_leave_cycle_end(kcl_program *k);

/* ================================================================ for executors */

typedef enum kcl_opcode {
  KCL_OP_LINCOMB,
  KCL_OP_TIMES,
  KCL_OP_DOT, /* vectors */
  KCL_OP_ASSIGN,
  KCL_OP_DIVIDE,
  KCL_OP_MULTIPLY,
  KCL_OP_ADD,
  KCL_OP_ROOT,
  KCL_OP_MODULUS,
  KCL_OP_LEAST, /* scalars */
  KCL_OP_POSITIVE,
  KCL_OP_NONZERO,
  KCL_OP_RITZ,
  KCL_OP_END_ITERATION,
  KCL_OP_CYCLE_END
} kcl_opcode;

typedef struct kcl_op {
  kcl_opcode code;
  kcl_vec y, x, z; /* lincomb y = a x + b z; times y = x .* z; dot of x and y */
  kcl_coef a, b;
  kcl_slot slot;  /* result of a dot or scalar operation; operand of a test */
  bool conjugate; /* times: conj(x) */
  bool plain;     /* dot: x^T y, not x^H y */
  bool in_cycle;  /* end of an iteration: a stop leaves the cycle open */
  int turn;       /* 1 + the turn of a loop that it belongs to; 0: none */
  kcl_reason reason;
} kcl_op;

enum { KCL_MOST_STAGE_VECTORS = 32, KCL_MOST_STAGE_OPS = 64 }; /* a full stage is ended */
enum { KCL_MOST_TEMPORARIES = 4, KCL_MOST_EXPECTED = 4 };

typedef struct kcl_stage {
  int64_t n;      /* elements; 0: scalars alone */
  int64_t space;  /* of the vectors that it writes (space_of in record.c) */
  kcl_op *scalar; /* [scalars] */
  kcl_op *vector; /* [vectors], dots among them */
  int scalars, vectors;
  bool cycle_end; /* also carried out after a stop inside the cycle */
  bool unnamed;   /* begun by the preconditioner: its kernel may serve other such stages */
  bool own;       /* the product takes own columns alone, though A has a halo */
  kcl_stored *A;  /* the product y = A x, or NULL */
  /* In place of A: y = A x is a function of the caller's (core/matrix/shell.h). It is complete before the stage's vector
   * operations, which alone are the stage's pass. */
  kcl_stored *called;
  kcl_vec y, x;
  /* Work vectors that the stage writes before it reads them, and nobody reads afterwards: they need not be stored. */
  kcl_vec temporary[KCL_MOST_TEMPORARIES];
  int temporaries;
} kcl_stage;

enum { KCL_NAME_ROOM = 24 };
typedef struct kcl_symbol {
  char s[KCL_NAME_ROOM];
  int next; /* of a vector or slot: 1 + the one before with a name of the same hash; 0: none */
} kcl_symbol;

/* By hash: 1 + the last vector or slot with such a name, from which kcl_symbol.next leads on; 0: none. */
typedef struct kcl_name_table {
  int *last; /* [hashes] */
  int hashes;
} kcl_name_table;

typedef struct kcl_vector_info {
  kcl_symbol name;
  int64_t n;
  bool of_columns; /* x, and vectors like x: an element per column of A, not per row */
  kcl_type type;   /* of values */
  void *values;    /* [n]; both NULL: zeros */
  void *device;    /* cl_mem [n], stored as the vector is, copied when the executor opens */
  bool borrowed;   /* values belong to someone else */
  bool narrow;     /* stored as float, in a program of type double */
  kcl_symbol work; /* as kcl_work was given it; else empty */
} kcl_vector_info;

/* The matrix that a stage multiplies by, in either way; NULL: none. */
static inline kcl_stored *kcl_stage_operator(const kcl_stage *s) {
  return s->called ? s->called : s->A;
}

/* A matrix that stages multiply by. Names of its arrays begin with its own in generated source. */
typedef struct kcl_applied {
  kcl_symbol name; /* A, AH; else M0, M1 ... */
  kcl_stored *matrix;
} kcl_applied;

struct kcl_program {
  kcl_context *ctx;
  kcl_type type;
  int64_t n; /* rows of A */
  int nrhs;  /* right-hand sides at once; 1 unless set before an executor is opened */
  kcl_stored *A, *AH;
  kcl_vec x, b;
  const struct kcl_preconditioner *preconditioner; /* solver/contract/precond.h; NULL: M = I */
  void (*precondition)(kcl_program *k, const struct kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                       bool adjoint); /* records M^-1; NULL: M = I */
  kcl_vec precond_first; /* the first of the preconditioner's constants, which are consecutive */
  bool preconditioning;  /* what is being recorded belongs to the preconditioner, */
  bool own_block;        /* which on several ranks is of each one's own diagonal block */
  kcl_slot target, rr;   /* squared norm to reach; squared residual norm */
  kcl_vec residual;      /* b - A x after START, unless START goes on with it */
  bool resumes;          /* RESUME will be run */
  bool
      guarded; /* indices are looked at before memory is accessed by them: a bit of them may flip */
  kcl_slot gap, sizes; /* of VERIFY; gap -1: none; sizes: the first */
  bool recurs_precond; /* M^-1 is not applied with narrow vectors: see kcl_method */
  int restart;         /* iterations per cycle, of methods that restart */
  double norm_F;       /* |A|_F, of methods for least squares; else 0 */
  bool product;        /* b = A x alone, for executor.multiply */
  bool has_ritz;
  kcl_fusion fusion;
  int iterations; /* iterations per pass over LOOP: the kcl_end_iteration in it */
  bool
      carried; /* the first stage of LOOP reduces the dots of its last; START and REPLACE seed them */
  kcl_stage *stage[KCL_PHASES];
  int stages[KCL_PHASES];
  kcl_vector_info *vector; /* [vectors] */
  kcl_symbol *slot;        /* [slots] their names */
  kcl_name_table names[2]; /* of vectors, of slots */
  /* Such matrices, never multiplied by, may stand in the place of those applied, in the same program for another system: kernels that
   * serve many stages are compiled for them, too. Not owned. */
  kcl_stored *expect[KCL_MOST_EXPECTED];
  int expected;
  kcl_applied *op; /* [ops] each that a stage applies, once, in order of first use */
  int ops;
  int vectors, slots, phase;
  int turn;       /* of the operations being recorded */
  bool cycle_end; /* of the stages being recorded */
  int status;     /* the first failure of recording */
  /* While an executor is opened: another one, which will not run unless this one is given up. It may have the memory of vectors
   * in common with it. NULL: none. */
  const struct kcl_executor *lender;
};

int kcl_program_create(kcl_context *ctx, kcl_type type, int64_t rows, int64_t cols,
                       kcl_program **out);
int kcl_program_end(kcl_program *k); /* closes the last phase; the status of the whole recording */
void kcl_program_free(kcl_program **k);
/* Bytes that one pass over a phase moves while so many right-hand sides iterate; 0: only what they share. */
double kcl_program_bytes(const kcl_program *k, kcl_phase phase, int nrhs);
/* Bytes per second at which LOOP reads and writes: between cache rate and memory rate, by the share of its vectors and
 * matrices that fits into the last-level cache; `unknown` where no rate was measured. */
double kcl_program_rate(const kcl_program *k, double unknown);
double kcl_stage_bytes(const kcl_program *k, const kcl_stage *s, int nrhs); /* one stage's share */
/* Bytes that take as long to stream as the stage takes; its matrix is an outline. */
double kcl_stage_streamed(const kcl_program *k, const kcl_stage *s);
bool kcl_vector_shared(const kcl_program *k, kcl_vec v); /* by all right-hand sides: a constant */
kcl_type kcl_vector_stored(const kcl_program *k,
                           kcl_vec v); /* the type of its elements in memory */
int kcl_replacement_interval(
    const kcl_program *k);  /* passes between two of REPLACE; INT_MAX: never */
int kcl_width_of(int nrhs); /* rounded up to a power of two */
int kcl_rhs_width(
    const kcl_program *k); /* nrhs, rounded up to a power of two: of an element on a device */
int kcl_stage_dots(const kcl_stage *s);
int kcl_stage_turns(
    const kcl_stage *s); /* the most that an operation of it belongs to; 0: no loop */
/* The dot of a product by a matrix with a halo and another vector, and which of the stage's dots it is; NULL: none. */
const kcl_op *kcl_stage_halo_dot(const kcl_stage *s, int *number);
bool kcl_stage_writes_history(const kcl_stage *s); /* does it record an iteration or Ritz values? */
const kcl_applied *kcl_applied_of(const kcl_program *k, const kcl_stored *A); /* or NULL */
/* The stage whose dots stage i reduces, or NULL. */
const kcl_stage *kcl_stage_previous(const kcl_program *k, kcl_phase phase, int i);
/* The last stage of LOOP, if stage i, the last of START or REPLACE and of scalars alone, seeds its partial sums, which LOOP
 * begins by reducing; else NULL. */
const kcl_stage *kcl_stage_seeds(const kcl_program *k, kcl_phase phase, int i);
/* Can the product and vectors of stage s be computed before its scalars and before the dots of the stage `before` are reduced?
 * s is then a product without dots that uses neither. */
bool kcl_stage_runs_ahead(const kcl_stage *s, const kcl_stage *before);
int kcl_program_dots(const kcl_program *k); /* most dots of one stage, at least 1 */
bool kcl_stage_writes(const kcl_stage *s, kcl_vec v);
/* Does a pass over LOOP or REPLACE read what an earlier pass left in v? Not of constants and b. */
bool kcl_vector_carried(const kcl_program *k, kcl_vec v);
bool kcl_stage_rewrites(const kcl_stage *s, kcl_vec v); /* by a vector operation, not the product */
/* The place of v among the stage's temporary vectors; -1: it is none. */
static inline int kcl_stage_temporary(const kcl_stage *s, kcl_vec v) {
  for (int i = 0; i < s->temporaries; i++)
    if (s->temporary[i] == v) return i;
  return -1;
}
void kcl_find_temporaries(kcl_program *k); /* of all stages, when all are recorded */
/* Vectors a stage touches, each once, in order of first use; at most `capacity` are written. */
int kcl_stage_vectors(const kcl_stage *s, kcl_vec *list, int capacity);

#endif
