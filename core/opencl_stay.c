/* The kernel that stays, as the host sees it: when to have it, how rows and columns are shared out among its
 * groups, its arguments, and what happens when its groups do not meet. Its text: core/codegen_stay.c and
 * kernels/grid.clh. */
#include "core/opencl_run.h"
#include "core/pieces.h"
#include <stdlib.h>
#include <string.h>

/* Where launches cost more than what the groups say to each other: when an iteration moves less than STAY_BYTES
 * and its vectors are in registers, or a group's piece of one is below STAY_PIECE; measured on an H200.
 * KRYLOCL_STAY=0 or 1 decides instead; for tests 2 is 1 with x always in global memory, 3 with columns
 * numbered anew wherever that can be. Other makers' devices
 * promise no progress to groups that wait for each other.
 */
enum {
  STAY_BYTES = 48000000,
  STAY_PIECE = 20000,
  NEAR_ENTRIES = 12, /* in a row: from so many on x is read through the first-level cache */
  LISTED_ENTRIES =
      2000000, /* of matrices whose columns are numbered anew, which takes a pass on the host */
  HELD_BYTES = 256, /* a work-item, of vectors in registers */
  EARLY_BYTES = 128 /* a work-item, of products done before the scalars are known */
};

static char stay_word(void) {
  const char *word = getenv("KRYLOCL_STAY");
  return word ? *word : 0;
}

/* Scalars of x that fit in a group's local memory beside the rest of the kernel that stays. */
static int64_t window_room(const run *r, const kcl_geometry *g) {
  cl_ulong room = 0;
  clGetDeviceInfo(context(r)->opencl->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof room, &room, NULL);
  return (int64_t)(room / r->scalar_bytes) - g->group * kcl_at_once(kcl_program_dots(r->k)) -
         r->k->slots - 64;
}

/* One group a compute unit, so that all are sure to be resident together; each but one that only adds has a piece of
 * the rows. */
static void cut_rows(run *r, kcl_geometry *g) {
  const kcl_program *k = r->k;
  const kcl_opencl *o = context(r)->opencl;
  int64_t rows = g->group / k->A->lanes, most = o->small_groups ? 1 : o->units - g->adding;
  int64_t groups = (k->n * k->A->lanes + 63) / 64; /* at least two warps of work each */
  if (groups > most) groups = most;
  if (groups < 1) groups = 1;
  r->stay.piece = (k->n + groups - 1) / groups;
  if (r->stay.piece > rows) r->stay.piece = (r->stay.piece + 31) / 32 * 32; /* whole warps */
  r->stay.groups = (size_t)((k->n + r->stay.piece - 1) / r->stay.piece + g->adding);
  g->rounds = (int)((r->stay.piece + rows - 1) / rows);
}

static kcl_geometry stay_geometry(run *r) {
  const kcl_program *k = r->k;
  const kcl_opencl *o = context(r)->opencl;
  kcl_geometry g = r->geometry;
  int held = 0;
  g.stays = true, g.group = o->small_groups ? g.group : 512;
  g.early = kcl_loop_comes_early(k), g.adding = g.early && o->is_nvidia;
  cut_rows(r, &g);
  if (g.rounds * (int)r->scalar_bytes > EARLY_BYTES) g.early = g.adding = false, cut_rows(r, &g);
  r->stay.reach = kcl_reach(k->A->source); /* and that of A^H */
  r->stay.window = r->stay.piece + 2 * r->stay.reach;
  g.window = r->stay.window <= window_room(r, &g) && stay_word() != '2';
  g.cached = k->A->nnz >= NEAR_ENTRIES * k->n;
  for (kcl_vec v = 0; v < k->vectors; v++) held += kcl_phase_uses(k, KCL_LOOP, v);
  g.held = g.rounds * held * (int)r->scalar_bytes <= HELD_BYTES;
  return g;
}

bool kcl_stay_wanted(run *r) {
  const kcl_program *k = r->k;
  if (r->group == 1 || !kcl_can_stay(k) || stay_word() == '0') return false;
  bool small =
      context(r)->opencl->is_nvidia && kcl_program_bytes(k, KCL_LOOP, 1) / k->steps < STAY_BYTES;
  if (!small && !stay_word()) return false;
  r->stay.geometry = stay_geometry(r);
  return stay_word() || r->stay.geometry.held ||
         (size_t)r->stay.piece * r->scalar_bytes < STAY_PIECE;
}

static cl_int set_stay_arguments(run *r) {
  const kcl_program *k = r->k;
  const kcl_matrix *both[] = {k->A, k->AH};
  const kcl_stage *before = kcl_stage_before(k, KCL_LOOP, 0);
  cl_kernel kernel = r->stay.kernel;
  cl_int groups = before ? (cl_int)kcl_run_groups(r, before) : 1;
  cl_uint i = 10;
  cl_int code = clSetKernelArg(kernel, 0, sizeof(cl_mem), &r->states);
  code |= clSetKernelArg(kernel, 2, sizeof(cl_mem), &r->history);
  code |= kcl_run_set_index(r, kernel, 3, k->n);
  code |= clSetKernelArg(kernel, 4, sizeof groups, &groups);
  code |= clSetKernelArg(kernel, 5, sizeof(cl_mem), &r->stay.box);
  code |= kcl_run_set_index(r, kernel, 9, r->stay.piece);
  for (int m = 0; m < 2; m++)
    if (both[m])
      code |= kcl_run_set_matrix(r, kernel, &i, m == 0 && r->stay.near ? r->stay.near : both[m]);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_stay_uses(k, v)) code |= clSetKernelArg(kernel, i++, sizeof(cl_mem), &r->vec[v]);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (r->stay.shown[v]) code |= clSetKernelArg(kernel, i++, sizeof(cl_mem), &r->stay.shown[v]);
  code |= kcl_run_set_index(r, kernel, i++, r->stay.reach);
  if (r->stay.geometry.window)
    code |= clSetKernelArg(kernel, i++, (size_t)r->stay.window * r->scalar_bytes, NULL);
  if (r->stay.list) code |= clSetKernelArg(kernel, i++, sizeof(cl_mem), &r->stay.list);
  if (r->stay.list) code |= clSetKernelArg(kernel, i++, sizeof(cl_mem), &r->stay.from);
  return code;
}

static int filled_buffer(run *r, int64_t count, const int32_t *values, cl_mem *out) {
  const kcl_upload u = {1, count * (int64_t)sizeof *values, kcl_fill_bytes, values};
  int rc = kcl_opencl_buffer(context(r), (size_t)u.count, "columns of pieces", out);
  return rc ? rc : kcl_opencl_write(context(r), *out, &u, "columns of pieces");
}

/* Numbers columns anew where a range of x that holds a piece's columns is too long or has few of them. */
static int list_columns(run *r) {
  const kcl_matrix *A = r->k->A;
  kcl_geometry *g = &r->stay.geometry;
  kcl_pieces p = {0};
  int64_t room = window_room(r, g);
  int rc;
  bool may = A->format->any_columns && !r->k->AH && stay_word() != '2';
  bool should = A->nnz <= LISTED_ENTRIES && (!g->window || r->stay.window > 4 * g->group);
  if (!may || !(should || stay_word() == '3')) return KCL_OK;
  KCL_TRY(kcl_pieces_find(context(r), A->source, r->stay.piece, room, &p));
  if (!p.count || (g->window && 2 * p.most > r->stay.window && stay_word() != '3')) goto done;
  KCL_TRY(kcl_matrix_build(context(r), A->format, &p.A, &r->stay.near));
  KCL_TRY(kcl_opencl_upload(r->stay.near));
  KCL_TRY(filled_buffer(r, p.count + 1, p.from, &r->stay.from));
  KCL_TRY(filled_buffer(r, p.from[p.count], p.column, &r->stay.list));
  g->window = true, g->near = r->stay.near, r->stay.window = p.most;
done:
  kcl_pieces_free(&p);
  return rc;
}

int kcl_stay_open(run *r) {
  const kcl_program *k = r->k;
  cl_int code;
  int rc;
  size_t bytes = 2 * (size_t)kcl_most_dots(k) * (r->stay.groups + 1) * 2 * r->scalar_bytes +
                 r->stay.groups * sizeof(cl_uint);
  KCL_TRY(list_columns(r));
  KCL_TRY(kcl_opencl_buffer(context(r), bytes, "sums", &r->stay.box));
  KCL_TRY(
      kcl_alloc(context(r), k->vectors, sizeof *r->stay.shown, "vectors", (void **)&r->stay.shown));
  for (int v = 0; v < k->vectors; v++)
    if (kcl_stay_gathers(k, v))
      KCL_TRY(kcl_opencl_buffer(context(r),
                                (r->stay.geometry.window ? 4 : 2) * r->scalar_bytes * (size_t)k->n,
                                "a vector's copies", &r->stay.shown[v]));
  KCL_TRY(kcl_run_build(r, &r->stay.geometry, &r->stay.program));
  r->stay.kernel = clCreateKernel(r->stay.program, "stay", &code);
  KCL_TRY(kcl_cl_check(context(r), code, "clCreateKernel", "stay"));
  KCL_TRY(kcl_cl_check(context(r), set_stay_arguments(r), "clSetKernelArg", "stay"));
done:
  return rc;
}

void kcl_stay_close(run *r) {
  if (r->stay.kernel) clReleaseKernel(r->stay.kernel);
  if (r->stay.program) clReleaseProgram(r->stay.program);
  if (r->stay.box) clReleaseMemObject(r->stay.box);
  if (r->stay.list) clReleaseMemObject(r->stay.list);
  if (r->stay.from) clReleaseMemObject(r->stay.from);
  kcl_matrix_free(&r->stay.near);
  for (int v = 0; r->stay.shown && v < r->k->vectors; v++)
    if (r->stay.shown[v]) clReleaseMemObject(r->stay.shown[v]);
  free(r->stay.shown);
  memset(&r->stay, 0, sizeof r->stay);
}

cl_int kcl_stay_enqueue(run *r, int64_t times) {
  cl_int count = (cl_int)times;
  size_t group = (size_t)r->stay.geometry.group, global = r->stay.groups * group;
  cl_int code = kcl_run_number(r, r->stay.kernel);
  code |= clSetKernelArg(r->stay.kernel, 6, sizeof r->stay.number, &r->stay.number);
  code |= clSetKernelArg(r->stay.kernel, 7, sizeof count, &count);
  code |= clSetKernelArg(r->stay.kernel, 8, sizeof r->stay.since, &r->stay.since);
  const kcl_program *k = r->k;
  int64_t every = kcl_replacement_interval(k), replaced = (r->stay.since + times) / every;
  r->stay.since = (cl_int)((r->stay.since + times) % every);
  r->stay.number +=
      (cl_uint)(3 + times * k->stages[KCL_LOOP] + replaced * (1 + k->stages[KCL_REPLACE]));
  return code ? code
              : clEnqueueNDRangeKernel(queue(r), r->stay.kernel, 1, NULL, &global, &group, 0, NULL,
                                       NULL);
}

int kcl_stay_check(run *r, bool *lost) {
  kcl_head head;
  if (!r->stay.kernel) return KCL_OK;
  cl_int code = clEnqueueReadBuffer(queue(r), r->states, CL_TRUE, kcl_run_state(r), sizeof head,
                                    &head, 0, NULL, NULL);
  if (!code && !head.lost) return KCL_OK;
  if (!code && head.lost == 2)
    return kcl_fail(context(r), KCL_DEVICE,
                    "%s: a work-group of the kernel that stays did not come to a barrier; "
                    "KRYLOCL_STAY=0 does without",
                    context(r)->device.name);
  kcl_stay_close(r);
  *lost = true;
  head.lost = 0, r->enqueued[0] = head.iteration;
  if (!code)
    code = clEnqueueWriteBuffer(queue(r), r->states, CL_TRUE, kcl_run_state(r), sizeof head, &head,
                                0, NULL, NULL);
  return kcl_cl_check(context(r), code, "clEnqueueReadBuffer", "iterating");
}
