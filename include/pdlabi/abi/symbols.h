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

/* Applies a group's optimizer rule, with division by the weight, clip and
 * regularizer, to `count` consecutive elements of a parameter. `state[0]` is
 * the value and `state[1 + s]` is slot s, each with `count` elements; a row
 * slot has one element for each of the rows. Updates them in place. `gradient`
 * is the sum of gradients over all replicas. `scalars` has the scalars that the
 * group's `once` function has written. Writes all elements. Returns 1 if a
 * written number is not finite, otherwise 0. The symbol's `kernel_unit` defines
 * which ranges of elements a call may have. */
typedef int32_t (*pdl_dense_kernel)(int64_t count, void *const *state,
                                    const void *gradient, const void *scalars);

/* Like pdl_dense_kernel, for `row_count` distinct rows of a table. `rows[i]`
 * points to the value of row i, with `width` elements, followed without a gap
 * by its slots: `width` elements for each slot, one for each row slot. All
 * elements have the element type, even if the table stores values in another
 * format. `gradients[i]` points to the sum of the row's gradients over all
 * replicas, followed by the sums of its counts. */
typedef int32_t (*pdl_row_kernel)(int64_t row_count, int64_t width,
                                  void *const *rows,
                                  const void *const *gradients,
                                  const void *scalars);

/* Kernels for groups with delay compensation. `seen` has the values from which
 * the sender has computed the gradient, for each element or row. It overlaps no
 * other argument. The other arguments are those of the two kernels above. */
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
  /* Number of elements of a row's gradient: `row_width`. For a table, the row's
   * counts follow and are included. */
  int64_t gradient_width;
  int32_t group; /* -1: never trained */
  /* Part that frozen programs read. 0: the value. 1 + s: slot s, which has the
   * size of the value, and whose initial value is that of the value. */
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
  /* Index into `device_kernels` of the kernel that a device launches in place
   * of dense_kernel or row_kernel; -1: none. Its arguments:
   * - the number of elements, or of rows if kernel_unit says so;
   * - the addresses of the value, of each slot, of the gradient and of the
   *   scalars;
   * - the address of an int32_t, which the kernel sets to 1 if it writes a
   *   number that is not finite.
   *
   * For a table, there is one address of an array of row addresses in place of
   * the addresses of value and slots; the rows must have their values as
   * elements. The gradients of the rows, of gradient_width elements each,
   * follow each other. */
  int32_t device_kernel;
  /* Used in place of dense_kernel and row_kernel if the group compensates
   * delays: in role PSERVER, in modes that apply the push of each sender as a
   * separate step. */
  pdl_late_dense_kernel late_dense_kernel;
  pdl_late_row_kernel late_row_kernel;
  /* Number of units: of pieces that one owner has as a whole
   * (pdlabi/placement.h). The units of a parameter are blocks of rows: block i
   * has the rows [block_rows[i], block_rows[i + 1]), which are whole runs of 64
   * rows. The units of a table are its 1024 logical shards. The id of unit i is
   * placementUnitId(id, i). In mode local: 0, and block_rows is null. */
  int64_t unit_count;
  const int64_t *block_rows; /* parameter: [unit_count + 1]; table: null */
  /* Cost of each unit: bytes per step, as the compiler estimates them.
   * Parameter: [unit_count]; table: one number, which each shard costs. */
  const uint64_t *unit_costs;
  /* Feature admission and eviction of a table. For a parameter, the following
   * members are 0. */
  int32_t admission; /* pdl_admission_kind: when a key is admitted */
  /* PDL_ADMIT_COUNT: number of occurrences after which a key is admitted. The
   * last of a row's counts in a gradient is the number of occurrences of its
   * key. */
  int64_t admission_count;
  /* PDL_ADMIT_PROBABILITY: the fraction of all keys that ever get rows
   * (pdlabi/admission.h). */
  double admission_probability;
  /* Number of updates of the group in a period; 0: there are no periods and no
   * evictions at their end. Otherwise the last row slot has the number of the
   * period, from 0, in which the row was updated last. */
  int64_t shrink_every;
  /* Number of periods without an update after which a row is evicted. */
  int64_t shrink_unseen;
  /* Weight of each row slot in the score of a row; null: there are no scores.
   * Scores are computed at the end of a period. Before, slots with a weight
   * other than 0 are multiplied by `shrink_decay`. Afterwards, rows with a
   * score below `shrink_least` are evicted too. */
  const double *score_weights;
  double shrink_decay; /* 1: slots do not decay */
  /* minus infinity: no row is evicted because of its score */
  double shrink_least;
  /* PDL_ADMIT_SCORE: `admission_score` is the score, above 0, at which a key is
   * admitted. `admission_weights` has a weight for each count of a row
   * (`gradient_width` - `row_width`). The weighted sum of the counts is the
   * score that an update adds to a key (pdlabi/admission.h). */
  double admission_score;
  const double *admission_weights;
} pdl_symbol;

typedef enum pdl_admission_kind {
  PDL_ADMIT_ALL = 0,
  PDL_ADMIT_COUNT = 1,
  PDL_ADMIT_PROBABILITY = 2,
  PDL_ADMIT_SCORE = 3
} pdl_admission_kind;

/* The range of a parameter that one call of its kernel may update. */
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

/* Selects the divisor of a sum of gradients if a push contains the gradients of
 * several steps. In mode geo, selects the divisor of the changes that a trainer
 * sends. */
typedef enum pdl_merge_kind {
  /* The weight of all steps; in mode geo, the number of trainers. */
  PDL_MERGE_MEAN = 0,
  PDL_MERGE_SUM = 1 /* the mean weight of a step; in mode geo, 1 */
} pdl_merge_kind;

typedef struct pdl_once_arguments {
  double step;   /* 1 for the first applied update of this group */
  double weight; /* the summed weight of all replicas, > 0 */
  /* Squared norm of the gradients of the group's clip, after their division by
   * the weight; 0 if there is no clip. */
  double squared_norm;
  /* Number of senders whose pushes are applied as separate steps; 1 if a step
   * applies the sum of all gradients. */
  double senders;
} pdl_once_arguments;

/* One of the scalars that `once` writes. If a scalar is not finite, or if it is
 * a divisor and is 0, the step is not applied. */
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
  /* Computes the scalars of an update in f64: the schedule, the factor of the
   * clip, and the rule's `once` region. Rounds each result once to the element
   * type. */
  void (*once)(const pdl_once_arguments *arguments, void *scalars);
  int32_t merge; /* pdl_merge_kind */
  /* 1: the rule compensates delays, in modes in which pushes are separate
   * steps. */
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
