/* y = alpha A x + beta y on memory of the caller's, by the program b = A x.
 *
 * One column in buffers: x is an argument of the kernel itself, and so is y where alpha is 1 and beta 0: one launch. Else
 * b = A x in the program's own memory, then a launch per column, y = alpha b + beta y; several columns come in by a launch
 * each, interleaved where they share a pass over the matrix. Columns of arrays pass through column.values. */
#include "core/opencl/run/run.h"

typedef struct opencl_product {
  kcl_run *r;
  const kcl_product *p;
  int64_t rows, cols;         /* of A */
  bool plain;                 /* alpha is 1, beta 0 */
  bool zero_alpha, zero_beta; /* x, y need not be read */
  bool direct_x, direct_y;    /* arguments of the kernel of the product */
} opencl_product;

static bool is_number(const kcl_run *r, const void *a, double re, double none) {
  if (!a) return none == re;
  const char *im = (const char *)a + r->real_bytes;
  return run_real_at(r, a) == re && (!kcl_type_complex(r->k->type) || run_real_at(r, im) == 0);
}

/* ---------------------------------------------------------------- the caller's buffers */

static int check_buffer(const kcl_run *r, const char *name, const void *given, int64_t n,
                        int64_t columns) {
  cl_mem buffer = (cl_mem)(uintptr_t)given;
  cl_mem_object_type type = 0;
  cl_context in = NULL;
  size_t size = 0, need = (size_t)(n * columns) * r->scalar_bytes;
  cl_int code = clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
  if (!code) code = clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof in, &in, NULL);
  if (!code) code = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
  if (code || type != CL_MEM_OBJECT_BUFFER)
    return kcl_fail(run_context(r), KCL_USAGE, "%s is not an OpenCL buffer", name);
  if (in != run_context(r)->opencl->context)
    return kcl_fail(run_context(r), KCL_USAGE,
                    "%s is a buffer of another OpenCL context: use that of kcl_opencl_handles",
                    name);
  if (size >= need) return KCL_OK;
  return kcl_fail(run_context(r), KCL_USAGE,
                  "%s is a buffer of %zu bytes: %lld by %lld of type %c need %zu", name, size,
                  (long long)n, (long long)columns, kcl_type_letter(r->k->type), need);
}

/* ---------------------------------------------------------------- one launch of the product */

/* Arguments of the stage's kernel: 4, the arrays and integers of the matrix, then y and x. */
static cl_int launch_product(const opencl_product *m) {
  kcl_run *r = m->r;
  const kcl_program *k = r->k;
  const kcl_stored *A = k->A;
  kcl_launch *l = &r->launch[KCL_START][0];
  const cl_uint at = (cl_uint)(4 + A->arrays + A->params);
  cl_mem x = m->direct_x ? (cl_mem)(uintptr_t)m->p->x : r->vec[k->x],
         y = m->direct_y ? (cl_mem)m->p->y : r->vec[k->b];
  cl_int code = clSetKernelArg(l->kernel, at, sizeof y, &y);
  code |= clSetKernelArg(l->kernel, at + 1, sizeof x, &x);
  if (l->prepare) code |= clSetKernelArg(l->prepare, 1, sizeof x, &x);
  if (l->zeroed) l->zeroed = y;
  return code ? code : kcl_run_enqueue(r, l);
}

/* ---------------------------------------------------------------- columns in and out */

static int take_column(const opencl_product *m, int64_t j, int rhs) {
  kcl_run *r = m->r;
  const kcl_vec x = r->k->x;
  if (m->direct_x) return KCL_OK;
  if (!m->p->buffers)
    return kcl_run_put(r, x, rhs, r->k->type,
                       (const char *)m->p->x + (size_t)(j * m->cols) * r->scalar_bytes, 1);
  return kcl_run_move(r, &(kcl_column_move){.kernel = r->column.in,
                                            .v = x,
                                            .vector = r->vec[x],
                                            .rhs = rhs,
                                            .columns = (cl_mem)(uintptr_t)m->p->x,
                                            .from = j * m->cols});
}

/* y = alpha b + beta y, on the device */
static int combine(const opencl_product *m, int rhs, cl_mem y, int64_t from) {
  kcl_run *r = m->r;
  return kcl_run_move(r, &(kcl_column_move){.kernel = r->column.out,
                                            .v = r->k->b,
                                            .vector = r->vec[r->k->b],
                                            .rhs = rhs,
                                            .columns = y,
                                            .from = from,
                                            .alpha = m->p->alpha,
                                            .beta = m->p->beta});
}

static int give_column(const opencl_product *m, int64_t j, int rhs) {
  kcl_run *r = m->r;
  const size_t bytes = (size_t)m->rows * r->scalar_bytes;
  if (m->direct_y) return KCL_OK;
  if (m->p->buffers) return combine(m, rhs, m->p->y, j * m->rows);
  char *y = (char *)m->p->y + (size_t)j * bytes;
  if (m->plain) return kcl_run_get(r, r->k->b, rhs, r->k->type, y, 1);
  const kcl_upload old = {1, (int64_t)bytes, kcl_fill_bytes, y};
  int rc = m->zero_beta ? KCL_OK
                        : kcl_opencl_write(run_context(r), r->column.values, &old, "uploading y");
  if (!rc) rc = combine(m, rhs, r->column.values, 0);
  if (rc) return rc;
  return kcl_cl_check(run_context(r),
                      clEnqueueReadBuffer(run_queue(r), r->column.values, CL_TRUE, 0, bytes, y, 0,
                                          NULL,
                                          kcl_profile_event(run_context(r)->opencl, "read", bytes)),
                      "clEnqueueReadBuffer", "downloading y");
}

/* Columns j .. j + count - 1, in one pass over the matrix. */
static int multiply_columns(const opencl_product *m, int64_t j, int count) {
  int rc = KCL_OK;
  for (int c = 0; c < count && !m->zero_alpha && !rc; c++) rc = take_column(m, j + c, c);
  if (!rc && !m->zero_alpha)
    rc =
        kcl_cl_check(run_context(m->r), launch_product(m), "clEnqueueNDRangeKernel", "multiplying");
  for (int c = 0; c < count && !rc; c++) rc = give_column(m, j + c, c);
  return rc;
}

int kcl_run_multiply(kcl_run *r, const kcl_product *p) {
  const kcl_program *k = r->k;
  const bool one = p->buffers && p->cols == 1 && r->width == 1;
  opencl_product m = {.r = r,
                      .p = p,
                      .rows = k->vector[k->b].n,
                      .cols = k->vector[k->x].n,
                      .zero_alpha = is_number(r, p->alpha, 0, 1),
                      .zero_beta = is_number(r, p->beta, 0, 0)};
  int rc = KCL_OK;
  m.direct_x = one && !k->A->prepare_items; /* an image is filled from whole texels of x */
  m.plain = m.zero_beta && is_number(r, p->alpha, 1, 1);
  m.direct_y = one && m.plain;
  if (p->buffers) rc = check_buffer(r, "x", p->x, m.cols, p->cols);
  if (!rc && p->buffers) rc = check_buffer(r, "y", p->y, m.rows, p->cols);
  for (int64_t j = 0; j < p->cols && !rc; j += k->nrhs)
    rc = multiply_columns(&m, j, (int)(p->cols - j < k->nrhs ? p->cols - j : k->nrhs));
  if (rc || !p->buffers) return rc;
  return kcl_cl_check(run_context(r), clFlush(run_queue(r)), "clFlush", "multiplying");
}
