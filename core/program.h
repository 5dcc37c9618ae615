/* Recorded programs: how a Krylov method is written once and runs fused everywhere.
 *
 * A method's `record` function calls the verbs below once; each call notes one operation. The
 * recorder lays the operations into stages. A stage is one pass over memory, one kernel launch:
 *
 *   scalars     divide, multiply, tests ... on slots; every coefficient is ready after them
 *   product     at most one y = A x, first in its stage
 *   vectors     linear combinations and dot products, element by element, each operand read once
 *
 * An operation joins the open stage unless it needs a dot product that the stage is still
 * summing, or an element that another work-item writes. So the order of recording is the
 * schedule: to read p once for two updates, put them next to each other. CG comes out as three
 * stages an iteration, and its file is still the algorithm of the paper. Dots at the end of LOOP
 * are ready at its beginning, so it does not matter where a method cuts its cycle; START and
 * REPLACE then compute the same ones.
 *
 * Slots are numbered scalars of the program's type on the device; coefficients name them.
 *
 * A program may run for several columns at once, systems with the same A: then every vector but the
 * constants, every slot, the stop and the count of iterations exist once a column, and each pass over the
 * matrix serves them all. A column that has stopped keeps its vectors. Who records sees one column.
 */
#ifndef KCL_PROGRAM_H
#define KCL_PROGRAM_H

#include "core/impl.h"

typedef int kcl_vec;  /* the number of a vector */
typedef int kcl_slot; /* the number of a scalar */
typedef struct kcl_matrix kcl_matrix;
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
static inline kcl_coef plus(kcl_slot s) { return (kcl_coef){.slot = s}; }
static inline kcl_coef minus(kcl_slot s) { return (kcl_coef){.slot = s, .negate = true}; }
static inline kcl_coef conjugate(kcl_coef c) { return c.conjugate = !c.conjugate, c; }

/* ---- what a method is given: the system A x = b, and where things are */
kcl_vec kcl_x(kcl_program *k);
kcl_vec kcl_b(kcl_program *k);
kcl_matrix *kcl_A(kcl_program *k);
kcl_matrix *kcl_AH(kcl_program *k); /* its adjoint; for methods that declare `adjoint` */
int kcl_restart(kcl_program *k);    /* iterations a cycle; for methods that declare `restart` */
bool kcl_resumes(kcl_program *k);   /* is RESUME of use? */
kcl_vec kcl_vector(kcl_program *k); /* a new vector of A's rows, zero */
kcl_vec kcl_vector_like(kcl_program *k, kcl_vec v); /* as long as v: A's columns, like x */
kcl_vec kcl_vector_of(kcl_program *k, int64_t n);   /* a new vector of n elements, zero */
kcl_vec kcl_constant(kcl_program *k, int64_t n, kcl_type type,
                     const void *values); /* with these n values, copied; never written */
kcl_slot kcl_scalar(kcl_program *k);      /* a new slot, zero */

/* ---- the phases: what runs once (also after a claim that did not hold); what repeats; and, for
 * methods whose recurrences drift, what now and then replaces vectors by what they stand for. RESUME, where
 * kcl_resumes(k): b is a new residual and x = 0, but the search goes on (solver/mixed.c) */
typedef enum kcl_phase { KCL_START, KCL_LOOP, KCL_REPLACE, KCL_RESUME, KCL_PHASES } kcl_phase;
void kcl_begin(kcl_program *k, kcl_phase phase);

/* ---- vectors, in an operation all of one length, which may differ from one to the next (x has A's
 * columns, b its rows): a stage runs over one length. Operands may coincide. */
void kcl_apply(kcl_program *k, kcl_vec y, kcl_matrix *A, kcl_vec x); /* y = A x, y != x */
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
/* r = b - A x and rr = r^H r: what every START begins with. The host checks claims against it. */
void kcl_residual(kcl_program *k, kcl_vec r, kcl_slot rr);
/* A vector for M^-1 r: a new one, or r itself without a preconditioner; then nothing is recorded. */
kcl_vec kcl_preconditioned(kcl_program *k, kcl_vec r);
void kcl_precondition(kcl_program *k, kcl_vec z, kcl_vec r,
                      bool adjoint); /* z = M^-1 r, or M^-H r */

/* ---- scalars; a quotient by zero is zero (the method's tests say what that means) */
void kcl_assign(kcl_program *k, kcl_slot s, kcl_coef a);               /* s = a */
void kcl_divide(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b);   /* s = a / b */
void kcl_multiply(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b); /* s = a b */
void kcl_add(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b);      /* s = a + b */
void kcl_root(kcl_program *k, kcl_slot s, kcl_coef a);                 /* s = sqrt(max(Re a, 0)) */
void kcl_modulus(kcl_program *k, kcl_slot s, kcl_coef a);              /* s = |a| */
void kcl_least(kcl_program *k, kcl_slot s, kcl_coef a,
               kcl_coef b); /* the lesser real part; a if that is NaN */

/* ---- tests, on the device. The stage a failed test stands in is still carried out, the ones
 * after it are not: the host, which looks seldom, finds the state of that moment. */
void kcl_need_positive(kcl_program *k, kcl_slot s, kcl_reason otherwise); /* real part > 0 */
void kcl_need_nonzero(kcl_program *k, kcl_slot s, kcl_reason otherwise);
void kcl_log_ritz(kcl_program *k, kcl_slot alpha,
                  kcl_slot beta);           /* CG's coefficients, for condition estimates */
void kcl_step(kcl_program *k, kcl_slot rr); /* ends an iteration: notes sqrt(rr), counts, tests */
/* For cycles of several iterations that update x at their end: a kcl_step whose stop leaves the cycle
 * open. What is recorded between kcl_closing and kcl_closed is then still carried out, once. */
void kcl_step_inside(kcl_program *k, kcl_slot rr);
void kcl_closing(kcl_program *k);
void kcl_closed(kcl_program *k);

/* ================================================================ what executors see */

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
  KCL_OP_STEP,
  KCL_OP_CLOSED
} kcl_opcode;

typedef struct kcl_op {
  kcl_opcode code;
  kcl_vec y, x, z; /* lincomb y = a x + b z; times y = x .* z; dot of x and y */
  kcl_coef a, b;
  kcl_slot slot;  /* result of a dot or scalar operation; operand of a test */
  bool conjugate; /* times: conj(x) */
  bool plain;     /* dot: x^T y, not x^H y */
  bool inside;    /* step: a stop leaves the cycle open */
  kcl_reason reason;
} kcl_op;

enum { KCL_MOST_STAGE_VECTORS = 32, KCL_MOST_STAGE_OPS = 64 }; /* a stage that is full is ended */

typedef struct kcl_stage {
  int64_t n;      /* elements; 0 while only scalars are in it */
  kcl_op *scalar; /* [scalars] */
  kcl_op *vector; /* [vectors], dots among them */
  int scalars, vectors;
  bool closing;  /* also carried out after a stop inside the cycle */
  kcl_matrix *A; /* the product y = A x, or NULL */
  kcl_vec y, x;
} kcl_stage;

typedef struct kcl_vector_info {
  int64_t n;
  kcl_type type; /* of values */
  void *values;  /* [n], or NULL for zeros */
} kcl_vector_info;

struct kcl_program {
  kcl *ctx;
  kcl_type type;
  int64_t n;   /* rows of A */
  int columns; /* systems at once, 1 unless set before an executor is opened */
  kcl_matrix *A, *AH;
  kcl_vec x, b;
  void (*precondition)(kcl_program *k, kcl_vec z, kcl_vec r, bool adjoint); /* NULL: M = I */
  kcl_vec precond_data[4]; /* vectors the preconditioner made */
  kcl_slot target, rr;     /* squared norm to reach; squared residual norm */
  kcl_vec residual;        /* b - A x after START, unless START goes on with it */
  bool resumes;            /* RESUME will be run */
  int restart;             /* iterations a cycle, of methods that restart */
  double norm_F;           /* |A|_F, of methods for least squares; else 0 */
  bool has_ritz;
  int steps; /* iterations that one pass over LOOP stands for: the kcl_step in it */
  bool
      carried; /* the dots of LOOP's last stage are folded by its first; START, REPLACE hand over */
  kcl_stage *stage[KCL_PHASES];
  int stages[KCL_PHASES];
  kcl_vector_info *vector;
  int vectors, slots, phase;
  bool closing; /* of the stages being recorded */
  int status;   /* the first failure of recording */
};

int kcl_program_create(kcl *ctx, kcl_type type, int64_t rows, int64_t cols, kcl_program **out);
int kcl_program_end(kcl_program *k); /* closes the last phase; the status of the whole recording */
void kcl_program_free(kcl_program **k);
/* That one pass over a phase moves while so many columns run; 0: only what they share. */
double kcl_program_bytes(const kcl_program *k, kcl_phase phase, int columns);
bool kcl_vector_shared(const kcl_program *k, kcl_vec v); /* by all columns: a constant */
int kcl_replacement_interval(
    const kcl_program *k);           /* passes between two of REPLACE; INT_MAX: never */
int kcl_width(const kcl_program *k); /* columns, up to a power of two: in an element on a device */
int kcl_stage_dots(const kcl_stage *s);
bool kcl_stage_notes(const kcl_stage *s); /* does it write to the history? */
/* The stage whose dots stage i folds, or NULL; and the one whose dots the last stage of START or
 * REPLACE, of scalars alone, leaves behind as if it had summed them: LOOP begins by folding them. */
const kcl_stage *kcl_stage_before(const kcl_program *k, kcl_phase phase, int i);
const kcl_stage *kcl_stage_handed(const kcl_program *k, kcl_phase phase, int i);
int kcl_program_dots(const kcl_program *k); /* most dots of one stage, at least 1 */
bool kcl_stage_writes(const kcl_stage *s, kcl_vec v);
bool kcl_stage_rewrites(const kcl_stage *s, kcl_vec v); /* by a vector operation, not the product */
/* Vectors a stage touches, each once, in order of first use; at most `room` are written. */
int kcl_stage_vectors(const kcl_stage *s, kcl_vec *list, int room);

#endif
