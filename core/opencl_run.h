/* What the two files that run programs on a device share: opencl_run.c, a kernel a stage, and opencl_stay.c. */
#ifndef KCL_OPENCL_RUN_H
#define KCL_OPENCL_RUN_H

#include "core/opencl.h"

enum {
  MOST_LOOKS = 2,
  STAY_LEAST = 96 /* passes: a launch of the kernel that stays costs as much as four */
};

typedef struct launch {
  cl_kernel kernel;
  size_t groups;
  cl_kernel prepare; /* before the product, or NULL */
  size_t prepare_groups;
  cl_mem zeroed; /* a scatter's y */
  size_t zeroed_bytes;
} launch;

typedef struct run {
  kcl_program *k;
  int width; /* columns in an element of a vector */
  cl_program program;
  kcl_geometry geometry;
  cl_mem *vec;            /* [vectors] */
  cl_mem states, history; /* states: both copies of the state, then letters of products */
  size_t state_bytes, scalar_bytes, real_bytes, group;
  cl_uint number; /* of the next launch; its last bit: which copy of the state is its input */
  launch *launch[KCL_PHASES];
  struct {
    cl_program program;
    cl_kernel kernel; /* NULL: none */
    kcl_geometry geometry;
    size_t groups;
    int64_t piece,
        reach; /* rows a group; how far from its row number a column may be, or columns a list */
    int64_t window;         /* scalars of x that a group keeps in local memory */
    kcl_matrix *near;       /* A with columns as positions in lists, or NULL */
    cl_mem box, list, from; /* list: each group's columns, beginning at from */
    cl_mem *shown;          /* [vectors]; two copies of what products gather, as others read it */
    cl_uint number;         /* of barriers used up */
    cl_int since;           /* passes, since START or REPLACE */
  } stay;
  int64_t enqueued[KCL_MOST_COLUMNS]; /* iterations that may have been made */
  bool idle[KCL_MOST_COLUMNS];        /* stopped when the state was set */
  struct {
    cl_kernel in, out;
    cl_mem values;          /* one column on its way */
  } column;                 /* NULL when there is only one */
  cl_mem pinned;            /* host memory the device writes to without a copy: */
  char *mirror[MOST_LOOKS]; /* head and slots after a batch */
  char *history_mirror;     /* [width, KCL_HISTORY, KCL_LOG] reals */
  cl_event ready[MOST_LOOKS];
  int first, looks; /* the ring of outstanding looks */
  double seconds_upload;
} run;

static inline kcl *context(const run *r) { return r->k->ctx; }
static inline cl_command_queue queue(const run *r) { return r->k->ctx->opencl->queue; }

/* ---- of opencl_run.c */
size_t kcl_run_groups(const run *r, const kcl_stage *s); /* work-groups of a stage's kernel */
cl_int kcl_run_set_index(const run *r, cl_kernel kernel, cl_uint i, int64_t value);
/* From argument i on, which goes on. */
cl_int kcl_run_set_matrix(const run *r, cl_kernel kernel, cl_uint *i, const kcl_matrix *A);
size_t kcl_run_state(const run *r);              /* where in r->states the latest is */
cl_int kcl_run_number(run *r, cl_kernel kernel); /* argument 1; argument 0 is r->states */
int kcl_run_build(run *r, const kcl_geometry *g, cl_program *out); /* composed and compiled */

/* ---- of opencl_stay.c */
bool kcl_stay_wanted(run *r); /* decides, and how: r->stay.geometry */
int kcl_stay_open(run *r);    /* compiles it, r->stay.kernel; kcl_stay_close also after a failure */
void kcl_stay_close(run *r);
cl_int kcl_stay_enqueue(run *r, int64_t times); /* so many passes of LOOP */
/* KCL_OK, or KCL_DEVICE when a group did not come to a barrier. *lost: they were not resident together and have
 * touched nothing; the kernel is closed, go on without. Waits for the device. */
int kcl_stay_check(run *r, bool *lost);
#endif
