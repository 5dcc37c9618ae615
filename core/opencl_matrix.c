/* The arrays of a matrix on an OpenCL device. Row pointers are narrowed to 32 bits where all fit. */
#include "core/opencl.h"
#include <stdio.h>
#include <stdlib.h>

static int upload_array(kcl_matrix *m, int i) {
  kcl *ctx = m->ctx;
  kcl_array *a = &m->array[i];
  size_t size = kcl_array_element(a->kind, m->type);
  const void *data = a->data;
  int32_t *narrow = NULL;
  int rc;
  if (a->kind == KCL_INT64 && m->nnz < INT32_MAX) {
    KCL_TRY(kcl_alloc(ctx, a->count, size = 4, a->name, (void **)&narrow));
    for (int64_t k = 0; k < a->count; k++) narrow[k] = (int32_t)((const int64_t *)a->data)[k];
    data = narrow;
  }
  cl_int code;
  size_t bytes = size * (size_t)a->count;
  m->device[i] = clCreateBuffer(ctx->opencl->context, CL_MEM_READ_ONLY, bytes + 64, NULL, &code);
  if (code == CL_SUCCESS && bytes)
    code = clEnqueueWriteBuffer(ctx->opencl->queue, m->device[i], CL_TRUE, 0, bytes, data, 0, NULL,
                                NULL);
  char what[160];
  snprintf(what, sizeof what, "uploading %s of the matrix, %.3g GB", a->name, (double)bytes * 1e-9);
  KCL_TRY(kcl_cl_check(ctx, code, "clEnqueueWriteBuffer", what));
  if (!a->borrowed) free(a->data), a->data = NULL;
done:
  free(narrow);
  return rc;
}

int kcl_opencl_upload(kcl_matrix *m) {
  int rc = KCL_OK;
  for (int i = 0; i < m->arrays && !rc; i++)
    if (!m->device[i]) rc = upload_array(m, i);
  return rc;
}

void kcl_opencl_release(kcl_matrix *m) {
  for (int i = 0; i < m->arrays; i++)
    if (m->device[i]) clReleaseMemObject(m->device[i]);
}
