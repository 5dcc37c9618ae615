/* y = alpha A x + beta y on memory of the caller's, by the program b = A x.
 *
 * One column in buffers: x is an argument of the kernel itself, and so is y where alpha is 1 and beta 0: one launch. Else
 * b = A x in the program's own memory, then a launch per column, y = alpha b + beta y; several columns come in by a launch
 * each, interleaved where they share a pass over the matrix. Columns of arrays pass through column.values. */
#include "core/opencl/run/run.h"

typedef struct opencl_product {
  kcl_run *r;
  const kcl_multiplication *p;
  int64_t rows; /* of A */
  bool buffers;
  bool plain;                 /* alpha is 1, beta 0 */
  bool zero_alpha, zero_beta; /* x, y need not be read */
  bool direct_x, direct_y;    /* arguments of the kernel of the product */
} opencl_product;

static bool is_number(const kcl_run *r, const void *a, double re, double none) {
  if (!a) return none == re;
  const char *im = (const char *)a + r->real_bytes;
  return run_real_at(r, a) == re && (!kcl_type_complex(r->k->type) || run_real_at(r, im) == 0);
}

static cl_mem x_of_product(const opencl_product *m) {
  return m->direct_x ? m->p->x->data : m->r->vec[m->r->k->x];
}

static cl_mem y_of_product(const opencl_product *m) {
  return m->direct_y ? m->p->y->data : m->r->vec[m->r->k->b];
}

/* Arguments of the stage's kernel: 4, the arrays and integers of the matrix, then y and x. */
static cl_int launch_product(const opencl_product *m) {
  kcl_run *r = m->r;
  const kcl_program *k = r->k;
  const kcl_stored *A = k->A;
  kcl_launch *l = &r->launch[KCL_START][0];
  const cl_uint at = (cl_uint)(4 + A->arrays + A->params);
  cl_mem x = x_of_product(m), y = y_of_product(m);
  cl_int code = clSetKernelArg(l->kernel, at, sizeof y, &y);
  code |= clSetKernelArg(l->kernel, at + 1, sizeof x, &x);
  if (l->prepare) code |= clSetKernelArg(l->prepare, 1, sizeof x, &x);
  if (l->zeroed) l->zeroed = y;
  return code ? code : kcl_run_enqueue(r, l);
}

static int make_product(const opencl_product *m) {
  kcl_run *r = m->r;
  const kcl_program *k = r->k;
  if (!k->A->shell.apply)
    return kcl_cl_check(run_context(r), launch_product(m), "clEnqueueNDRangeKernel", "multiplying");
  return kcl_run_call(r, k->A, x_of_product(m), y_of_product(m));
}

/* The first number of column j: its element, and where an array has it. */
static int64_t number_of(const kcl_vectors *v, int64_t j) { return v->offset + j * v->ld; }

static char *array_of(const kcl_run *r, const kcl_vectors *v, int64_t j) {
  return (char *)v->data + (size_t)number_of(v, j) * r->scalar_bytes;
}

static int take_column(const opencl_product *m, int64_t j, int rhs) {
  kcl_run *r = m->r;
  const kcl_vec x = r->k->x;
  if (m->direct_x) return KCL_OK;
  if (!m->buffers) return kcl_run_put(r, x, rhs, r->k->type, array_of(r, m->p->x, j), 1);
  return kcl_run_move(r, &(kcl_column_move){.kernel = r->column.in,
                                            .v = x,
                                            .vector = r->vec[x],
                                            .rhs = rhs,
                                            .columns = m->p->x->data,
                                            .from = number_of(m->p->x, j),
                                            .step = m->p->x->inc});
}

/* y = alpha b + beta y, on the device */
static int combine(const opencl_product *m, int rhs, cl_mem y, int64_t from, int64_t step) {
  kcl_run *r = m->r;
  return kcl_run_move(r, &(kcl_column_move){.kernel = r->column.out,
                                            .v = r->k->b,
                                            .vector = r->vec[r->k->b],
                                            .rhs = rhs,
                                            .columns = y,
                                            .from = from,
                                            .step = step,
                                            .alpha = m->p->alpha,
                                            .beta = m->p->beta});
}

static int give_column(const opencl_product *m, int64_t j, int rhs) {
  kcl_run *r = m->r;
  const size_t bytes = (size_t)m->rows * r->scalar_bytes;
  if (m->direct_y) return KCL_OK;
  if (m->buffers) return combine(m, rhs, m->p->y->data, number_of(m->p->y, j), m->p->y->inc);
  char *y = array_of(r, m->p->y, j);
  if (m->plain) return kcl_run_get(r, r->k->b, rhs, r->k->type, y, 1);
  const kcl_upload old = {1, (int64_t)bytes, kcl_fill_bytes, y};
  if (!m->zero_beta)
    KCL_CALL(kcl_opencl_write(run_context(r), r->column.values, &old, "uploading y"));
  KCL_CALL(combine(m, rhs, r->column.values, 0, 1));
  return kcl_opencl_read(run_context(r), r->column.values, 0, bytes, y, "downloading y");
}

/* Columns j .. j + count - 1, in one pass over the matrix. */
static int multiply_columns(const opencl_product *m, int64_t j, int count) {
  int rc = KCL_OK;
  for (int c = 0; c < count && !m->zero_alpha && !rc; c++) rc = take_column(m, j + c, c);
  if (!rc && !m->zero_alpha) rc = make_product(m);
  for (int c = 0; c < count && !rc; c++) rc = give_column(m, j + c, c);
  return rc;
}

/* May the kernel of the product have the column itself as an argument? */
static bool is_whole(const kcl_vectors *v) { return v->offset == 0 && v->inc == 1; }

int kcl_run_multiply(kcl_executor *ex, const kcl_multiplication *p) {
  kcl_run *r = ex->data;
  const kcl_program *k = r->k;
  const int64_t cols = p->x->cols;
  opencl_product m = {.r = r,
                      .p = p,
                      .rows = k->vector[k->b].n,
                      .buffers = p->x->place == KCL_OPENCL,
                      .zero_alpha = is_number(r, p->alpha, 0, 1),
                      .zero_beta = is_number(r, p->beta, 0, 0)};
  const bool one = m.buffers && cols == 1 && r->width == 1;
  int rc = KCL_OK;
  /* an image is filled from whole texels of x */
  m.direct_x = one && is_whole(p->x) && !k->A->kernel.prepare_items;
  m.plain = m.zero_beta && is_number(r, p->alpha, 1, 1);
  m.direct_y = one && is_whole(p->y) && m.plain;
  for (int64_t j = 0; j < cols && !rc; j += k->nrhs)
    rc = multiply_columns(&m, j, (int)(cols - j < k->nrhs ? cols - j : k->nrhs));
  if (rc || !m.buffers) return rc;
  return kcl_cl_check(run_context(r), clFlush(run_queue(r)), "clFlush", "multiplying");
}
