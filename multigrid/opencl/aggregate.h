/* Smoothed aggregation on a device: what its three files share. */
#ifndef KCL_SETUP_AGGREGATE_H
#define KCL_SETUP_AGGREGATE_H

#include "multigrid/opencl/launch.h"

typedef struct kcl_device_nodes {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  const kcl_aggregation_rule *rule;
  int64_t nodes, count; /* count: of aggregates */
  kcl_device_csr graph; /* its rows begin where A's rows of the node begin; values: |A_IJ|^2 */
  void *aggregate;      /* cl_mem: int [nodes]; -1: none */
} kcl_device_nodes;

int kcl_amg_device_aggregates(kcl_device_nodes *g); /* aggregate.c: the graph and the aggregates */
/* limit.c. KCL_UNSUITED: P^T A P may take more than the rule allows. */
int kcl_amg_device_check_limit(const kcl_device_nodes *g, const kcl_device_csr *P);

#endif
