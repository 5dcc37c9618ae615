/* How a program is laid out on a device, and which kernel carries out which of its stages: all that its source depends on. */
#ifndef KCL_OPENCL_GEOMETRY_H
#define KCL_OPENCL_GEOMETRY_H

#include "core/program/program.h"

enum { KCL_HALO_GROUPS = 256 }; /* that complete a product, at most (kernels/halo.cl) */
/* How a program is laid out on a device (geometry.c), which its source depends on. */
typedef struct kcl_geometry {
  int group, groups_max; /* work-items per work-group; most groups of a launch */
  int partials_max; /* partial sums of a dot: one per group, and on ranks one per group of the halo */
  int registers;    /* per work-item, where the compiler can be told; 0: its own choice */
  bool streamed;   /* the matrix is read by streaming loads, so that vectors stay in the L2 cache */
  int block;       /* elements per block of a fused loop, CPU layout */
  int sum_block;   /* rows of each work-group, where sums have a fixed shape; 0: any */
  bool wide_index; /* counts beyond 2^31 */
  bool without_loop; /* LOOP and REPLACE are in the persistent kernel: not compiled separately */
  int series_groups; /* work-groups of a series (series.c), all resident; 0: there are no series */
  int series_bytes;  /* that a stage of one moves, at most */
  bool series;       /* the source holds series, not stages */
  bool interpreted;  /* the interpreter carries out all stages (kernels/interpreter.cl) */
  /* The persistent kernel: all of LOOP in one launch. What follows is about it. */
  bool persistent;
  bool local_halo;              /* the halo of a group's rows fits in its local memory */
  const kcl_stored *renumbered; /* A with columns as positions in halo lists; NULL: a range of x */
  bool cached_x;                /* without local_halo: x is read through the L1 cache */
  int rows_per_item;            /* elements per work-item */
  bool in_registers;            /* vectors of LOOP are kept in registers */
  bool overlaps; /* products are computed while reductions are in flight, row sums in registers */
  bool reducing_group; /* one group without rows adds up the dots */
} kcl_geometry;
kcl_geometry kcl_choose_geometry(const kcl_program *k); /* for one launch per stage */
size_t kcl_poll_bytes(const kcl_program *k);            /* of a state: control blocks and slots */
size_t kcl_state_bytes(const kcl_program *k, const kcl_geometry *g);
bool kcl_sums_are_argument(const kcl_program *k); /* those over ranks, of kernels */

/* ---- interpreter_plan.c */
/* Can the interpreter carry out the program? One right-hand side, matrices in csr-scalar, vectors of the program's type. */
bool kcl_interpreter_suits(const kcl_program *k, const kcl_geometry *g);
size_t kcl_interpreter_local_bytes(const kcl_program *k, const kcl_geometry *g); /* an argument */

/* ---- parts.c, stage_shared.c */
/* Where the kernel of each stage is (parts.c): stage `number` of `phase` owns it, and it is called stage_PHASE_NUMBER, or
 * stage_shared where it is alone in its part. */
typedef struct kcl_stage_kernel {
  int phase, number, part;
  bool alone;
} kcl_stage_kernel;
typedef struct kcl_parts {
  kcl_stage_kernel *of[KCL_PHASES]; /* [stages] */
  int count;                        /* of parts: programs that are compiled at once */
} kcl_parts;
int kcl_parts_find(const kcl_program *k, const kcl_geometry *g, kcl_parts *out);
void kcl_parts_free(kcl_parts *p);
/* Has the stage a kernel of its own? Not within the persistent kernel or a series. */
bool kcl_stage_compiled(const kcl_program *k, const kcl_geometry *g, int phase, int number);
/* Stages of the preconditioner that differ in their vectors and in the contents of their matrix share a kernel, or in series
 * a function: the first such stage's, which has the number *phase, *number afterwards. Stages that the persistent kernel
 * replaces have none. */
void kcl_stage_shared(const kcl_program *k, const kcl_geometry *g, int *phase, int *number);

/* ---- stage_turns.c: stages that differ in the number of turns of their loops and share a kernel, that of their leader */
/* Is the stage's kernel told the number of turns? On CPUs, and on GPUs in long programs; not on ranks, nor in the persistent kernel. */
bool kcl_stage_counts_turns(const kcl_program *k, const kcl_geometry *g, int phase, int number);
int kcl_stage_leader(const kcl_program *k, const kcl_geometry *g, int phase, int number);
enum { KCL_MOST_LEADER_SLOTS = 320 };
/* The arguments of a kernel for a stage that it serves: of the leader's vectors and slots, in order of their first use, what stands
 * for them in that stage. A vector of a turn that it has not is any one that the stage reads. */
typedef struct kcl_turns_arguments {
  kcl_vec vector[KCL_MOST_STAGE_VECTORS];
  short slot[KCL_MOST_LEADER_SLOTS];
  int vectors, slots, turns, turns_before; /* turns of the stage, and of the stage before it */
} kcl_turns_arguments;
bool kcl_stage_serves(const kcl_program *k, int phase, int leader, int number,
                      kcl_turns_arguments *out);

/* ---- series_plan.c: stages that may share a kernel; stages that one launch carries out together */
bool kcl_stage_can_share(const kcl_program *k, int phase, int number);
/* Work-items per row in a series: one of few numbers, so that hierarchies have the same source; 1 where rows would be added up
 * in local memory. */
int kcl_series_lanes(const kcl_program *k, const kcl_stored *A);
/* May it differ between products that share a kernel, which is told it? */
bool kcl_lanes_vary(const kcl_program *k, const kcl_stored *A);
/* Stages of a series have at most so many arrays and integers of a matrix, and vectors. */
enum { KCL_SERIES_MATRIX = 8, KCL_SERIES_VECTORS = 12 };
bool kcl_series_suits(const kcl_program *k, int phase, int number); /* if it is small enough? */
bool kcl_series_uses_slots(const kcl_program *k); /* as coefficients, in any of these */
bool kcl_stage_in_series(const kcl_program *k, const kcl_geometry *g, int phase, int number);
/* The next such stage after this one, (0, -1) at first; false: there is none. */
bool kcl_series_next(const kcl_program *k, const kcl_geometry *g, int *phase, int *number);
/* Stages of the series that begins with this one; 0: none does. */
int kcl_series_length(const kcl_program *k, const kcl_geometry *g, int phase, int number);

#endif
