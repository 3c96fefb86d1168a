/*===- pdlabi/abi/symbols.h - State that a program owns ------------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Parameters and tables with their optimizer kernels, and the groups and clips
 * that train them. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_SYMBOLS_H
#define PDLABI_ABI_SYMBOLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pdl_initializer_kind {
  PDL_INIT_CONSTANT = 0,        /* a */
  PDL_INIT_UNIFORM = 1,         /* in [a, b) */
  PDL_INIT_NORMAL = 2,          /* mean a, standard deviation b */
  PDL_INIT_TRUNCATED_NORMAL = 3 /* the same, cut at a - 2 b and a + 2 b */
} pdl_initializer_kind;

typedef struct pdl_initializer {
  int32_t kind; /* pdl_initializer_kind */
  double a, b;
} pdl_initializer;

typedef enum pdl_symbol_kind {
  PDL_SYMBOL_PARAMETER = 0, /* dense tensor */
  PDL_SYMBOL_TABLE = 1      /* 64-bit key to row */
} pdl_symbol_kind;

typedef enum pdl_unknown_kind {
  PDL_UNKNOWN_INITIAL = 0, /* frozen programs read the initial value */
  PDL_UNKNOWN_ZERO = 1     /* frozen programs read zeros */
} pdl_unknown_kind;

/* Applies a group's optimizer rule, with division, clip and regularizer, to
 * `count` consecutive elements. `state[0]` is the value and `state[1 + s]` is
 * slot s, each with `count` elements (a row slot has one for each of their
 * rows). They are updated in place. `gradient` is the merged sum. `scalars` is
 * what the group's `once` function wrote. Writes all elements; returns 1 if a
 * written number is not finite, else 0. The symbol's `kernel_unit` says which
 * ranges one call may get. */
typedef int32_t (*pdl_dense_kernel)(int64_t count, void *const *state,
                                    const void *gradient, const void *scalars);

/* Does what pdl_dense_kernel does, for `row_count` distinct rows of `width`
 * elements. `rows[i]` points to the value of row i, followed without a gap by
 * its slots: `width` elements for each slot, one for each row slot. All have
 * the element type, even if the table stores values in another format.
 * `gradients[i]` points to the row's merged sum of gradients, followed by the
 * merged sums of its counts. */
typedef int32_t (*pdl_row_kernel)(int64_t row_count, int64_t width,
                                  void *const *rows,
                                  const void *const *gradients,
                                  const void *scalars);

/* Kernels of groups that compensate delays. Their other arguments are those of
 * the two kernels above. `seen` has, for each element or row, the values on
 * which the sender computed the gradient. It overlaps nothing else. */
typedef int32_t (*pdl_late_dense_kernel)(int64_t count, void *const *state,
                                         const void *gradient,
                                         const void *scalars, const void *seen);
typedef int32_t (*pdl_late_row_kernel)(int64_t row_count, int64_t width,
                                       void *const *rows,
                                       const void *const *gradients,
                                       const void *scalars,
                                       const void *const *seen);

typedef struct pdl_symbol {
  uint32_t struct_size;
  const char *name;
  uint64_t id;          /* xxh64 of the name, seed 0 */
  int32_t kind;         /* pdl_symbol_kind */
  int32_t element_type; /* F32 or F64: of values, slots and gradients */
  int32_t storage;      /* pdl_storage of a table's values in memory */
  int32_t rank;         /* of `shape`; a table's shape is that of one row */
  const int64_t *shape;
  int64_t row_count; /* parameter: first dimension, 1 if rank <= 1 */
  int64_t row_width; /* elements of one row */
  /* Elements of a row's gradient: `row_width`, and for a table also the row's
   * counts, which follow. */
  int64_t gradient_width;
  int32_t group; /* -1: never trained */
  /* Part that frozen programs read: 0: the value; 1 + s: slot s, which has the
   * value's size and starts as the value. */
  int32_t frozen_part;
  pdl_initializer initializer;
  int32_t unknown; /* pdl_unknown_kind */
  int32_t slot_count;
  const char *const *slot_names;
  const double *slot_initial_values;
  int32_t row_slot_count;        /* the last slots have one element per row */
  int32_t kernel_unit;           /* pdl_kernel_unit of dense_kernel */
  pdl_dense_kernel dense_kernel; /* parameters that belong to a group */
  pdl_row_kernel row_kernel;     /* tables that belong to a group */
  /* The kernel that a device launches instead of dense_kernel or row_kernel, an
   * index into `device_kernels`; -1: none. Its arguments:
   * - the number of elements, or of rows if kernel_unit says so;
   * - the addresses of the value, of each slot, of the gradient and of the
   *   scalars;
   * - the address of an int32_t, which becomes 1 if a written number is not
   *   finite.
   *
   * For a table, which must store elements, the address of an array of row
   * addresses replaces value and slots. The rows' gradients, of gradient_width
   * elements each, are consecutive. */
  int32_t device_kernel;
  /* Replace dense_kernel and row_kernel in role PSERVER, in modes that apply
   * each sender's push as a separate step, if the group compensates delays. */
  pdl_late_dense_kernel late_dense_kernel;
  pdl_late_row_kernel late_row_kernel;
  /* The units that servers own as a whole (pdlabi/placement.h). Parameter: row
   * blocks; block i has the rows [block_rows[i], block_rows[i + 1]), which are
   * whole units of 64 rows. Table: its 1024 logical shards. The unit's id is
   * placementUnitId(id, i). Mode local: 0, and null. */
  int64_t unit_count;
  const int64_t *block_rows; /* parameter: [unit_count + 1]; table: null */
  /* Parameter: [unit_count]; table: one, for each shard. Bytes per step, as
   * estimated by the compiler. */
  const uint64_t *unit_costs;
  /* Feature admission and eviction of a table; 0 for a parameter. */
  int32_t admission; /* pdl_admission_kind: when a key is admitted */
  /* PDL_ADMIT_COUNT: number of occurrences that admit a key. The last of a
   * row's counts is the number of occurrences of the key. */
  int64_t admission_count;
  /* PDL_ADMIT_PROBABILITY: the fraction of all keys that ever get rows
   * (pdlabi/admission.h). */
  double admission_probability;
  /* Updates of the group in a period; 0: no row is evicted. Otherwise the last
   * row slot is the period, from 0, in which the row was last updated. */
  int64_t shrink_every;
  /* A row is evicted after so many periods without an update. */
  int64_t shrink_unseen;
  /* For each row slot, its weight in the row's score, which is computed at the
   * end of a period; null: there are no scores. Slots with a weight other than
   * 0 are first multiplied by `shrink_decay`. Rows with a score below
   * `shrink_least` are evicted, too. */
  const double *score_weights;
  double shrink_decay; /* 1: slots do not decay */
  double shrink_least; /* minus infinity: no row is evicted for its score */
  /* PDL_ADMIT_SCORE: the score, above 0, that admits a key; and, for each count
   * of a row (`gradient_width` - `row_width`), its weight in the score that a
   * key gets in an update (pdlabi/admission.h). */
  double admission_score;
  const double *admission_weights;
} pdl_symbol;

typedef enum pdl_admission_kind {
  PDL_ADMIT_ALL = 0,
  PDL_ADMIT_COUNT = 1,
  PDL_ADMIT_PROBABILITY = 2,
  PDL_ADMIT_SCORE = 3
} pdl_admission_kind;

/* The range of a parameter that one call of its kernel updates. */
typedef enum pdl_kernel_unit {
  PDL_UNIT_ELEMENT = 0, /* any elements */
  PDL_UNIT_ROW = 1,     /* whole rows */
  /* The whole parameter, which then has at most one block. */
  PDL_UNIT_PARAMETER = 2
} pdl_kernel_unit;

typedef enum pdl_untouched_kind {
  PDL_UNTOUCHED_LAZY = 0, /* rows without gradient stay as they are */
  /* Rows without gradient are updated with a zero gradient. */
  PDL_UNTOUCHED_DENSE = 1
} pdl_untouched_kind;

/* What a rule receives if one push has the gradients of several steps. In mode
 * geo: what a trainer sends of its changes. */
typedef enum pdl_merge_kind {
  /* Divided by the weight of all steps; geo: by the number of trainers. */
  PDL_MERGE_MEAN = 0,
  PDL_MERGE_SUM = 1 /* divided by their mean weight; geo: not divided */
} pdl_merge_kind;

typedef struct pdl_once_arguments {
  double step;   /* 1 for the first applied update of this group */
  double weight; /* the summed weight of all replicas, > 0 */
  /* Of the clip's divided gradients; 0 if there is no clip. */
  double squared_norm;
  /* Number of senders whose gradients are each applied as a separate step; 1 if
   * a step sums all gradients. */
  double senders;
} pdl_once_arguments;

/* One of the scalars that `once` writes. If a scalar is not finite, or is a
 * divisor and 0, the step is not applied. */
typedef struct pdl_scalar {
  const char *name;   /* for messages: "sum of weights", "rate", ... */
  int32_t is_divisor; /* the kernels divide by it */
} pdl_scalar;

typedef struct pdl_group {
  uint32_t struct_size;
  const char *name;
  int32_t untouched;    /* pdl_untouched_kind, for its tables */
  int32_t clip;         /* index into clips, -1 = none */
  int32_t element_type; /* F32 or F64: of its scalars and of all its symbols */
  int32_t scalar_count; /* number of elements that `once` writes */
  const pdl_scalar *scalars;
  /* Computes schedule, clip factor and the rule's `once` region, in f64. Each
   * result is rounded once to the element type. */
  void (*once)(const pdl_once_arguments *arguments, void *scalars);
  int32_t merge; /* pdl_merge_kind */
  /* 1: the model compensates delays of pushes, if there are any. */
  int32_t compensates;
} pdl_group;

typedef struct pdl_clip {
  uint32_t struct_size;
  const char *name;
  double limit; /* maximum global norm over all groups that name this clip */
} pdl_clip;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_SYMBOLS_H */
