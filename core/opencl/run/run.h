/* A program on an OpenCL device: its state and vectors, one launch, products, ranks.
 *
 *   launch.c    sizes of launches, their arguments
 *   vectors.c   vectors to and from the host
 *   multiply.c  products on the caller's memory
 *   addresses.c    addresses of buffers, for kernels with tables of them
 *   interpreter.c  the kernel that carries out any stage
 *   call.c      products that are functions of the caller's
 *   pace.c      seconds that a batch should take
 *   state.c     the state on the device: set, read, carried to another program
 *   ranks.c     stages on several ranks: their sums
 *   halo.c      what their products exchange
 *   rounding.c  whether the device rounds as reproducible sums need
 */
#ifndef KCL_OPENCL_RUN_H
#define KCL_OPENCL_RUN_H

#include "core/opencl/codegen/geometry.h"
#include "core/opencl/device/device.h"
#include "core/program/ranks.h"

enum {
  KCL_MOST_POLLS = 2,
  KCL_VECTOR_PAD = 64 /* elements; packs reach beyond the end of a vector */
};

typedef struct kcl_launch {
  int stages; /* that it carries out: one, or a series */
  cl_kernel kernel;
  size_t groups, group; /* work-groups; work-items of each */
  bool given_sums;      /* the sums over ranks of the stage before are an argument */
  cl_kernel prepare;    /* before the product, or NULL */
  size_t prepare_groups;
  cl_uint prepare_first;   /* its argument: the first item */
  const kcl_stored *steps; /* it is launched for each step of this matrix; NULL: once */
  const kcl_stage *calls;  /* with a function of the caller's, called before the launch; or NULL */
  cl_mem zeroed;           /* y of a format that scatters: cleared before the launch */
  size_t zeroed_bytes;
} kcl_launch;

/* Consecutive elements of x that are sent: from `row` on, to place `at` of halo->out. */
typedef struct kcl_sent {
  int64_t row, at, count;
} kcl_sent;

enum { KCL_MOST_SENT = 4 };

/* Kernels and buffers of an operator's halo on the device (kernels/halo.cl). */
typedef struct kcl_exchange {
  const kcl_halo *halo;           /* NULL: the operator has none */
  cl_kernel pack, take, add;      /* take: pack from x to `in` */
  cl_mem send, own, row, out, in; /* lists of rows; elements sent and received */
  kcl_sent sent[KCL_MOST_SENT];   /* read from x where they are few pieces */
  int pieces;                     /* 0: they are packed */
} kcl_exchange;

/* The persistent kernel of a program. */
typedef struct kcl_persistent {
  cl_program program;
  cl_kernel kernel; /* NULL: none */
  kcl_geometry geometry;
  size_t groups;
  int64_t block_rows;     /* rows of a group's row block */
  int64_t halo_width;     /* how far from its row number a column may be */
  int64_t halo;           /* scalars of x that a group keeps in local memory */
  kcl_stored *renumbered; /* A with columns as positions in halo lists, or NULL */
  cl_mem mailbox;         /* sums and totals of reductions, then flags of row blocks */
  cl_mem list, from;      /* halo lists: columns of each row block, beginning at from */
  cl_mem *copies;         /* [vectors]; two copies of what products gather, as others read it */
  cl_uint number;         /* of the latest barrier */
  cl_int since_replace;   /* passes since START or REPLACE */
} kcl_persistent;

/* Series of stages in one launch each. */
typedef struct kcl_series {
  kcl_geometry geometry;
  cl_program program; /* NULL: there are none */
  cl_mem table;       /* of all their stages: functions and arguments */
  cl_mem flags;       /* [groups]; of their barriers */
  bool resident;      /* groups have met barriers */
} kcl_series;

/* A program before it is built. */
typedef struct kcl_composed {
  char options[512], *source;
} kcl_composed;

typedef struct kcl_run {
  kcl_program *k;
  int width;                       /* right-hand sides in an element of a vector */
  kcl_parts parts;                 /* which kernel each stage has, */
  cl_program part[KCL_MOST_PARTS]; /* and the programs */
  kcl_composed *composed; /* [kcl_run_programs], from their plan until they are built; else NULL */
  kcl_geometry geometry;
  cl_mem *vec;    /* [vectors] */
  cl_mem states;  /* both copies of the state, then messages of products */
  cl_mem history; /* [width, KCL_HISTORY, KCL_HISTORY_FIELDS] reals */
  size_t state_bytes, scalar_bytes, real_bytes, group;
  cl_uint number; /* of the next launch; its last bit: which copy of the state is its input */
  kcl_launch *launch[KCL_PHASES];
  kcl_persistent persistent;
  kcl_series series;
  struct {
    cl_mem table, address; /* what stages do; addresses of buffers */
    cl_int *at;            /* [stages of all phases] where each begins in the table */
  } interpreter;
  int64_t enqueued[KCL_MAX_NRHS]; /* iterations that may have been made */
  bool idle[KCL_MAX_NRHS];        /* stopped when the state was set */
  struct {
    cl_kernel in, out;
    cl_mem values; /* one right-hand side's vector on its way */
  } column;        /* of products, and where there are several right-hand sides */
  struct {
    kcl_exchange *of;           /* [operators] */
    cl_command_queue transfers; /* of halos, beside the launches */
    kcl_pinned sums;            /* control blocks and slots, then, on their way: */
    char *partial;              /* [dots, width, partials_max] */
    double *block;              /* the same as doubles, where sums have a fixed shape */
    char *total;                /* [dots, width] scalars: sums of the last stage over the ranks, */
    int totals;                 /* so many: not in r->states yet */
    bool as_argument;   /* they are one of the next kernel; else they are written to r->states */
    bool ends, stopped; /* a batch ends when all ranks have stopped; they have */
    bool ready;         /* the other ranks run the same stages from now on */
  } ranks;              /* of several */
  cl_mem snapshot[KCL_SNAPSHOTS]; /* copies of x; NULL until they are needed */
  kcl_pinned called;              /* for functions on the host: a control block, x, y */
  kcl_pinned pinned;              /* host memory that the device writes to without a copy: */
  char *mirror[KCL_MOST_POLLS];   /* control blocks and slots after a batch */
  char *history_mirror;           /* of the history */
  cl_event ready[KCL_MOST_POLLS];
  int first, polls; /* the ring of outstanding polls */
  struct {          /* of batches */
    double slowest; /* seconds per byte; 0: not measured yet */
    double before;  /* predicted seconds of the batch before */
    double bytes[KCL_MOST_POLLS],
        began[KCL_MOST_POLLS]; /* of outstanding polls; when they were enqueued */
    double ended;              /* when the last one had ended */
  } pace;
} kcl_run;

static inline kcl_context *run_context(const kcl_run *r) { return r->k->ctx; }
static inline cl_command_queue run_queue(const kcl_run *r) { return r->k->ctx->opencl->queue; }

/* Bytes of a vector's element: one number per right-hand side. */
static inline size_t run_element_bytes(const kcl_run *r) {
  return (size_t)r->width * r->scalar_bytes;
}

static inline double run_real_at(const kcl_run *r, const void *p) {
  return r->real_bytes == 4 ? (double)*(const float *)p : *(const double *)p;
}

/* ---- rounding.c */
/* KCL_DEVICE: the device does not round as IEEE 754 asks, in the precision of the type; the message says what. */
int kcl_check_rounding(kcl_context *ctx, kcl_type type);
/* Adds options of the compiler to a text: for correctly rounded quotients and roots, where it knows any. */
void kcl_put_rounding_options(const kcl_opencl *o, kcl_type type, char *text, size_t capacity);

/* ---- launch.c */
size_t kcl_run_groups_for(const kcl_run *r, int64_t items); /* work-groups for so many work-items */
size_t kcl_run_groups(const kcl_run *r, const kcl_stage *s); /* of a stage's kernel */
cl_int kcl_run_set_index(const kcl_run *r, cl_kernel kernel, cl_uint i, int64_t value);
/* Arguments from number *i on, which it advances. */
cl_int kcl_run_set_matrix(const kcl_run *r, cl_kernel kernel, cl_uint *i, const kcl_stored *A);
/* Words of a state and its slots, for kernels that are told them. */
cl_int kcl_run_set_state_sizes(const kcl_run *r, cl_kernel kernel, cl_uint *i);
size_t kcl_run_state(const kcl_run *r);              /* offset of the latest state in r->states */
size_t kcl_run_sums(const kcl_run *r);               /* of its partial sums */
cl_int kcl_run_number(kcl_run *r, cl_kernel kernel); /* argument 1; argument 0 is r->states */
/* The arguments that are the sums over ranks: kcl_sums_are_argument. */
cl_int kcl_run_set_sums(const kcl_run *r, cl_kernel kernel);
cl_int kcl_run_enqueue(kcl_run *r, const kcl_launch *l);

/* ---- vectors.c */
int kcl_run_put(kcl_run *r, kcl_vec v, int rhs, kcl_type type, const void *values, double scale);
int kcl_run_get(kcl_run *r, kcl_vec v, int rhs, kcl_type type, void *values, double scale);
kcl_column kcl_run_column(kcl_executor *ex, kcl_vec v, int rhs); /* where it is */
int kcl_run_save(kcl_executor *ex, int snapshot);
int kcl_run_load(kcl_executor *ex, int snapshot, int rhs);
int kcl_run_open_vectors(kcl_run *r); /* allocated, constants filled */
int kcl_run_column_kernels(kcl_run *r);
cl_int kcl_run_clear_padding(const kcl_run *r);
size_t kcl_run_vector_bytes(const kcl_run *r, kcl_vec v, int64_t n); /* of n elements */
void kcl_run_close_vectors(kcl_run *r);

/* Between a column of numbers, number i at from + i step of `columns`, and right-hand side rhs of `vector`, which has v's shape.
 * step 0: 1. alpha, beta: of column = alpha vector + beta column, where kernel is column.out; NULL: 1 and 0. */
typedef struct kcl_column_move {
  cl_kernel kernel;
  kcl_vec v;
  cl_mem vector;
  int rhs;
  cl_mem columns;
  int64_t from, step;
  const void *alpha, *beta;
} kcl_column_move;
int kcl_run_move(kcl_run *r, const kcl_column_move *m);

/* ---- ranks.c */
int kcl_run_open_ranks(kcl_run *r);
/* Runs one stage in step with the other ranks; status: KCL_OK, or an earlier failure of this rank. */
int kcl_run_stage_on_ranks(kcl_run *r, const kcl_stage *s, const kcl_launch *l, int status);
/* After the last stage of a batch: writes its sums over the ranks into the state, for the next batch. */
int kcl_run_leave_sums(kcl_run *r, int status);
void kcl_run_close_ranks(kcl_run *r);

/* ---- halo.c */
int kcl_halo_open(kcl_run *r, const kcl_halo *h,
                  kcl_exchange *e); /* an empty one; closed by the caller, also after a failure */
void kcl_halo_close(kcl_exchange *e);
/* Runs a stage whose product has a halo. works: this rank has not failed; a failed rank still takes part in the exchange. */
cl_int kcl_halo_run(kcl_run *r, const kcl_exchange *e, const kcl_stage *s, const kcl_launch *l,
                    bool works);
size_t kcl_halo_groups(const kcl_run *r, const kcl_halo *h); /* work-groups of halo_add */

/* ---- call.c */
int kcl_run_open_calls(kcl_run *r); /* r->called, where a function is on the host */
/* y = A x by the function. */
int kcl_run_call(kcl_run *r, const kcl_stored *A, cl_mem x, cl_mem y);
/* The product of such a stage, unless the right-hand side is known to have stopped. */
int kcl_run_call_stage(kcl_run *r, const kcl_stage *s);

/* ---- addresses.c. A buffer with the addresses of all vectors and of the arrays of all matrices, kcl_addresses of them, which the kernel
 * `addresses` of this program finds; and the place of a vector's in it, and of a matrix's first array. Released by the caller. */
int kcl_run_find_addresses(kcl_run *r, cl_program of, cl_mem *out);
int kcl_addresses(const kcl_program *k);
int kcl_address_of_vector(kcl_vec v);
int kcl_address_of_matrix(const kcl_program *k, const kcl_stored *A);

/* ---- interpreter.c, where r->geometry.interpreted; r->part[0] is its program */
int kcl_interpreter_open(kcl_run *r);
int kcl_interpreter_launch(kcl_run *r, kcl_phase phase, int number, kcl_launch *l);
void kcl_interpreter_close(kcl_run *r);

/* ---- pace.c */
void kcl_run_expect(kcl_run *r, kcl_phase phase, int64_t times); /* before it is enqueued */
/* After the wait for a poll. */
void kcl_run_measure_pace(kcl_run *r, int slot, double waiting_since);

/* ---- multiply.c */
int kcl_run_multiply(kcl_executor *ex, const kcl_multiplication *p);

/* ---- state.c */
int kcl_run_control(kcl_run *r, kcl_control *first); /* waits: the first right-hand side's block */
/* Waits for the device. KCL_DEVICE when a group of a series missed a barrier; *missing: one did at the first launches. */
int kcl_run_check_series(kcl_run *r, bool *missing);
int kcl_run_set_state(kcl_executor *ex, const kcl_control *control, const double *target);
size_t kcl_run_slot(const kcl_run *r, kcl_slot slot, int rhs); /* offset in a state */
int kcl_run_carry(kcl_executor *to, const kcl_executor *from);
/* The latest state and passes since REPLACE, kcl_run_saved_bytes of them. */
size_t kcl_run_saved_bytes(const kcl_run *r);
int kcl_run_read_state(kcl_executor *ex, void *bytes);
int kcl_run_write_state(kcl_executor *ex, const void *bytes);

#endif
