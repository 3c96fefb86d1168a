/*===- pdlabi/abi/metric.h - Metrics of a model --------------------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The metrics that a descriptor lists. pdlabi/metrics.h defines their sums and
 * values. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_METRIC_H
#define PDLABI_ABI_METRIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pdl_metric_kind {
  PDL_METRIC_AUC = 0,
  PDL_METRIC_LOG_LOSS = 1,
  PDL_METRIC_COPC = 2, /* clicks over predicted clicks: sum y / sum p */
  PDL_METRIC_MEAN = 3, /* of one value per sample */
  PDL_METRIC_MAE = 4,
  PDL_METRIC_RMSE = 5,
  PDL_METRIC_ACCURACY = 6,
  PDL_METRIC_BUCKET_ERROR = 7,
  /* Metrics of ranked lists: each sample is a list. */
  PDL_METRIC_ACCURACY_AT = 8,
  PDL_METRIC_RECALL_AT = 9,
  PDL_METRIC_NDCG_AT = 10,
  PDL_METRIC_MRR = 11,
  /* Grouped metrics: the worker stores the samples (pdlrt_observe_groups). */
  PDL_METRIC_GROUPED_AUC = 12
} pdl_metric_kind;

typedef struct pdl_metric {
  uint32_t struct_size;
  const char *name;
  int32_t kind;
  double parameter; /* buckets, a threshold, k; 0 if there is none */
} pdl_metric;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_METRIC_H */
