/* Shared by the programs on cuSPARSE and cuBLAS: errors, device memory, the product, a CUDA graph of CAPTURED
 * calls, its timing, and the report of the better of cuSPARSE's two CSR algorithms. A sample is the mean over
 * LAUNCHES x CAPTURED calls.
 */
#ifndef CUDA_PEER_H
#define CUDA_PEER_H

#include "peer.h"
#include <cuda_runtime.h>
#include <cusparse.h>

enum { CAPTURED = 50, LAUNCHES = 4 };

static inline void need(int status, const char *call) {
  if (status == 0) return;
  fprintf(stderr, "cuda: code %d from %s\n", status, call);
  exit(4);
}
#define OK(call) need((int)(call), #call)

static inline void *device_alloc(size_t bytes) {
  void *p;
  OK(cudaMalloc(&p, bytes ? bytes : 1));
  return p;
}

static inline void *device_copy(const void *from, size_t bytes) {
  void *p = device_alloc(bytes);
  OK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
  return p;
}

struct spmv {
  void *ptr, *col, *val, *buffer;
  cudaDataType type;
  cusparseHandle_t sparse;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t x, y;
  cusparseSpMVAlg_t algorithm;
};
static const double spmv_one[2] = {1, 0}, spmv_zero[2] = {0, 0};

/* y = A x, preprocessed. val, x, y: device memory of `type`; spmv_close frees val. */
static inline spmv spmv_open(const mtx *A, void *val, void *x, void *y, cudaDataType type,
                             cusparseSpMVAlg_t algorithm, cudaStream_t stream) {
  spmv p = {};
  size_t bytes;
  p.type = type, p.algorithm = algorithm;
  p.ptr = device_copy(A->ptr, sizeof(int) * ((size_t)A->rows + 1));
  p.col = device_copy(A->col, sizeof(int) * (size_t)A->nnz);
  p.val = val;
  OK(cusparseCreate(&p.sparse));
  OK(cusparseSetStream(p.sparse, stream));
  OK(cusparseCreateCsr(&p.A, A->rows, A->cols, A->nnz, p.ptr, p.col, p.val, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
  OK(cusparseCreateDnVec(&p.x, A->cols, x, type));
  OK(cusparseCreateDnVec(&p.y, A->rows, y, type));
  OK(cusparseSpMV_bufferSize(p.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, spmv_one, p.A, p.x,
                             spmv_zero, p.y, type, algorithm, &bytes));
  p.buffer = device_alloc(bytes);
  OK(cusparseSpMV_preprocess(p.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, spmv_one, p.A, p.x,
                             spmv_zero, p.y, type, algorithm, p.buffer));
  return p;
}

static inline void spmv_multiply(const spmv *p) {
  OK(cusparseSpMV(p->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, spmv_one, p->A, p->x, spmv_zero,
                  p->y, p->type, p->algorithm, p->buffer));
}

static inline void spmv_close(spmv *p) {
  OK(cusparseDestroySpMat(p->A));
  OK(cusparseDestroyDnVec(p->x));
  OK(cusparseDestroyDnVec(p->y));
  OK(cusparseDestroy(p->sparse));
  for (void *q : {p->ptr, p->col, p->val, p->buffer}) OK(cudaFree(q));
}

/* Captures CAPTURED calls of `call`, which must have run once before. */
template <class F> static cudaGraphExec_t captured(cudaStream_t stream, F call) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < CAPTURED; k++) call();
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  OK(cudaGraphDestroy(graph));
  return ready;
}

/* launch: CAPTURED calls; start: not timed. The first sample is a warm-up. */
template <class S, class L> static peer_samples clocked(cudaStream_t stream, S start, L launch) {
  peer_samples s;
  s.count = peer_repetitions();
  for (int k = -1; k < s.count; k++) {
    start();
    const double begin = peer_now();
    for (int l = 0; l < LAUNCHES; l++) launch();
    OK(cudaStreamSynchronize(stream));
    if (k >= 0) s.seconds[k] = (peer_now() - begin) / (CAPTURED * LAUNCHES);
  }
  return s;
}

/* run(algorithm, &residual) returns the samples of one algorithm. */
template <class R>
static void report_better(const char *program, const char *path, const mtx *A, R run) {
  double residual[2];
  peer_samples first = run(CUSPARSE_SPMV_CSR_ALG1, &residual[0]);
  peer_samples second = run(CUSPARSE_SPMV_CSR_ALG2, &residual[1]);
  const bool other = peer_median(&second) < peer_median(&first);
  fprintf(stderr, "%s: cuSPARSE's CSR algorithm %d was better (%.2f, %.2f us)\n", program,
          other ? 2 : 1, 1e6 * peer_median(&first), 1e6 * peer_median(&second));
  peer_print(program, path, A, CAPTURED, other ? &second : &first, residual[other]);
}

#endif
