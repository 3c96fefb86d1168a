/*===- pdlabi/abi/codes.h - Codes of types, numerics, modes and roles *- C
 * -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The enumerations that several parts of a descriptor and several functions
 * use. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_CODES_H
#define PDLABI_ABI_CODES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Minimum alignment of every element buffer, in bytes. */
#define PDL_BUFFER_ALIGNMENT 64

typedef enum pdl_element_type {
  PDL_F32 = 0,
  PDL_F64 = 1,
  PDL_I64 = 2
} pdl_element_type;

typedef enum pdl_numerics {
  PDL_NUMERICS_FAST = 0,  /* oneDNN, if it is built in */
  PDL_NUMERICS_STRICT = 1 /* fixed order of every sum */
} pdl_numerics;

/* Rounding of the factors of large f32 products. */
typedef enum pdl_compute {
  PDL_COMPUTE_ELEMENT = 0, /* no rounding */
  PDL_COMPUTE_BF16 = 1     /* to bf16, with sums in f32 */
} pdl_compute;

/* Storage format of the values of a table's rows in memory. Slots are always
 * stored in the table's element type, and all computations use the element
 * type. */
typedef enum pdl_storage {
  PDL_STORE_ELEMENT = 0, /* the table's element type */
  PDL_STORE_BF16 = 1,    /* of f32 tables: bf16, rounded (pdlabi/rounding.h) */
  PDL_STORE_F16 = 2      /* of f32 tables: IEEE 754 binary16 */
} pdl_storage;

/* The kind of product that pdlrt_gemm computes. */
typedef enum pdl_product {
  PDL_PRODUCT_FAST = PDL_NUMERICS_FAST,
  PDL_PRODUCT_STRICT = PDL_NUMERICS_STRICT,
  PDL_PRODUCT_BF16 = 2 /* of f32; factors rounded to bf16; fixed order */
} pdl_product;

/* How replicas train one model together. */
typedef enum pdl_mode {
  PDL_MODE_LOCAL = 0,      /* one process owns all state */
  PDL_MODE_SYNC = 1,       /* servers sum over all trainers, then apply */
  PDL_MODE_ASYNC = 2,      /* servers apply each worker's push separately */
  PDL_MODE_HALF_ASYNC = 3, /* servers apply each trainer's push separately */
  PDL_MODE_QUORUM = 4,     /* servers sum over the first trainers to arrive */
  PDL_MODE_COLLECTIVE = 5, /* as sync, but trainers own all state */
  PDL_MODE_HYBRID = 6, /* as sync; trainers own parameters, servers tables */
  PDL_MODE_GEO = 7     /* trainers apply; servers add up model deltas */
} pdl_mode;

/* Hardware on which stage compute runs. */
typedef enum pdl_target {
  PDL_TARGET_CPU = 0,
  /* a GPU; the stage itself runs on the host and launches kernels */
  PDL_TARGET_CUDA = 1
} pdl_target;

/* Process for which a program is compiled. */
typedef enum pdl_role {
  PDL_ROLE_LOCAL = 0, /* a single process that does everything */
  /* A trainer: has stages; the state is on servers. In mode geo it also has
   * optimizer kernels, as in role LOCAL. */
  PDL_ROLE_TRAINER = 1,
  /* An owner of state: has state and optimizer kernels; its programs have no
   * stages. In mode geo it only has values. */
  PDL_ROLE_PSERVER = 2
} pdl_role;

/* The distribution from which random ids are drawn. */
typedef enum pdl_distribution {
  PDL_DISTRIBUTION_UNIFORM = 0,
  /* Id first + k has the probability log((k + 2) / (k + 1)) / log(ids + 1). */
  PDL_DISTRIBUTION_LOG_UNIFORM = 1,
  PDL_DISTRIBUTION_COUNTS = 2 /* from a table of the program */
} pdl_distribution;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_CODES_H */
