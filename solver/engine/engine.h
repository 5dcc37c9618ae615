/* An engine: a system in a form that runs. It holds the operators in their storage formats, a method recorded over
 * them and the executor that runs it on the selected device. It is built, timed, exchanged and freed as a whole.
 *
 * An engine owns any number of operators of any sizes; the methods of today use A and A^H.
 */
#ifndef KCL_ENGINE_H
#define KCL_ENGINE_H

#include "core/program/executor.h"
#include "solver/engine/system.h"

typedef struct kcl_engine {
  kcl_context *ctx;
  uint64_t number; /* of this engine alone: a later one may have its address */
  const kcl_method *method;
  const kcl_precond_kind *precond;
  kcl_stored **operators; /* [operator_count], owned: A; A^H for methods that multiply by it */
  int operator_count;
  bool stale;             /* A is the operator of earlier values, until kcl_engine_refill */
  kcl_preconditioner *M;  /* shared; NULL: none */
  kcl_program *program;   /* the method, recorded */
  kcl_executor executor;  /* of this program, with its geometry on the device */
  double seconds_convert; /* from host CSR to the arrays of the formats */
  char kernel[128];       /* what runs, in one line for reports */
} kcl_engine;

/* The system's A by this method, A in this format. The system lives as long as the engine. A^H has the same format,
 * or, where formats are chosen here, the one that suits it. */
int kcl_engine_build(const kcl_system *s, const kcl_method *method, const kcl_precond_kind *precond,
                     const kcl_format *format, kcl_engine **out);
void kcl_engine_free(kcl_engine **e);
/* kcl_engine_build in two steps. A draft has its operators and composed kernels, and nothing is compiled: on an OpenCL device it tells how many
 * seconds that is expected to take, 0 where all is compiled or nothing is known. Completed, it is an engine; after a failure none. */
int kcl_engine_draft(const kcl_system *s, const kcl_method *method, const kcl_precond_kind *precond,
                     const kcl_format *format, kcl_engine **out);
double kcl_engine_compilation(const kcl_engine *draft);
int kcl_engine_complete(const kcl_system *s, kcl_engine **draft);

/* An engine whose kernels have passed the self-test of the driver, where that is asked for (selftest.c); else shorter ones. KCL_DEVICE, and
 * wrong_kernels of the context: none passes. */
int kcl_engine_build_tested(const kcl_system *s, const kcl_method *method,
                            const kcl_precond_kind *precond, const kcl_format *format,
                            kcl_engine **out);
int kcl_engine_complete_tested(const kcl_system *s, kcl_engine **draft);
/* Opens the executor anew, with kernels of this kind. */
int kcl_engine_reopen(kcl_engine *e, const kcl_system *s, kcl_fusion fusion);

/* In steps: an engine without operators; one more operator, the system's A, which lives as long as the engine, or one that it
 * shares; what runs, as text. */
int kcl_engine_create(kcl_context *ctx, const kcl_method *method, const kcl_precond_kind *precond,
                      kcl_engine **out);
int kcl_engine_add(kcl_engine *e, const kcl_format *format, const kcl_system *s);
int kcl_engine_share(kcl_engine *e, kcl_stored *A);
void kcl_engine_describe(kcl_engine *e, int asked_nrhs);

/* The end of a set-up of new values, which cannot fail: an operator taken over from the engine of the earlier ones gets those of the system.
 * That engine is not to run any more. Where A was built anew there is nothing to do. */
void kcl_engine_refill(kcl_engine *e, const kcl_system *s);

/* The adjoint of the system's matrix in this format, or in the one that suits it where formats are chosen here. */
int kcl_engine_adjoint(const kcl_system *s, const kcl_format *f, kcl_stored **out);

/* *f, that of A, becomes the format of AH, the adjoint. */
int kcl_engine_adjoint_format(const kcl_system *s, const kcl_csr *AH, const kcl_format **f);

/* The preconditioner of this name: that of the system's given M, which need not be in the registry, or any other. */
int kcl_system_precond_kind(const kcl_system *s, const char *name, const kcl_precond_kind **out);
/* M for this method, of those set up for the system or set up now; the caller frees it. NULL: M = I. */
int kcl_system_preconditioner(const kcl_system *s, const kcl_precond_kind *p, const kcl_method *m,
                              kcl_preconditioner **out);
/* M from one of `before`, which were set up for other values in A's pattern, with the parts that remain valid. */
int kcl_system_update_preconditioner(const kcl_system *s, const kcl_preconds *before,
                                     const kcl_precond_kind *p, const kcl_method *m,
                                     kcl_preconditioner **out);
/* Engines of other values are to apply M of this one: it gets A, with values of its own. values: of the system as given;
 * KCL_CHANGED: A is there with these alone, and they have been written over. */
int kcl_engine_release_precond(kcl_engine *e, const void *values, bool changed);
/* Frees what a later set-up of new values could use: preconditioners, and which rows repeat, values or offsets. */
void kcl_system_forget_kept(kcl_system *s);

/* b = A x alone (product.c): an engine without a method that shares A, nrhs columns per pass where A's format can. */
int kcl_engine_product(kcl_stored *A, int nrhs, kcl_engine **out);
/* y = A (scale x) on the host, both of this type; of an engine of one product. */
int kcl_engine_multiply(kcl_engine *e, kcl_type type, const void *x, double scale, void *y);
/* A shell (shell.c): statistics as they were declared; A and A^H as shared[], products; for methods of least squares, that with A^H,
 * and |A|_F. All ranks call the latter. */
kcl_stats kcl_shell_stats(const kcl_shell *A);
int kcl_shell_make_products(kcl_system *s);
int kcl_shell_prepare_least(const kcl_system *s);
void kcl_shell_free_products(kcl_system *s);
/* Seconds per pass over START, the mean over so many. */
int kcl_engine_time_product(kcl_engine *e, int times, double *seconds);

/* b = M^-1 x, or M^-H x, alone (application.c): START of an engine without a method that shares M, NULL: M = I; n elements. */
int kcl_engine_application(kcl_context *ctx, kcl_preconditioner *M, kcl_type type, int64_t n,
                           bool adjoint, kcl_engine **out);

/* The formats that accept A, by the seconds per iteration that are predicted for this method, the fastest first. */
int kcl_engine_predict(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                       kcl_rank list[KCL_MOST_FORMATS], int *count);
/* Predicted seconds with one format; NULL: with the fastest. Infinite where it does not accept A. */
int kcl_engine_predicted(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                         const char *format, double *seconds);

/* The format in which a product with the system's A alone is predicted to be the fastest, and why: [capacity]. The system's
 * statistics are those of A. */
int kcl_engine_choose(const kcl_system *s, const kcl_format **f, char *why, size_t capacity);

const char *kcl_engine_format(const kcl_engine *e);  /* of A: its name */
double kcl_engine_stored_bytes(const kcl_engine *e); /* of all operators, on the device */
/* To convert and upload, and to load programs; a first compilation is not counted, for it is not repeated. */
double kcl_engine_setup_seconds(const kcl_engine *e);
/* Moved per iteration of so many right-hand sides; 0: only what they share. */
double kcl_engine_bytes(const kcl_engine *e, int nrhs);
/* Enqueues passes over LOOP, and REPLACE at its interval, where the method has that phase and the executor does not run
 * it by itself. since: passes since the last REPLACE. */
int kcl_engine_advance(kcl_engine *e, int64_t passes, int64_t *since);
int64_t kcl_engine_until_replacement(const kcl_engine *e, int64_t since); /* passes */

/* Have two engines the same vectors, slots and stages? Then `to` can continue where `from` stands, between two passes
 * over LOOP with nothing enqueued. */
bool kcl_engine_same_program(const kcl_engine *a, const kcl_engine *b);
int kcl_engine_carry(kcl_engine *to, const kcl_engine *from);
/* b and x of every right-hand side, between engines of any two methods. */
int kcl_engine_copy_system(kcl_engine *to, kcl_engine *from);

/* Seconds per iteration of all right-hand sides, tests off, from a repeatable vector without structure; [repeats]. */
int kcl_engine_time(kcl_engine *e, int iterations, int repeats, double *seconds);
void kcl_timing_vector(double *v, int64_t n, int number); /* the vectors that it uses */
/* Tests off; the right-hand sides from `active` on are stopped. */
int kcl_timing_state(kcl_executor *ex, int active);

#endif
