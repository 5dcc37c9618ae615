/* Stages of the OpenCL executor on several ranks (core/program/ranks.h): after a stage with dots the host reads the partial sums, adds
 * them over the ranks and passes them to the next launch as an argument. A rank whose device fails takes part until the next
 * sum, which reports the failure to all.
 */
#include "core/opencl/run/run.h"
#include <sched.h>

enum { MOST_RANK_SUMS = 2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS + 1 };

/* Partial sums of a stage on the device (kernels/stage.clh), and on the host: [sums, partials_max] scalars. */
typedef struct device_partials {
  int sums, parts; /* of the stage; real numbers of each */
  size_t groups;   /* of its launch */
  int halo, end;   /* sums to which the halo has added, from halo to before end; and its groups */
  size_t more;
  size_t at, bytes,
      whole; /* bytes in r->states, control blocks first; of a sum; of all sums in use */
} device_partials;

static device_partials partials_of(const kcl_run *r, const kcl_stage *s, const kcl_launch *l) {
  const size_t bytes = (size_t)r->geometry.partials_max * r->scalar_bytes;
  device_partials p = {.sums = kcl_stage_dots(s) * r->width,
                       .parts = (int)(r->scalar_bytes / r->real_bytes),
                       .groups = l->groups,
                       .at = kcl_run_state(r),
                       .bytes = bytes};
  int number;
  if (kcl_stage_halo_dot(s, &number)) {
    p.halo = number * r->width, p.end = p.halo + r->width;
    p.more = kcl_halo_groups(r, s->A->halo);
  }
  p.whole = (size_t)(p.sums - 1) * bytes + (p.groups + p.more) * r->scalar_bytes;
  return p;
}

/* The address of real number i of sum d. */
static char *partial_at(const kcl_run *r, const device_partials *p, int d, size_t i) {
  return r->ranks.partial + (size_t)d * p->bytes + i * r->real_bytes;
}

/* Have all right-hand sides of this rank stopped, by the control blocks that came with the sums? */
static bool own_stopped(const kcl_run *r) {
  const kcl_control *c = r->ranks.sums.data;
  bool stopped = true;
  for (int i = 0; i < r->width; i++) stopped = stopped && c[i].stop && !c[i].cycle_open;
  return stopped;
}

/* Real numbers that a stage left for sum d. */
static size_t reals_of(const device_partials *p, int d) {
  const bool completed = d >= p->halo && d < p->end;
  return (p->groups + (completed ? p->more : 0)) * (size_t)p->parts;
}

/* Stores the sums over all ranks, all [sums, parts], for the next stage. */
static void store_totals(kcl_run *r, const device_partials *p, const double *all) {
  kcl_copy(r->real_bytes == 4 ? KCL_S : KCL_D, r->ranks.total, KCL_D, all, p->sums * p->parts, 1);
  r->ranks.totals = p->sums;
}

/* Writes each total as the sum of its first group, the only one that is read (make_kernel in launch.c). */
int kcl_run_leave_sums(kcl_run *r, int status) {
  const size_t to[3] = {kcl_run_sums(r), 0, 0}, from[3] = {0},
               region[3] = {r->scalar_bytes, (size_t)r->ranks.totals, 1},
               stride = (size_t)r->geometry.partials_max * r->scalar_bytes;
  if (!r->ranks.totals || status) return status;
  r->ranks.totals = 0;
  return kcl_cl_check(run_context(r),
                      clEnqueueWriteBufferRect(run_queue(r), r->states, CL_FALSE, to, from, region,
                                               stride, 0, r->scalar_bytes, 0, r->ranks.total, 0,
                                               NULL, NULL),
                      "clEnqueueWriteBufferRect", "adding over ranks");
}

/* Adds `count` reals to sum[0]; parts 2: the even ones to sum[0], the odd ones to sum[1]. AT_ONCE independent sums, so that
 * additions do not wait for each other. */
static void add_up_reals(const void *values, size_t real_bytes, size_t count, int parts,
                         double *sum) {
  enum { AT_ONCE = 8 };
  const float *single = values;
  const double *twice = values;
  double some[AT_ONCE] = {0};
  const size_t whole = count / AT_ONCE * AT_ONCE;
  for (size_t i = 0; i < whole; i += AT_ONCE)
    for (size_t j = 0; j < AT_ONCE; j++)
      some[j] += real_bytes == 4 ? (double)single[i + j] : twice[i + j];
  for (size_t i = whole; i < count; i++)
    some[i - whole] += real_bytes == 4 ? (double)single[i] : twice[i];
  for (int i = 0; i < AT_ONCE; i++) sum[parts == 2 ? i % 2 : 0] += some[i];
}

/* Adds the groups' sums over the ranks; with them, where all ranks run this executor, the number of ranks that have stopped. */
static int sum_groups(kcl_run *r, kcl_ranks *ranks, const device_partials *p, int status,
                      double *all) {
  const int n = p->sums * p->parts;
  for (int d = 0; d < p->sums && !status; d++)
    add_up_reals(partial_at(r, p, d, 0), r->real_bytes, reals_of(p, d), p->parts,
                 all + d * p->parts);
  all[n] = own_stopped(r);
  status = ranks->sum(ranks, status, n + r->ranks.ends, all);
  r->ranks.stopped = r->ranks.ends && all[n] == ranks->count;
  return status;
}

/* Adds partial sums over the ranks by group: groups are the fixed row blocks of reproducible sums. */
static int sum_group_blocks(kcl_run *r, kcl_ranks *ranks, const device_partials *p, int status,
                            double *all) {
  double *own = r->ranks.block;
  for (int d = 0; d < p->sums; d++)
    for (size_t i = 0; i < p->groups * (size_t)p->parts; i++) {
      const size_t group = i / (size_t)p->parts, n = (size_t)(d * p->parts) + i % (size_t)p->parts;
      own[n * p->groups + group] = run_real_at(r, partial_at(r, p, d, i));
    }
  return ranks->sum_blocks(ranks, status, r->real_bytes == sizeof(float), p->sums * p->parts,
                           (int64_t)p->groups, own, all);
}

/* ---- reading them. The host sees the last bytes of a read arrive 6 us before the driver tells it (NVIDIA H100). */

/* No sum has these bits: a NaN that no operation makes. */
static void mark_unread(const kcl_run *r, const device_partials *p) {
  memset(r->ranks.sums.data, 0, (size_t)r->width * sizeof(kcl_control)); /* not stopped */
  memset(r->ranks.partial, 0xFF, p->whole);
}

/* How many of these reals have arrived, counted from the first. */
static size_t arrived(const volatile void *real, size_t real_bytes, size_t count) {
  const volatile uint32_t *single = real;
  const volatile uint64_t *twice = real;
  size_t i = 0;
  while (real_bytes == 4 && i < count && single[i] != UINT32_MAX) i++;
  while (real_bytes == 8 && i < count && twice[i] != UINT64_MAX) i++;
  return i;
}

/* Waits until all reals of sum d have arrived, or the read has ended. */
static cl_int await_sum(const kcl_run *r, const device_partials *p, int d, cl_event read) {
  enum { LOOKS = 4096 }; /* at memory, for each at the event */
  const size_t count = reals_of(p, d);
  cl_int state = CL_SUBMITTED, code = CL_SUCCESS;
  unsigned looks = 0;
  kcl_wait wait = {0};
  for (size_t i = 0; !code && state > CL_COMPLETE;) {
    i += arrived(partial_at(r, p, d, i), r->real_bytes, count - i);
    if (i == count) break;
    if (++looks % LOOKS) continue;
    code = clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (!code && !kcl_wait_goes_on(run_context(r)->opencl, &wait)) code = KCL_CL_LOST;
    sched_yield();
  }
  return code ? code : state < 0 ? state : CL_SUCCESS;
}

static cl_int read_polling(const kcl_run *r, const device_partials *p) {
  cl_event read;
  mark_unread(r, p);
  const size_t bytes = kcl_poll_bytes(r->k) + p->whole;
  cl_int code = clEnqueueReadBuffer(run_queue(r), r->states, CL_FALSE, p->at, bytes,
                                    r->ranks.sums.data, 0, NULL, &read);
  if (code) return code;
  kcl_profile_keep(run_context(r)->opencl, read, "read", bytes);
  code = clFlush(run_queue(r));
  for (int d = 0; d < p->sums && !code; d++) code = await_sum(r, p, d, read);
  atomic_thread_fence(memory_order_acquire);
  clReleaseEvent(read);
  return code;
}

static cl_int read_partials(const kcl_run *r, const device_partials *p) {
  const size_t bytes = kcl_poll_bytes(r->k) + p->whole;
  if (r->group > 1) return read_polling(r, p);
  return kcl_opencl_read_pinned(run_context(r), r->states, p->at, bytes, r->ranks.sums.data);
}

/* Adds the partial sums of a stage's groups over all ranks. */
static int sum_over_ranks(kcl_run *r, kcl_ranks *ranks, const device_partials *p, cl_int code) {
  double all[MOST_RANK_SUMS] = {0};
  if (!code) code = read_partials(r, p);
  int status = kcl_cl_check(run_context(r), code, "clEnqueueReadBuffer", "adding over ranks");
  status = (ranks->sum_rows ? sum_group_blocks : sum_groups)(r, ranks, p, status, all);
  if (!status) store_totals(r, p, all);
  return r->ranks.as_argument ? status : kcl_run_leave_sums(r, status);
}

/* Reports an earlier failure of this rank to the others. */
static int tell_failure(const kcl_run *r, kcl_ranks *ranks, const device_partials *p, int status) {
  double nothing[MOST_RANK_SUMS] = {0};
  const int n = p->sums * p->parts;
  if (ranks->sum_rows)
    return ranks->sum_blocks(ranks, status, false, n, (int64_t)p->groups, NULL, nothing);
  return ranks->sum(ranks, status, n + r->ranks.ends, nothing);
}

static kcl_exchange *exchange_of(const kcl_run *r, const kcl_stage *s) {
  return kcl_stage_halo(s) ? &r->ranks.of[kcl_applied_of(r->k, s->A) - r->k->op] : NULL;
}

int kcl_run_stage_on_ranks(kcl_run *r, const kcl_stage *s, const kcl_launch *l, int status) {
  kcl_ranks *ranks = kcl_program_ranks(r->k);
  const kcl_exchange *e = exchange_of(r, s);
  cl_int code = CL_SUCCESS;
  if (e)
    code = kcl_halo_run(r, e, s, l, !status);
  else if (!status)
    code = kcl_run_enqueue(r, l);
  if (!status) status = kcl_cl_check(run_context(r), code, "clEnqueueNDRangeKernel", "iterating");
  r->ranks.totals = 0; /* this stage had them */
  if (!kcl_stage_dots(s)) return status;
  const device_partials p = partials_of(r, s, l);
  return status ? tell_failure(r, ranks, &p, status) : sum_over_ranks(r, ranks, &p, code);
}

/* A second queue for transfers, with the properties of the first. */
static int open_transfers(kcl_run *r) {
  const kcl_opencl *o = run_context(r)->opencl;
  cl_command_queue_properties like = 0;
  cl_int code = clGetCommandQueueInfo(o->queue, CL_QUEUE_PROPERTIES, sizeof like, &like, NULL);
  like &= ~(cl_command_queue_properties)CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  if (!code) r->ranks.transfers = clCreateCommandQueue(o->context, o->device, like, &code);
  return kcl_cl_check(run_context(r), code, "clCreateCommandQueue", "a queue for halos");
}

/* Do batches end when all ranks have stopped? Not with reproducible sums, which have a message of their own, and not beside native
 * executors, which do not send the number of stopped ranks. */
static bool ends_together(const kcl_ranks *ranks) { return !ranks->sum_rows && !ranks->unlike; }

/* Pinned memory: control blocks and slots, partial sums, totals. */
static int pin_sums(kcl_run *r, size_t sums) {
  const size_t head = kcl_poll_bytes(r->k), partial = sums * r->scalar_bytes,
               total = (size_t)(kcl_program_dots(r->k) * r->width) * r->scalar_bytes;
  KCL_CALL(kcl_opencl_pin_host(run_context(r), head + partial + total, "sums", &r->ranks.sums));
  r->ranks.partial = (char *)r->ranks.sums.data + head;
  r->ranks.total = r->ranks.partial + partial;
  return KCL_OK;
}

int kcl_run_open_ranks(kcl_run *r) {
  const size_t sums =
      (size_t)kcl_program_dots(r->k) * (size_t)r->width * (size_t)r->geometry.partials_max;
  KCL_CALL(open_transfers(r));
  KCL_CALL(
      kcl_alloc(run_context(r), r->k->ops, sizeof *r->ranks.of, "halos", (void **)&r->ranks.of));
  for (int i = 0; i < r->k->ops; i++)
    if (r->k->op[i].matrix->halo)
      KCL_CALL(kcl_halo_open(r, r->k->op[i].matrix->halo, &r->ranks.of[i]));
  KCL_CALL(pin_sums(r, sums));
  r->ranks.ends = ends_together(kcl_program_ranks(r->k));
  r->ranks.as_argument = kcl_sums_are_argument(r->k);
  if (r->geometry.sum_block)
    KCL_CALL(kcl_alloc(run_context(r), (int64_t)sums, 2 * sizeof(double), "partial sums",
                       (void **)&r->ranks.block));
  return KCL_OK;
}

void kcl_run_close_ranks(kcl_run *r) {
  for (int i = 0; r->ranks.of && i < r->k->ops; i++) kcl_halo_close(&r->ranks.of[i]);
  free(r->ranks.of);
  if (r->ranks.transfers) clFinish(r->ranks.transfers), clReleaseCommandQueue(r->ranks.transfers);
  kcl_opencl_unpin_host(run_context(r), &r->ranks.sums);
  free(r->ranks.block);
}
