/* CG on cuSPARSE (product) and cuBLAS (vectors) with scalars on the device, 50 iterations
 * captured in a CUDA graph (or, with "stream", launched one call after the other).
 * usage: cuda A.mtx [graph|stream]. Both CSR algorithms of cuSPARSE run, preprocessed; the better
 * is reported. A sample is the mean over 200 iterations, x, r and p set up before the clock starts.
 * An iteration: 1 product, 2 dots, 3 axpys, 1 scaling, 2 kernels of one thread for alpha and beta.
 */
#include "cuda_peer.h"
#include <cublas_v2.h>

enum { WORKSPACE = 32 << 20 };
enum { RHO, RHO_NEW, PAP, ALPHA, MINUS_ALPHA, BETA, ONE, SCALARS };

struct cg {
  int n;
  double *b, *x, *r, *p, *q, *s; /* s: [SCALARS] */
  spmv A;                        /* q = A p */
  void *workspace;
  cudaStream_t stream;
  cublasHandle_t blas;
  cudaGraphExec_t graph; /* NULL: stream */
};

__global__ void set_alpha(double *s) {
  s[ALPHA] = s[RHO] / s[PAP];
  s[MINUS_ALPHA] = -s[ALPHA];
}

__global__ void set_beta(double *s) {
  s[BETA] = s[RHO_NEW] / s[RHO];
  s[RHO] = s[RHO_NEW];
}

static void iterate(cg *c) {
  const int n = c->n;
  double *s = c->s;
  spmv_multiply(&c->A);                                           // q = A p
  OK(cublasDdot(c->blas, n, c->p, 1, c->q, 1, s + PAP));          // p'q
  set_alpha<<<1, 1, 0, c->stream>>>(s);                           // alpha = rho / p'q
  OK(cublasDaxpy(c->blas, n, s + ALPHA, c->p, 1, c->x, 1));       // x = x + alpha p
  OK(cublasDaxpy(c->blas, n, s + MINUS_ALPHA, c->q, 1, c->r, 1)); // r = r - alpha q
  OK(cublasDdot(c->blas, n, c->r, 1, c->r, 1, s + RHO_NEW));      // r'r
  set_beta<<<1, 1, 0, c->stream>>>(s);                            // beta = r'r / rho
  OK(cublasDscal(c->blas, n, s + BETA, c->p, 1));                 // p = beta p
  OK(cublasDaxpy(c->blas, n, s + ONE, c->r, 1, c->p, 1));         // p = r + p
}

static void start(cg *c) { /* x = 0, r = p = b, rho = r'r */
  const size_t bytes = sizeof(double) * (size_t)c->n;
  OK(cudaMemsetAsync(c->x, 0, bytes, c->stream));
  OK(cudaMemcpyAsync(c->r, c->b, bytes, cudaMemcpyDeviceToDevice, c->stream));
  OK(cudaMemcpyAsync(c->p, c->b, bytes, cudaMemcpyDeviceToDevice, c->stream));
  OK(cublasDdot(c->blas, c->n, c->r, 1, c->r, 1, c->s + RHO));
  OK(cudaStreamSynchronize(c->stream));
}

static void launch(cg *c) { /* CAPTURED iterations */
  if (c->graph) OK(cudaGraphLaunch(c->graph, c->stream));
  for (int k = 0; !c->graph && k < CAPTURED; k++) iterate(c);
}

static void open_vectors(cg *c, const mtx *A) {
  const size_t bytes = sizeof(double) * (size_t)A->rows;
  double *ones = (double *)mtx_alloc((size_t)A->rows, sizeof(double));
  double scalars[SCALARS] = {0};
  scalars[ONE] = 1;
  for (int i = 0; i < A->rows; i++) ones[i] = 1;
  c->n = A->rows;
  c->b = (double *)device_copy(ones, bytes);
  c->s = (double *)device_copy(scalars, sizeof scalars);
  c->x = (double *)device_alloc(bytes);
  c->r = (double *)device_alloc(bytes);
  c->p = (double *)device_alloc(bytes);
  c->q = (double *)device_alloc(bytes);
  free(ones);
}

static void open_libraries(cg *c) {
  OK(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
  OK(cublasCreate(&c->blas));
  OK(cublasSetStream(c->blas, c->stream));
  c->workspace = device_alloc(WORKSPACE); /* allocated here: not possible while capturing */
  OK(cublasSetWorkspace(c->blas, c->workspace, WORKSPACE));
  OK(cublasSetPointerMode(c->blas, CUBLAS_POINTER_MODE_DEVICE));
}

static void close_all(cg *c) {
  if (c->graph) OK(cudaGraphExecDestroy(c->graph));
  spmv_close(&c->A);
  OK(cublasDestroy(c->blas));
  OK(cudaStreamDestroy(c->stream));
  for (void *p : {(void *)c->b, (void *)c->x, (void *)c->r, (void *)c->p, (void *)c->q,
                  (void *)c->s, c->workspace})
    OK(cudaFree(p));
}

/* Samples of one algorithm, and the true relative residual after CAPTURED iterations. */
static peer_samples run(const mtx *A, cusparseSpMVAlg_t algorithm, bool graph, double *residual) {
  cg c = {};
  double *x = (double *)mtx_alloc((size_t)A->rows, sizeof(double));
  open_vectors(&c, A);
  open_libraries(&c);
  c.A = spmv_open(A, device_copy(A->val, sizeof(double) * (size_t)A->nnz), c.p, c.q, CUDA_R_64F,
                  algorithm, c.stream);
  start(&c);
  iterate(&c); /* loads the modules: not possible while capturing */
  OK(cudaStreamSynchronize(c.stream));
  if (graph) c.graph = captured(c.stream, [&] { iterate(&c); });
  peer_samples s = clocked(
      c.stream, [&] { start(&c); }, [&] { launch(&c); });
  start(&c);
  launch(&c);
  OK(cudaStreamSynchronize(c.stream));
  OK(cudaMemcpy(x, c.x, sizeof(double) * (size_t)A->rows, cudaMemcpyDeviceToHost));
  *residual = peer_residual(A, NULL, x);
  free(x);
  close_all(&c);
  return s;
}

int main(int argc, char **argv) {
  const char *mode = argc > 2 ? argv[2] : "graph";
  const bool graph = !strcmp(mode, "graph");
  peer_usage((argc == 2 || argc == 3) && (graph || !strcmp(mode, "stream")),
             "cuda A.mtx [graph|stream]");
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  mtx A = mtx_read(argv[1]);
  report_better(graph ? "cuda graph" : "cuda stream", argv[1], &A,
                [&](cusparseSpMVAlg_t algorithm, double *residual) {
                  return run(&A, algorithm, graph, residual);
                });
  mtx_free(&A);
}
