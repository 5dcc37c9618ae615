/* The product of cuSPARSE alone: y = A x, 50 times in a CUDA graph (or, with "stream", launched one call
 * after the other). usage: cuda_product A.mtx [graph|stream]
 * Both CSR algorithms of cuSPARSE run, preprocessed, each compared with a product on the host before
 * it is timed; the better is reported, with its largest error, relative to the sum of |a_ij x_j|, in place of
 * a residual. A sample is the mean over 200 products. Rectangular and complex files too (mtx.h).
 */
#include "cuda_peer.h"

static double x_at(int j) { return 1 + j % 7 * 0.25; }

/* Copies real numbers, or complex ones with zero imaginary parts. */
static void *device_scalars(const double *from, int count, int parts) {
  double *all = (double *)mtx_alloc((size_t)count * parts, sizeof(double));
  for (int i = 0; i < count; i++) all[parts * i] = from[i];
  void *p = device_copy(all, sizeof(double) * (size_t)count * parts);
  free(all);
  return p;
}

static double largest_error(const mtx *A, const void *device_y, int parts) {
  double worst = 0, *y = (double *)mtx_alloc((size_t)A->rows * parts, sizeof(double));
  OK(cudaMemcpy(y, device_y, sizeof(double) * (size_t)A->rows * parts, cudaMemcpyDeviceToHost));
  for (int i = 0; i < A->rows; i++) {
    double sum = 0, size = 0;
    for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
      const double a = A->val[k] * x_at(A->col[k]);
      sum += a, size += fabs(a);
    }
    const double error = fabs(y[parts * i] - sum);
    if (!(error <= worst * size)) worst = size > 0 ? error / size : error;
  }
  free(y);
  return worst;
}

static peer_samples run(const mtx *A, cusparseSpMVAlg_t algorithm, bool graph, double *error) {
  const int parts = A->complex ? 2 : 1; /* doubles per scalar */
  cudaStream_t stream;
  double *host = (double *)mtx_alloc((size_t)A->cols, sizeof(double));
  for (int j = 0; j < A->cols; j++) host[j] = x_at(j);
  void *x = device_scalars(host, A->cols, parts);
  void *y = device_alloc(sizeof(double) * (size_t)A->rows * parts);
  free(host);
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  spmv p = spmv_open(A, device_scalars(A->val, A->nnz, parts), x, y,
                     A->complex ? CUDA_C_64F : CUDA_R_64F, algorithm, stream);
  spmv_multiply(&p);
  OK(cudaStreamSynchronize(stream));
  *error = largest_error(A, y, parts);
  if (!(*error < 1e-12)) mtx_fail("cuda_product", "a wrong product");
  cudaGraphExec_t all = graph ? captured(stream, [&] { spmv_multiply(&p); }) : NULL;
  peer_samples s = clocked(
      stream, [] {},
      [&] {
        if (all) OK(cudaGraphLaunch(all, stream));
        for (int k = 0; !all && k < CAPTURED; k++) spmv_multiply(&p);
      });
  if (all) OK(cudaGraphExecDestroy(all));
  spmv_close(&p);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(x));
  OK(cudaFree(y));
  return s;
}

int main(int argc, char **argv) {
  const char *mode = argc > 2 ? argv[2] : "graph";
  const bool graph = !strcmp(mode, "graph");
  peer_usage((argc == 2 || argc == 3) && (graph || !strcmp(mode, "stream")),
             "cuda_product A.mtx [graph|stream]");
  mtx A = mtx_load(argv[1]);
  report_better(graph ? "cuda product graph" : "cuda product stream", argv[1], &A,
                [&](cusparseSpMVAlg_t algorithm, double *error) {
                  return run(&A, algorithm, graph, error);
                });
  mtx_free(&A);
}
