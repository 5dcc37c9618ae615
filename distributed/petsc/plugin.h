/* The plug-in libpetsckrylocl: the preconditioner PCKRYLOCL and the solver KSPKRYLOCL of PETSc over krylocl.h. PETSc loads it at run
 * time (-dll_append), so nothing of it is part of libkrylocl. How to use it: docs/petsc.md. */
#ifndef KCL_PETSC_PLUGIN_H
#define KCL_PETSC_PLUGIN_H

#include <krylocl_mpi.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#if PetscDefined(USE_REAL___FLOAT128) || PetscDefined(USE_REAL___FP16)
#error krylocl has single and double precision
#endif

/* The letter of PetscScalar. */
#if PetscDefined(USE_COMPLEX)
#define KCL_PETSC_TYPE (sizeof(PetscReal) == 4 ? 'c' : 'z')
#else
#define KCL_PETSC_TYPE (sizeof(PetscReal) == 4 ? 's' : 'd')
#endif

/* PetscCall of a function of krylocl: its message becomes PETSc's, its status the nearest error code. */
#define KCL_PETSC_CALL(...)                                                                        \
  do {                                                                                             \
    const int status_ = __VA_ARGS__;                                                               \
    PetscCheck(!status_, PETSC_COMM_SELF, kcl_petsc_code(status_), "krylocl: %s", kcl_error());    \
  } while (0)
PetscErrorCode kcl_petsc_code(int status);

/* ---------------------------------------------------------------- settings.c */

/* The options of an object: -pc_krylocl_... or -ksp_krylocl_... */
typedef struct kcl_petsc_settings {
  kcl_options *options;            /* of the set-up */
  char device[PETSC_MAX_PATH_LEN]; /* "": as KRYLOCL_DEVICE says */
  PetscInt threads;                /* 0: as many as there are processors */
  PetscInt keep;                   /* KCL_KEEP_... for values that changed */
  PetscBool copy;                  /* entries are copied, where they could be used in place */
} kcl_petsc_settings;

PetscErrorCode kcl_petsc_new_settings(kcl_petsc_settings *s);
/* Reads the options that begin with `prefix`; `none` names those of krylocl that the object has in another form, between blanks. */
PetscErrorCode kcl_petsc_read_settings(PetscOptionItems *items, const char *prefix,
                                       const char *none, kcl_petsc_settings *s);

/* ---------------------------------------------------------------- matrix.c */

/* Changes of a Mat since it was taken. */
typedef enum kcl_petsc_change {
  KCL_PETSC_SAME,
  KCL_PETSC_VALUES, /* other values in the same pattern */
  KCL_PETSC_ANEW    /* all may differ */
} kcl_petsc_change;

/* A Mat as a kcl_matrix: the entries of this rank's rows, in place where they can be; or products alone. */
typedef struct kcl_petsc_matrix {
  kcl_context *context;
  kcl_matrix *matrix;
  Mat mat;         /* what was taken */
  Mat rows;        /* the MATSEQAIJ whose arrays are used in place, or NULL: they were copied */
  int64_t *starts; /* its row starts in 64 bits, or NULL */
  const PetscScalar *val; /* its values */
  PetscObjectState values, pattern;
  PetscBool shell; /* products alone */
  Vec x, y;        /* of the products, without arrays; or NULL */
} kcl_petsc_matrix;

/* Brings m to the state of mat and returns the change. On several ranks, and with `copy`, entries are copied. A Mat without entries
 * becomes a matrix of products where `shell` is set, else it is refused. */
PetscErrorCode kcl_petsc_take(kcl_petsc_matrix *m, Mat mat, const kcl_petsc_settings *s,
                              PetscBool copy, PetscBool shell, kcl_petsc_change *change);
/* A solver of m on all ranks of its communicator; M on one rank alone, or NULL. */
PetscErrorCode kcl_petsc_solver(kcl_petsc_matrix *m, kcl_precond *M, const kcl_options *o,
                                kcl_solver **out);
/* Frees everything but the context. */
PetscErrorCode kcl_petsc_drop(kcl_petsc_matrix *m);
/* Does a Mat have entries, of AIJ or converted? */
PetscErrorCode kcl_petsc_has_entries(Mat mat, PetscBool *entries);
/* How many ranks share an object? */
int kcl_petsc_ranks(PetscObject o);

/* ---------------------------------------------------------------- shell.c */

/* m->matrix from MatMult of m->mat. */
PetscErrorCode kcl_petsc_products(kcl_petsc_matrix *m);
/* A preconditioner that calls PCApply; hermitian: M is declared Hermitian positive definite. x and y are vectors without arrays. */
typedef struct kcl_petsc_pc {
  PC pc;
  Vec x, y;
} kcl_petsc_pc;
PetscErrorCode kcl_petsc_precond(kcl_context *c, PC pc, PetscBool hermitian, kcl_petsc_pc *state,
                                 kcl_precond **out);
PetscErrorCode kcl_petsc_precond_free(kcl_petsc_pc *state, kcl_precond **M);

/* ---------------------------------------------------------------- pc.c, ksp.c, ksp_setup.c */

#define KCL_PETSC_NAME "krylocl"
/* Parts of a PCKRYLOCL that a KSPKRYLOCL uses without PETSc in between. */
typedef struct kcl_petsc_shared {
  kcl_context *context;
  kcl_precond *M;   /* NULL: an inner solve, which differs between applications */
  PetscInt created; /* how often M was made */
  PetscInt updated; /* how often M took other values */
} kcl_petsc_shared;
/* The function "PCKryloclShare_C" of a PC. */
typedef PetscErrorCode (*kcl_petsc_share)(PC, kcl_petsc_shared *);

/* KSP.data of a KSPKRYLOCL. */
typedef struct kcl_petsc_ksp {
  kcl_petsc_settings settings;
  kcl_petsc_matrix matrix;
  kcl_petsc_shared partner; /* of a PCKRYLOCL; M NULL: none */
  PetscBool partners;       /* the context is the partner's */
  kcl_petsc_pc state;       /* of any other PC in use */
  kcl_precond *M;           /* it */
  kcl_solver *solver;
  PetscInt certify;    /* KCL_CERTIFY_... of a solve */
  PetscInt use_pc;     /* 1, 0, or PETSC_DECIDE */
  PetscBool copy;      /* a preconditioner of earlier values multiplies by them */
  PetscBool replaying; /* monitors are called after the solve */
} kcl_petsc_ksp;
/* The solver for what matrix and PC are; nothing is done where they are as they were. */
PetscErrorCode kcl_petsc_prepare(KSP ksp);
/* Frees all of it but the options. */
PetscErrorCode kcl_petsc_ksp_reset(KSP ksp);

PetscErrorCode kcl_petsc_pc_create(PC pc);
PetscErrorCode kcl_petsc_ksp_create(KSP ksp);
/* Prints method, preconditioner, format and device of a solver. */
PetscErrorCode kcl_petsc_view_solver(kcl_solver *s, kcl_context *c, PetscViewer v);

#endif
