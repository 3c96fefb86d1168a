/*===- pdlabi/abi/stage.h - Arguments of a program's stages --------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The arguments that the runtime passes to the stages of a program: fields,
 * lookups, random numbers and arenas; and the kernels that a stage launches on
 * a device. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_STAGE_H
#define PDLABI_ABI_STAGE_H

#include "pdlabi/abi/record.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of one deduplicated lookup. pdlrt_unique sets all members except
 * `rows` and `storage`. pdlrt_pull sets `storage` and allocates `rows`, whose
 * entries are valid when stage compute starts. The runtime owns the memory,
 * which is valid during the step. */
typedef struct pdl_lookup {
  int64_t key_count;          /* U */
  const int64_t *keys;        /* [U], in order of first occurrence */
  int64_t occurrence_count;   /* N, over all inputs, inputs in order */
  const int32_t *inverse;     /* [N] index of each occurrence's key */
  const int32_t *key_splits;  /* [U + 1] into `occurrences` */
  const int32_t *occurrences; /* [N] grouped by key, ascending within a group */
  void *const *rows;          /* [U] pointers to the rows' values */
  int32_t storage;            /* pdl_storage of these values */
} pdl_lookup;

/* A size in bytes that a program needs for a batch:
 *   constant + per_batch * B + per_batch_squared * B * B
 *   + sum over the program's fields of per_id[f] * (elements of the batch in f)
 *   + sum over its lookups of per_key[l] * U(l) + per_occurrence[l] * N(l).
 * No term is negative. The sum may exceed 64 bits; the caller that computes it
 * must check for overflow. */
typedef struct pdl_affine_size {
  int64_t constant, per_batch, per_batch_squared;
  const int64_t *per_id;         /* [field_count]; null: zeros */
  const int64_t *per_key;        /* [lookup_count]; null: zeros */
  const int64_t *per_occurrence; /* [lookup_count]; null: zeros */
} pdl_affine_size;

/* Numbers from which the random numbers of samples are computed
 * (pdlabi/draws.h). */
typedef struct pdl_draws {
  uint64_t seed;
  int64_t epoch;
  int64_t sample_count; /* B */
  /* [B]: a number for each sample, which does not depend on the process that
   * reads it or on the time. It is the number of the sample's row in its file,
   * from 0, including invalid rows, plus 2^40 times the position of the file in
   * the data. */
  const int64_t *samples;
} pdl_draws;

/* The arguments of a stage. "By X" below means that an array has one entry for
 * each X. Arrays are valid during the call. A stage writes only members that
 * are marked as written. */
typedef struct pdl_step_context {
  uint32_t struct_size;
  void *worker;                 /* opaque, for pdlrt_* calls */
  int64_t batch;                /* samples, B >= 1 */
  const pdl_field_data *fields; /* by program field */
  pdl_lookup *lookups;          /* by program lookup; written by prepare */
  void *const *parameters;      /* by descriptor symbol; read */
  /* By program update; written by compute. Parameter: the gradient in its
   * shape. Table: U rows, each followed by its counts. */
  void *const *gradients;
  /* By objective; written by compute: sum of losses times weights. */
  double *loss_sum;
  double *weight_sum; /* by objective; written by compute: sum of weights */
  /* By descriptor metric: the sums of the metric (metrics.h). Compute adds to
   * them. */
  double *const *metrics;
  void *const *outputs;   /* by program output; written by compute */
  void *prepare_arena;    /* valid from prepare to the end of the step */
  void *compute_arena;    /* valid during compute */
  const pdl_draws *draws; /* of this batch */
} pdl_step_context;

typedef int32_t (*pdl_stage)(const pdl_step_context *context);

/* Buffers of a step context that have a copy on the device, or are only on the
 * device. A buffer is identified by this number and an index; "by X" means that
 * the index is that of an X, and 0 that the index is 0. */
typedef enum pdl_device_place {
  PDL_PLACE_FIELD_VALUES = 1,        /* by program field */
  PDL_PLACE_FIELD_SPLITS = 2,        /* by program field */
  PDL_PLACE_LOOKUP_INVERSE = 4,      /* by program lookup */
  PDL_PLACE_PARAMETER = 5,           /* by descriptor symbol */
  PDL_PLACE_GRADIENT = 6,            /* by program update */
  PDL_PLACE_OUTPUT = 7,              /* by program output */
  PDL_PLACE_PREPARE_ARENA = 11,      /* 0 */
  PDL_PLACE_COMPUTE_ARENA = 12,      /* 0 */
  PDL_PLACE_LOOKUP_KEY_SPLITS = 14,  /* by program lookup */
  PDL_PLACE_LOOKUP_OCCURRENCES = 15, /* by program lookup */
  PDL_PLACE_DRAWS_SAMPLES = 16       /* 0 */
} pdl_device_place;

/* How a kernel uses an argument. */
typedef enum pdl_device_argument {
  PDL_DEVICE_NUMBER = 0,
  PDL_DEVICE_READ = 1,   /* an address of device memory that it reads */
  PDL_DEVICE_WRITTEN = 2 /* the same, and it also writes there */
} pdl_device_argument;

/* Runs the iterations `first`, `first` + `stride`, `first` + 2 * `stride`, ...
 * of a kernel. Iterations are independent. Arguments have 8 bytes each. */
typedef void (*pdl_device_turns)(const uint64_t *arguments, int64_t first,
                                 int64_t stride);

/* A kernel that a compute stage launches on a device. */
typedef struct pdl_device_kernel {
  const char *name; /* name of its entry point in the device code */
  int32_t argument_count;
  const int32_t *arguments; /* pdl_device_argument each */
  pdl_device_turns run;     /* the same code for the host */
} pdl_device_kernel;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_STAGE_H */
