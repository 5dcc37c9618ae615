/* For authors of preconditioners: z = M^-1 r.
 *
 * A preconditioner is one file solver/precond/NAME.c and one line in solver/precond/list.def (docs/add-preconditioner.md).
 * Its descriptor, kcl_precond_kind, says what it needs, sets up a kcl_preconditioner from A and records its application. A
 * kcl_preconditioner owns vectors and matrices. It is set up once per system and shared by the engines of all formats
 * and methods.
 */
#ifndef KCL_PRECOND_H
#define KCL_PRECOND_H

#include "core/program/ranks.h"

/* Requirements on A. All but those for least squares need a square one. */
enum {
  KCL_NEEDS_HERMITIAN = 1, /* A = A^H */
  KCL_NEEDS_POSITIVE = 2,  /* every diagonal entry real and positive */
  KCL_NEEDS_REAL = 4,      /* a real type */
  KCL_NEEDS_DEFINITE = 8   /* where A = A^H, a positive diagonal */
};

typedef struct kcl_preconditioner kcl_preconditioner;

/* The system to be set up, as far as a preconditioner may know it. Only set-up has it. */
typedef struct kcl_precond_request {
  kcl_context *ctx;
  const kcl_csr *A;                   /* lives as long as the preconditioner */
  const kcl_stats *stats;             /* of A */
  struct kcl_distinct_rows *distinct; /* of A (core/matrix/repeats.h), or NULL */
  const struct kcl_offset_runs *runs; /* of A (core/matrix/offset_runs.h), or NULL */
  bool hermitian, symmetric;
  const kcl_dense *near_null; /* kcl_options.near_null, of the system as given; or NULL */
  const int *col_power;       /* A's columns have been multiplied by 2 to these; NULL: by 1 */
  /* NULL; or A is the diagonal block of a rank, and these are the rest of its rows and, for methods that need them, of those of
   * A^H. */
  const kcl_halo *halo, *adjoint_halo;
  double norm_F;          /* |A|_F of all ranks; 0: of A */
  double tol;             /* relative, to be reached; 0: as small as may be */
  const char *parameters; /* kcl_options.parameters, for kcl_precond_value */
  /* An earlier one of this kind for this method, of another matrix with A's pattern; or NULL. */
  const kcl_preconditioner *before;
  const kcl_preconditioner *given; /* M that is there already, of this A or of another; or NULL */
} kcl_precond_request;

typedef struct kcl_precond_kind {
  const char *name, *summary, *source;
  unsigned needs;     /* KCL_NEEDS_... */
  bool symmetric;     /* M = M^H where A = A^H, and M = M^T where A = A^T */
  bool no_adjoint;    /* M^-H exists only where A = A^H */
  bool least_squares; /* with M->scale it stands for A^H A */
  bool multiplies;    /* apply multiplies by kcl_precond_system */
  bool hierarchy;     /* update keeps an interpolation, which suits other values less well */
  /* On several ranks the same M as on one: it needs no other ranks' rows, or asks for them. The others are set up on each rank
   * for the diagonal block of its own rows, whose products know nothing of other ranks. */
  bool whole;
  /* Parameters that users may set, ended by an entry without a name; NULL: nothing. Names are NAME.PARAMETER, the kind is WHOLE or REAL, a
   * default that depends on A is described in words. Preconditioners that share a list are neighbours in list.def. */
  const kcl_option *parameters;
  /* Bytes on the device, at most; A may not be there yet, its statistics and type are. NULL: a few vectors. */
  double (*bytes)(const kcl_precond_request *q);
  /* Begins, in the background, what set-up would have to wait for; type: of A by then. NULL: nothing. */
  void (*ahead)(kcl_context *ctx, const kcl_csr *A, kcl_type type);
  int (*setup)(kcl_preconditioner *M, const kcl_precond_request *q); /* NULL: nothing to do */
  /* Set-up for new values in the pattern of the matrix that q->before was set up for, with the parts of it that remain valid;
   * NULL: by setup. */
  int (*update)(kcl_preconditioner *M, const kcl_precond_request *q);
  /* Records z = M^-1 r, or M^-H r; z and r are different vectors, r is not written. NULL: M = I. */
  void (*apply)(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r, bool adjoint);
} kcl_precond_kind;

/* Figures that set-up reports. */
typedef struct kcl_precond_size {
  int levels;        /* matrices of systems, A among them; 1 for those of one level */
  double rows;       /* of all levels */
  double nonzeros;   /* of the levels' matrices */
  double complexity; /* nonzeros over those of A */
} kcl_precond_size;

typedef struct kcl_precond_vector {
  char name[KCL_NAME_ROOM];
  int64_t n;
  kcl_type type;
  void *values; /* [n]; NULL: */
  void *device; /* cl_mem, of the preconditioner's type, or of float if narrow */
  void (*free_device)(kcl_context *ctx, void *device);
  bool narrow; /* stored as float by programs in double */
} kcl_precond_vector;

/* A matrix, and its adjoint where that was asked for. */
typedef struct kcl_precond_matrix {
  kcl_stored *C, *CH;
} kcl_precond_matrix;

struct kcl_preconditioner {
  kcl_context *ctx;
  const kcl_precond_kind *kind;
  kcl_type type;             /* of A, and of programs that apply it */
  bool hermitian, symmetric; /* A = A^H, A = A^T */
  bool adjoint;              /* M^-H is applied, too */
  bool varies;               /* M differs from one application to the next */
  double tol;                /* to be reached; 0: as small as may be */
  /* Programs of type double apply it with narrow vectors where they can: z has the rounding of float. */
  bool narrow;
  double scale;               /* methods of least squares multiply by scale A; else 0 */
  kcl_precond_vector *vector; /* [vectors], owned */
  kcl_precond_matrix *matrix; /* [matrices], owned */
  /* The matrix it was set up for, owned, where programs of other matrices apply it; NULL: that is the program's. */
  kcl_stored *A;
  int vectors, matrices;
  kcl_stored *sample[KCL_MOST_EXPECTED]; /* [samples], owned: of all kinds that levels have */
  int samples;
  void *data; /* of kind, for apply; freed with free() */
  kcl_precond_size size;
  char note[160]; /* for reports, or empty */
  double seconds; /* of set-up */
  int sharers;    /* owners beyond the first */
};

/* ---- parameters: parameters.c */

/* The value that was set, or the default; `automatic` where that is described in words. */
double kcl_precond_value(const kcl_precond_request *q, const kcl_option *p, double automatic);
/* Sets or replaces a term of the text; an empty value removes it. False: there is no room. */
bool kcl_parameters_put(char text[KCL_PARAMETERS], const char *name, const char *value);

/* ---- for setup. Both take over what they are given, also when they fail; their numbers count from 0. */
int kcl_precond_add_vector(kcl_preconditioner *M, const char *name, int64_t n, kcl_type type,
                           void *values);
/* In the format that moves least; values are converted to M->type. adjoint: apply multiplies by C^H, too. */
int kcl_precond_add_matrix(kcl_preconditioner *M, kcl_csr *C, bool adjoint);
/* As kcl_precond_add_matrix, for one of many matrices: in one of the few formats that all levels have, so that they share kernels. narrow: in double, its
 * values are stored as float. */
int kcl_precond_add_level(kcl_preconditioner *M, kcl_csr *C, bool narrow);
/* M->sample for kcl_expect: a matrix of one entry of each kind that kcl_precond_add_level makes on GPUs. */
int kcl_precond_add_samples(kcl_preconditioner *M, bool narrow);
/* For levels that are made on the device: their format; and one in it, which M takes over. longest: entries of a row. */
int kcl_precond_level_format(const kcl_preconditioner *M, int64_t rows, int64_t nnz,
                             const kcl_format **out);
int kcl_precond_adopt(kcl_preconditioner *M, kcl_stored *C, int64_t longest);
/* One more, empty, to be filled in place. */
int kcl_precond_add_matrix_slot(kcl_preconditioner *M);
/* Matrix number i of another one, which both own. */
int kcl_precond_share_matrix(kcl_preconditioner *M, const kcl_preconditioner *from, int i);
/* buffer: cl_mem [n], also taken over, to be freed by free_buffer. */
int kcl_precond_adopt_vector(kcl_preconditioner *M, const char *name, int64_t n, void *buffer,
                             void (*free_buffer)(kcl_context *ctx, void *buffer));
void kcl_preconditioner_clear(kcl_preconditioner *M); /* of vectors and matrices */
/* 1 / a_ii, [rows] of type KCL_D, or KCL_Z for complex A; KCL_USAGE where one is none or 0. distinct, offsets: A's rows, or NULL. */
int kcl_precond_inverse_diagonal(kcl_preconditioner *M, const kcl_csr *A,
                                 const struct kcl_distinct_rows *distinct,
                                 const struct kcl_offset_runs *offsets, double **out);

/* ---- for apply */
static inline kcl_vec kcl_precond_constant(const kcl_program *k, int vector) {
  return k->precond_first + vector;
}

/* The matrix that M was set up for; for kinds that say `multiplies`. */
static inline kcl_stored *kcl_precond_system(kcl_program *k, const kcl_preconditioner *M) {
  return M->A ? M->A : kcl_A(k);
}

/* Is M^-H to be had? */
static inline bool kcl_precond_has_adjoint(const kcl_preconditioner *M) {
  return M->adjoint || (M->hermitian && M->kind->symmetric);
}

/* Matrix number i; or C^H, which is C itself unless that was asked for. */
static inline kcl_stored *kcl_precond_operator(const kcl_preconditioner *M, int i, bool adjoint) {
  return adjoint && M->matrix[i].CH ? M->matrix[i].CH : M->matrix[i].C;
}

/* ---- for those that use it; check and set-up: solver/precond/setup.h */
kcl_preconditioner *kcl_preconditioner_share(kcl_preconditioner *M); /* NULL of NULL */
void kcl_preconditioner_free(kcl_preconditioner **M);
double kcl_preconditioner_bytes(const kcl_preconditioner *M); /* vectors and matrices; 0 of NULL */
void kcl_preconditioner_bind(const kcl_preconditioner *M, kcl_program *k); /* k will apply M */

#endif
