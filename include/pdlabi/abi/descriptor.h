/*===- pdlabi/abi/descriptor.h - Programs and the descriptor -------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The programs of a model, the channels between its roles, and the descriptor,
 * which a compiled program returns. Part of pdlabi/abi.h, which states the
 * conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_DESCRIPTOR_H
#define PDLABI_ABI_DESCRIPTOR_H

#include "pdlabi/abi/metric.h"
#include "pdlabi/abi/record.h"
#include "pdlabi/abi/stage.h"
#include "pdlabi/abi/symbols.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdl_lookup_descriptor {
  int32_t symbol; /* the table */
} pdl_lookup_descriptor;

typedef struct pdl_update_descriptor {
  int32_t symbol; /* the symbol that `gradients[i]` updates */
  int32_t lookup; /* table: the lookup with the keys of the gradient's rows */
  /* Index of the objective whose sum of weights divides the gradient. It is the
   * same for all updates of a group, and of groups that share a clip. If the
   * sum of weights is 0 in a step, these groups are not updated. */
  int32_t objective;
} pdl_update_descriptor;

typedef struct pdl_output {
  const char *name;
  int32_t element_type; /* pdl_element_type */
  int64_t width;        /* elements per sample; the buffer has B * width */
} pdl_output;

/* Kinds of data in the messages between a trainer process and a server. A
 * message has a section for each of the program's channels, in their order. A
 * section has the units that the server owns, ascending. */
typedef enum pdl_channel_kind {
  PDL_CHANNEL_VALUE = 0,    /* to the trainer: values of row blocks */
  PDL_CHANNEL_GRADIENT = 1, /* to the server: sums of gradients of blocks */
  PDL_CHANNEL_KEYS = 2,     /* to the server: distinct keys of a table */
  PDL_CHANNEL_ROWS = 3,     /* to the trainer: the values of the rows of KEYS */
  /* To the server: the gradients of the rows of KEYS, each with its counts. */
  PDL_CHANNEL_ROW_GRADIENT = 4,
  /* Both ways: sum of losses and sum of weights (f64) of an objective; one
   * channel for each objective, in their order. */
  PDL_CHANNEL_LOSS = 5,
  /* To the trainer: partial sums of the squared norm of a symbol's gradient
   * (f64): one for each 64 rows of a parameter's block, or for each shard of a
   * table. */
  PDL_CHANNEL_PARTIAL_NORM = 6,
  /* To the server: the joint squared norm of a clip (f64). */
  PDL_CHANNEL_NORM = 7,
  /* The following kinds are used in mode geo. In this mode, KEYS has the keys
   * of ROW_DELTA, and ROWS has the rows of CHANGED_KEYS. */
  PDL_CHANNEL_DELTA = 8,     /* to the server: deltas of row blocks */
  PDL_CHANNEL_ROW_DELTA = 9, /* to the server: deltas of rows of a table */
  /* To the trainer: keys that other trainers changed. */
  PDL_CHANNEL_CHANGED_KEYS = 10
} pdl_channel_kind;

typedef struct pdl_channel {
  int32_t kind;   /* pdl_channel_kind */
  int32_t symbol; /* index in the descriptor; LOSS, NORM: -1 */
  /* Index of the clip in the descriptor: for PARTIAL_NORM and NORM; in mode
   * async, in which a worker computes norms itself, also for GRADIENT and
   * ROW_GRADIENT, if the symbol's group has a clip. Otherwise -1. */
  int32_t clip;
} pdl_channel;

/* Some columns of a field of ids (kind IDS), and the ids that are allowed in
 * them. */
typedef struct pdl_id_range {
  int32_t field; /* an index into `fields` of the program */
  int32_t first_column;
  int32_t column_count;
  int64_t first; /* the least id */
  int64_t end;
  /* One bit for each id, beginning with `first`: 1 if the id is allowed. The
   * lowest bit of a word comes first. Null: all ids of the range are
   * allowed. */
  const int32_t *allowed;
} pdl_id_range;

typedef struct pdl_program {
  uint32_t struct_size;
  const char *name;
  int32_t frozen; /* read-only: inserts no key, updates nothing */
  int32_t field_count;
  const int32_t *fields; /* indices of descriptor fields */
  /* Pairs of indices into `fields`: ragged fields whose bags must have equal
   * lengths in each sample. Otherwise stage prepare fails. */
  int32_t joined_count;
  const int32_t *joined; /* 2 * joined_count */
  /* Ranges of ids. If an id is outside of its range, stage prepare returns an
   * error. */
  int32_t id_range_count;
  const pdl_id_range *id_ranges;
  int32_t lookup_count;
  const pdl_lookup_descriptor *lookups;
  int32_t update_count;
  const pdl_update_descriptor *updates;
  int32_t output_count;
  const pdl_output *outputs;
  /* Number of objectives. Each has a sum of losses and a sum of weights. The
   * loss of the first objective is the loss of the program. A program that
   * updates anything has at least one objective. */
  int32_t objective_count;
  int32_t observes_groups; /* 1: compute adds samples to a grouped metric */
  /* Size of the prepare arena. per_key and per_occurrence are zeros, because
   * keys are not known before the stage. */
  pdl_affine_size prepare_arena;
  pdl_affine_size compute_arena;
  pdl_stage prepare; /* may fail; null in a server's program */
  /* Returns 0, or a pdl_status if a device failed; null in a server's
   * program. */
  pdl_stage compute;
  /* Channels, in the order of their numbers, which are equal in both roles.
   * There are none in mode local, and in frozen programs in mode geo. Servers
   * only have programs with channels. */
  int32_t channel_count;
  const pdl_channel *channels;
} pdl_program;

/* Purpose for which a part of a model must be unchanged. */
typedef enum pdl_part_kind {
  PDL_PART_STATE = 0,     /* reading values from a checkpoint */
  PDL_PART_OPTIMIZER = 1, /* training with its slots and step counts */
  PDL_PART_TRAINING = 2   /* resuming a training */
} pdl_part_kind;

/* A named piece of a model's description, from which fingerprints are computed.
 * For example, name "rate of group @dense" has value "0.001". Messages about
 * differences print name and value. Names are unique within a kind. */
typedef struct pdl_part {
  int32_t kind; /* pdl_part_kind */
  const char *name;
  const char *value; /* the full value if it is short, otherwise a digest */
} pdl_part;

typedef struct pdl_descriptor {
  uint32_t struct_size;
  uint32_t abi_version;
  const char *model_name;
  const char *compiler_version;
  int32_t numerics;       /* pdl_numerics */
  int32_t compute;        /* pdl_compute */
  const char *target_cpu; /* such as x86-64-v3 */
  int32_t cpu_feature_word_count;
  /* Features that the program's code may use: bit i % 64 of word i / 64 is
   * feature i of pdlabi/cpu.h. */
  const uint64_t *cpu_features;
  int32_t mode; /* pdl_mode */
  int32_t role; /* pdl_role */
  /* `layout_fingerprint` covers the parts STATE and OPTIMIZER, and
   * `training_fingerprint` the parts TRAINING. They are the same in all modes,
   * so that a checkpoint of one mode can be loaded in another. */
  uint64_t layout_fingerprint;
  uint64_t training_fingerprint;
  /* Covers mode, units, channels and the format of messages, but not the role.
   * 0 in mode local. */
  uint64_t wire_fingerprint;
  int32_t part_count;
  const pdl_part *parts; /* by kind, then by name */
  int32_t field_count;
  const pdl_field *fields; /* in record order */
  int32_t symbol_count;
  const pdl_symbol *symbols;
  int32_t group_count;
  const pdl_group *groups;
  int32_t clip_count;
  const pdl_clip *clips;
  int32_t metric_count;
  const pdl_metric *metrics;
  int32_t program_count;
  const pdl_program *programs;
  int32_t target;          /* pdl_target */
  int32_t device_products; /* 1 if stages call pdlrt_device_product */
  int32_t device_kernel_count;
  const pdl_device_kernel *device_kernels; /* by kernel number */
  /* CUDA: PTX with an entry point for each kernel; null: the program was not
   * compiled to PTX. */
  const char *device_code;
} pdl_descriptor;

/* Returns the descriptor. Except for pdl_owner_query, this is the only symbol
 * that a compiled program exports. Returns null if the program does not support
 * ABI version `version`. Runs on every x86-64 CPU. */
const pdl_descriptor *pdl_program_query(uint32_t version);
/* Returns the descriptor of role pserver in a trainer's executable. Exists only
 * in modes in which trainers own state. */
const pdl_descriptor *pdl_owner_query(uint32_t version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_DESCRIPTOR_H */
