/* The vendor's own route: cuSPARSE product + cuBLAS with scalars on the device, 50 iterations
 * captured in a CUDA graph (or, with "stream", launched one call after the other).
 * usage: cuda A.mtx [graph|stream]. Both CSR algorithms of cuSPARSE run, preprocessed; the better
 * is reported. A sample is the mean over 200 iterations, x, r and p set up before the clock starts.
 * An iteration: 1 product, 2 dots, 3 axpys, 1 scaling, 2 kernels of one thread for alpha and beta.
 */
#include "peer.h"
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

enum { CAPTURED = 50, LAUNCHES = 4, WORKSPACE = 32 << 20 };
enum { RHO, RHO_NEW, PAP, ALPHA, MINUS_ALPHA, BETA, ONE, SCALARS };

static void need(int status, const char *call) {
  if (status == 0) return;
  fprintf(stderr, "cuda: code %d from %s\n", status, call);
  exit(4);
}
#define OK(call) need((int)(call), #call)

struct cg {
  int n;
  int *ptr, *col;
  double *val, *b, *x, *r, *p, *q, *s; /* s: [SCALARS] */
  void *buffer, *workspace;
  cudaStream_t stream;
  cublasHandle_t blas;
  cusparseHandle_t sparse;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t vp, vq;
  cusparseSpMVAlg_t algorithm;
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

static void *device_alloc(size_t bytes) {
  void *p;
  OK(cudaMalloc(&p, bytes ? bytes : 1));
  return p;
}

static void *device_copy(const void *from, size_t bytes) {
  void *p = device_alloc(bytes);
  OK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
  return p;
}

static void product(cg *c) { /* q = A p */
  const double one = 1, zero = 0;
  OK(cusparseSpMV(c->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, c->A, c->vp, &zero, c->vq,
                  CUDA_R_64F, c->algorithm, c->buffer));
}

static void iterate(cg *c) {
  const int n = c->n;
  double *s = c->s;
  product(c);                                                     // q = A p
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
  c->workspace = device_alloc(WORKSPACE); /* of our own: nothing is allocated while capturing */
  OK(cublasSetWorkspace(c->blas, c->workspace, WORKSPACE));
  OK(cublasSetPointerMode(c->blas, CUBLAS_POINTER_MODE_DEVICE));
  OK(cusparseCreate(&c->sparse));
  OK(cusparseSetStream(c->sparse, c->stream));
}

static void open_matrix(cg *c, const mtx *A, cusparseSpMVAlg_t algorithm) {
  const double one = 1, zero = 0;
  size_t bytes;
  c->algorithm = algorithm;
  c->ptr = (int *)device_copy(A->ptr, sizeof(int) * ((size_t)A->rows + 1));
  c->col = (int *)device_copy(A->col, sizeof(int) * (size_t)A->nnz);
  c->val = (double *)device_copy(A->val, sizeof(double) * (size_t)A->nnz);
  OK(cusparseCreateCsr(&c->A, A->rows, A->rows, A->nnz, c->ptr, c->col, c->val, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  OK(cusparseCreateDnVec(&c->vp, A->rows, c->p, CUDA_R_64F));
  OK(cusparseCreateDnVec(&c->vq, A->rows, c->q, CUDA_R_64F));
  OK(cusparseSpMV_bufferSize(c->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, c->A, c->vp, &zero,
                             c->vq, CUDA_R_64F, algorithm, &bytes));
  c->buffer = device_alloc(bytes);
  OK(cusparseSpMV_preprocess(c->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, c->A, c->vp, &zero,
                             c->vq, CUDA_R_64F, algorithm, c->buffer));
}

static void capture(cg *c) {
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < CAPTURED; k++) iterate(c);
  OK(cudaStreamEndCapture(c->stream, &graph));
  OK(cudaGraphInstantiateWithFlags(&c->graph, graph, 0));
  OK(cudaGraphDestroy(graph));
}

static void close_all(cg *c) {
  void *owned[] = {c->ptr, c->col, c->val, c->b,      c->x,        c->r,
                   c->p,   c->q,   c->s,   c->buffer, c->workspace};
  if (c->graph) OK(cudaGraphExecDestroy(c->graph));
  OK(cusparseDestroySpMat(c->A));
  OK(cusparseDestroyDnVec(c->vp));
  OK(cusparseDestroyDnVec(c->vq));
  OK(cusparseDestroy(c->sparse));
  OK(cublasDestroy(c->blas));
  OK(cudaStreamDestroy(c->stream));
  for (void *p : owned) OK(cudaFree(p));
}

static peer_samples measure(cg *c) {
  peer_samples s;
  s.count = peer_repetitions();
  for (int k = -1; k < s.count; k++) { /* the first is not counted */
    start(c);
    const double begin = peer_now();
    for (int l = 0; l < LAUNCHES; l++) launch(c);
    OK(cudaStreamSynchronize(c->stream));
    if (k >= 0) s.seconds[k] = (peer_now() - begin) / (CAPTURED * LAUNCHES);
  }
  return s;
}

/* Samples of one algorithm, and the true relative residual after CAPTURED iterations. */
static peer_samples run(const mtx *A, cusparseSpMVAlg_t algorithm, bool graph, double *residual) {
  cg c = {};
  double *x = (double *)mtx_alloc((size_t)A->rows, sizeof(double));
  open_vectors(&c, A);
  open_libraries(&c);
  open_matrix(&c, A, algorithm);
  start(&c);
  iterate(&c); /* modules load now, not while capturing */
  OK(cudaStreamSynchronize(c.stream));
  if (graph) capture(&c);
  peer_samples s = measure(&c);
  start(&c);
  launch(&c);
  OK(cudaStreamSynchronize(c.stream));
  OK(cudaMemcpy(x, c.x, sizeof(double) * (size_t)A->rows, cudaMemcpyDeviceToHost));
  *residual = peer_residual(A, x);
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
  double residual[2];
  peer_samples first = run(&A, CUSPARSE_SPMV_CSR_ALG1, graph, &residual[0]);
  peer_samples second = run(&A, CUSPARSE_SPMV_CSR_ALG2, graph, &residual[1]);
  const bool other = peer_median(&second) < peer_median(&first);
  fprintf(stderr, "cuda %s: cuSPARSE's CSR algorithm %d was better (%.2f, %.2f us)\n", mode,
          other ? 2 : 1, 1e6 * peer_median(&first), 1e6 * peer_median(&second));
  peer_print(graph ? "cuda graph" : "cuda stream", argv[1], &A, CAPTURED, other ? &second : &first,
             residual[other]);
  mtx_free(&A);
}
