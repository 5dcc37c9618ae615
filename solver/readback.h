/* x of a solve on an OpenCL device, read back from time to time, so that a device that is lost does not take the solve with it:
 *
 *   solver/readback.c            during the solve: the best x so far, at most 1 % of the time
 *   solver/fallback.c            the device is lost: another solver, on the native executor, continues from that x
 *   solver/checkpoint_resume.c   as from a checkpoint of another device
 *   solver/answer.c              without the option fallback: that x is the answer, its residual is recomputed
 */
#ifndef KCL_READBACK_H
#define KCL_READBACK_H

#include "solver/checkpoint/file.h"
#include "solver/solver.h"

typedef struct kcl_read_x { /* of one right-hand side */
  bool known;
  kcl_saved_rhs at; /* the loop when it was read */
  void *x;          /* [cols] of A's type, owned */
} kcl_read_x;

struct kcl_readback {
  double next; /* kcl_now() when it is due */
  kcl_read_x rhs[KCL_MAX_NRHS];
  void *room; /* [cols] for the next x, owned; or NULL */
};

/* The beginning of a solve: after each batch the loop asks whether x is due. Natively and on several ranks nothing is read. */
int kcl_readback_begin(kcl_solver *s, kcl_loop *l);
void kcl_readback_forget(kcl_solver *s); /* the x of it */
/* Did this failure come from the device of s, so that the host has all that is needed to go on or to end? */
bool kcl_device_lost(const kcl_solver *s, const kcl_rhs *v, int rc);
/* Goes on with these right-hand sides on the native executor, after rc; once it has, later solves begin there. Into the reports:
 * fell_back, lost_at, lost_why. */
bool kcl_may_fall_back(const kcl_solver *s);
int kcl_fall_back(kcl_solver *s, int nrhs, const kcl_rhs *list, int rc);
/* Ends the solve with the best x known and the reason KCL_DEVICE_LOST. */
int kcl_end_without_device(kcl_solver *s, kcl_loop *l);

#endif
