/*===- pdlabi/abi.h - The contract of generated code and runtime --*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The one door between a compiled program and the runtime: plain C, versioned,
 * read by both and including neither.
 *
 * A compiled program exports one symbol, `pdl_program_query`. It returns a
 * constant descriptor: what the program reads (fields), what it owns (symbols,
 * groups, metrics), and its stages. The runtime calls the stages; the stages
 * call the `pdlrt_*` functions declared at the end of this file. A trainer that
 * owns a part of its job's state is two programs in one executable; the second
 * one, of role pserver, exports `pdl_owner_query` instead.
 *
 * Conventions:
 *  - Every struct that may grow starts with `struct_size`, the size that its
 *    writer knew. Integers have fixed width. Strings are NUL-terminated and
 *    constant.
 *  - Element buffers hold the element type of what they belong to (a field, a
 *    symbol with its slots and gradients, an output), are row-major and 64-byte
 *    aligned. Nobody frees across the boundary: all results go into buffers
 * that the caller owns.
 *  - A function that can fail returns 0 or a `pdl_status`, with a sentence in
 *    a thread-local place (`pdlrt_set_error`, `pdlrt_last_error`). No exception
 *    crosses. Stage `compute` may fail on a device alone.
 *  - Indices into descriptor arrays are `int32_t`; -1 says "none".
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_H
#define PDLABI_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change that an older reader would misread. */
#define PDL_ABI_VERSION 21u

/* The least alignment of every element buffer, in bytes. */
#define PDL_BUFFER_ALIGNMENT 64

/*===----------------------------------------------------------------------===*
 * Codes
 *===----------------------------------------------------------------------===*/

typedef enum pdl_status {
  PDL_OK = 0,
  PDL_INVALID_ARGUMENT = 1, /* bad data, flags or call */
  PDL_OUT_OF_MEMORY = 2,
  PDL_INTERNAL = 3 /* a broken promise inside PDL */
} pdl_status;

typedef enum pdl_element_type {
  PDL_F32 = 0,
  PDL_F64 = 1,
  PDL_I64 = 2
} pdl_element_type;

typedef enum pdl_numerics {
  PDL_NUMERICS_FAST = 0,  /* oneDNN where it is built in */
  PDL_NUMERICS_STRICT = 1 /* settled order of every sum */
} pdl_numerics;

/* What the factors of large f32 products are rounded to. */
typedef enum pdl_compute {
  PDL_COMPUTE_ELEMENT = 0, /* nothing: they stay as they are */
  PDL_COMPUTE_BF16 = 1     /* bf16, with sums in f32 */
} pdl_compute;

/* How a table holds the values of its rows in memory. Its slots are as its
 * element type says, and all is computed in it. */
typedef enum pdl_storage {
  PDL_STORE_ELEMENT = 0, /* as its element type says */
  PDL_STORE_BF16 = 1,    /* of f32: in bf16, rounded (pdlabi/rounding.h) */
  PDL_STORE_F16 = 2      /* of f32: in IEEE 754's binary16 */
} pdl_storage;

/* Which product pdlrt_gemm computes. */
typedef enum pdl_product {
  PDL_PRODUCT_FAST = PDL_NUMERICS_FAST,
  PDL_PRODUCT_STRICT = PDL_NUMERICS_STRICT,
  PDL_PRODUCT_BF16 = 2 /* of f32, factors rounded to bf16; settled order */
} pdl_product;

/* How replicas form one model. */
typedef enum pdl_mode {
  PDL_MODE_LOCAL = 0,      /* one process owns all state */
  PDL_MODE_SYNC = 1,       /* servers sum over all trainers, then apply */
  PDL_MODE_ASYNC = 2,      /* servers apply each worker's push by itself */
  PDL_MODE_HALF_ASYNC = 3, /* servers apply each trainer's push by itself */
  PDL_MODE_QUORUM = 4,     /* servers sum over the trainers that come first */
  PDL_MODE_COLLECTIVE = 5, /* as sync, but here trainers own all state */
  PDL_MODE_HYBRID = 6, /* as sync; trainers own parameters, servers tables */
  PDL_MODE_GEO = 7     /* trainers apply; servers add up their changes */
} pdl_mode;

/* What stage compute of a program runs on. */
typedef enum pdl_target {
  PDL_TARGET_CPU = 0,
  PDL_TARGET_CUDA = 1 /* a device; the stage itself runs on the host */
} pdl_target;

/* What a program is compiled for. */
typedef enum pdl_role {
  PDL_ROLE_LOCAL = 0,   /* everything */
  PDL_ROLE_TRAINER = 1, /* stages; state lives on servers. Mode geo: kernels
                           too, as in role LOCAL */
  PDL_ROLE_PSERVER = 2  /* state and its kernels; its programs have no stages.
                           Mode geo: values alone */
} pdl_role;

/*===----------------------------------------------------------------------===*
 * The record: what a reader must produce
 *===----------------------------------------------------------------------===*/

typedef enum pdl_field_kind {
  PDL_FIELD_DENSE = 0, /* numbers, batch x width */
  PDL_FIELD_IDS = 1,   /* 64-bit keys, batch x width, each present */
  PDL_FIELD_RAGGED = 2 /* batch x width bags of 64-bit keys or numbers */
} pdl_field_kind;

typedef enum pdl_hash_kind {
  PDL_HASH_NONE = 0, /* the text is a decimal integer and is itself the key */
  PDL_HASH_XXH64 = 1 /* xxh64 of the trimmed bytes, seed = salt */
} pdl_hash_kind;

typedef enum pdl_salt_kind {
  PDL_SALT_CONSTANT = 0, /* `salt` for every slot */
  PDL_SALT_SLOT = 1      /* the slot's position in the field, from 0 */
} pdl_salt_kind;

typedef enum pdl_missing_kind {
  PDL_MISSING_ERROR = 0, /* a missing value makes the row bad */
  PDL_MISSING_VALUE = 1, /* numbers: `missing_value` stands for it */
  PDL_MISSING_EMPTY = 2, /* ragged: an empty bag */
  PDL_MISSING_TOKEN = 3  /* ids, ragged: `missing_token` stands for the text */
} pdl_missing_kind;

typedef struct pdl_field {
  uint32_t struct_size;
  const char *name;
  int32_t kind;         /* pdl_field_kind */
  int32_t element_type; /* DENSE: F32, F64; IDS: I64; RAGGED: any */
  int64_t width;        /* columns (slots) of one sample */
  int32_t hash_kind;    /* pdl_hash_kind */
  int32_t salt_kind;    /* pdl_salt_kind */
  uint64_t salt;
  int32_t missing_kind; /* pdl_missing_kind */
  double missing_value;
  const char *missing_token;
  /* RAGGED: what stands for a missing value among others of one cell: a number
   * (VALUE) or the text of an id (TOKEN); ERROR: nothing, so that a missing id
   * is left out and a missing number is one of `missing_value`, or bad. */
  int32_t missing_element_kind;
  double missing_element_value;
  const char *missing_element_token;
  /* Texts of missing values, beside the empty one; null: `?` alone. */
  int64_t missing_text_count;
  const char *const *missing_texts;
  /* Where the columns stand in a CSV or TSV file: by position from 0, or by
   * header name; with neither, the field takes the `width` columns that follow
   * those of the field declared before it. */
  int64_t column_count; /* 0 or `width` */
  const int64_t *column_positions;
  const char *const *column_names;
  /* RAGGED: the character that separates values of one cell; 0 = none. */
  int32_t separator;
  /* Numbers: texts that stand for them (labels); 0 entries = none. */
  int64_t value_count;
  const char *const *value_texts;
  const double *value_numbers;
} pdl_field;

/* One batch of one field, filled by the reader. */
typedef struct pdl_field_data {
  void *values;          /* DENSE, IDS: batch * width elements; RAGGED: all */
  const int32_t *splits; /* RAGGED: batch * width + 1 offsets into values */
  int64_t value_count;   /* elements at `values` */
} pdl_field_data;

/*===----------------------------------------------------------------------===*
 * Symbols: what the program owns
 *===----------------------------------------------------------------------===*/

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
  PDL_UNKNOWN_INITIAL = 0, /* frozen programs see the initial value */
  PDL_UNKNOWN_ZERO = 1     /* frozen programs see zeros */
} pdl_unknown_kind;

/* Applies one group's rule, with division, clip and regularizer, to `count`
 * consecutive elements. `state[0]` is the value, `state[1 + s]` slot s, each
 * `count` elements (a row slot: one for each of their rows), updated in place.
 * `gradient`: the merged sum. `scalars`: what the group's `once` function
 * wrote. All elements are written; 1 if a number that was written is not
 * finite, else 0. Of what one call may be, `kernel_unit` of the symbol says. */
typedef int32_t (*pdl_dense_kernel)(int64_t count, void *const *state,
                                    const void *gradient, const void *scalars);

/* The same for `row_count` rows of `width` elements: `rows[i]` points to the
 * value of row i, followed without gap by its slots: `width` elements each, and
 * one for each row slot, all of the element type, also where a table holds
 * values otherwise; `gradients[i]` to its merged sum of gradients, behind it
 * the merged sums of its counts. The rows are distinct. */
typedef int32_t (*pdl_row_kernel)(int64_t row_count, int64_t width,
                                  void *const *rows,
                                  const void *const *gradients,
                                  const void *scalars);

/* The same where the group compensates delays: `seen` has the values that the
 * sender of the gradient computed it on, of each element or row, and overlaps
 * nothing else. */
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
  int32_t storage;      /* pdl_storage, of a table's values in memory */
  int32_t rank;         /* of `shape`; a table's shape is that of one row */
  const int64_t *shape;
  int64_t row_count;      /* parameter: first dimension, 1 for rank <= 1 */
  int64_t row_width;      /* elements of one row */
  int64_t gradient_width; /* elements of a row's gradient: `row_width`, and of a
                             table behind them the row's counts */
  int32_t group;          /* -1: never trained */
  int32_t frozen_part; /* what frozen programs read: 0: the value; 1 + s: slot
                          s, of the value's size, which begins as the value */
  pdl_initializer initializer;
  int32_t unknown; /* pdl_unknown_kind */
  int32_t slot_count;
  const char *const *slot_names;
  const double *slot_initial_values;
  int32_t row_slot_count; /* the last ones of the slots: an element a row */
  int32_t kernel_unit;    /* pdl_kernel_unit of dense_kernel */
  pdl_dense_kernel dense_kernel; /* parameters of a group */
  pdl_row_kernel row_kernel;     /* tables of a group */
  /* What a device launches in the place of dense_kernel or row_kernel, an index
   * of `device_kernels`; -1: nothing. Its arguments: how many elements, or rows
   * where kernel_unit says so; the addresses of the value, of each slot, of the
   * gradient and of the scalars; that of an int32_t, which becomes 1 where what
   * is written is not finite. Of a table, which stores elements: in the place
   * of value and slots the address of an array of those of rows, whose
   * gradients, of gradient_width elements, stand one behind the other. */
  int32_t device_kernel;
  /* In the place of these two in role PSERVER of modes in which the push of a
   * sender is a step by itself, where the group compensates delays. */
  pdl_late_dense_kernel late_dense_kernel;
  pdl_late_row_kernel late_row_kernel;
  /* The units that servers own as a whole (pdlabi/placement.h). Parameter: row
   * blocks; block i holds the rows [block_rows[i], block_rows[i + 1]), whole
   * units of 64 rows. Table: its 1024 logical shards. The unit's id is
   * placementUnitId(id, i). Mode local: 0, and null. */
  int64_t unit_count;
  const int64_t *block_rows;  /* parameter: [unit_count + 1]; table: null */
  const uint64_t *unit_costs; /* parameter: [unit_count]; table: one, for each
                                 shard. Bytes a step, as the compiler sees it */
  /* The life of a table's keys; of a parameter 0. */
  int32_t admission;       /* pdl_admission_kind: when a key gets a row */
  int64_t admission_count; /* PDL_ADMIT_COUNT: the occurrences that it takes.
                              The last one of a row's counts says how often the
                              key occurred */
  double admission_probability; /* PDL_ADMIT_PROBABILITY: the part of all keys
                                   that ever gets rows (pdlabi/admission.h) */
  int64_t shrink_every;  /* updates of the group in a period; 0: no row goes.
                            Else the last row slot says in which period, from 0,
                            the row was updated last */
  int64_t shrink_unseen; /* after so many periods without update it goes */
  /* At the end of a period: by row slot its weight in the row's score; null:
   * there are no scores. Slots of other weight than 0 are first multiplied by
   * `shrink_decay`; a row goes, too, whose score is less than `shrink_least`.
   */
  const double *score_weights;
  double shrink_decay; /* 1: slots stay */
  double shrink_least; /* minus infinity: none goes */
  /* PDL_ADMIT_SCORE: the score, above 0, that a row takes, and by count of a
   * row (`gradient_width` - `row_width`) its weight in what a key scores in an
   * update (pdlabi/admission.h). */
  double admission_score;
  const double *admission_weights;
} pdl_symbol;

typedef enum pdl_admission_kind {
  PDL_ADMIT_ALL = 0,
  PDL_ADMIT_COUNT = 1,
  PDL_ADMIT_PROBABILITY = 2,
  PDL_ADMIT_SCORE = 3
} pdl_admission_kind;

/* What one call of a parameter's kernel is for. */
typedef enum pdl_kernel_unit {
  PDL_UNIT_ELEMENT = 0,  /* any elements */
  PDL_UNIT_ROW = 1,      /* whole rows */
  PDL_UNIT_PARAMETER = 2 /* all of the parameter, which has one block at most */
} pdl_kernel_unit;

typedef enum pdl_untouched_kind {
  PDL_UNTOUCHED_LAZY = 0, /* rows without gradient stay as they are */
  PDL_UNTOUCHED_DENSE = 1 /* they are updated with a zero gradient */
} pdl_untouched_kind;

/* What a rule is given where the gradients of several steps are one push; and
   in mode geo, what of its changes a trainer sends. */
typedef enum pdl_merge_kind {
  PDL_MERGE_MEAN = 0, /* divided by the weight of all steps; by the trainers */
  PDL_MERGE_SUM = 1   /* divided by their mean weight; by nothing */
} pdl_merge_kind;

typedef struct pdl_once_arguments {
  double step;         /* 1 for the first applied update of this group */
  double weight;       /* the summed weight of all replicas, > 0 */
  double squared_norm; /* of the clip's divided gradients; 0 without a clip */
  double pushers;      /* senders whose gradients are each a step by itself; 1
                          where a step joins what all send */
} pdl_once_arguments;

/* One of the scalars that `once` writes. A step in which one is not finite, or
 * is a divisor and 0, is not applied. */
typedef struct pdl_scalar {
  const char *name;   /* for people: "sum of weights", "rate", ... */
  int32_t is_divisor; /* the kernels divide by it */
} pdl_scalar;

typedef struct pdl_group {
  uint32_t struct_size;
  const char *name;
  int32_t untouched;    /* pdl_untouched_kind, for its tables */
  int32_t clip;         /* index into clips, -1 = none */
  int32_t element_type; /* F32 or F64: of its scalars and of all its symbols */
  int32_t scalar_count; /* elements that `once` writes */
  const pdl_scalar *scalars;
  /* Schedule, clip factor and the rule's `once` region, in f64, each result
   * rounded once to the element type. */
  void (*once)(const pdl_once_arguments *arguments, void *scalars);
  int32_t merge;       /* pdl_merge_kind */
  int32_t compensates; /* 1: the model compensates delays of pushes, where there
                          are any */
} pdl_group;

typedef struct pdl_clip {
  uint32_t struct_size;
  const char *name;
  double limit; /* global norm over all groups that name this clip */
} pdl_clip;

typedef enum pdl_metric_kind {
  PDL_METRIC_AUC = 0,
  PDL_METRIC_LOG_LOSS = 1,
  PDL_METRIC_COPC = 2, /* clicks over predicted clicks: sum y / sum p */
  PDL_METRIC_MEAN = 3, /* of one value a sample */
  PDL_METRIC_MAE = 4,
  PDL_METRIC_RMSE = 5,
  PDL_METRIC_ACCURACY = 6,
  PDL_METRIC_BUCKET_ERROR = 7,
  /* Of ranked lists, one a sample. */
  PDL_METRIC_ACCURACY_AT = 8,
  PDL_METRIC_RECALL_AT = 9,
  PDL_METRIC_NDCG_AT = 10,
  PDL_METRIC_MRR = 11,
  /* Of samples in groups; the worker keeps them (pdlrt_observe_groups). */
  PDL_METRIC_GROUPED_AUC = 12
} pdl_metric_kind;

typedef struct pdl_metric {
  uint32_t struct_size;
  const char *name;
  int32_t kind;
  double parameter; /* buckets, a threshold, k; 0 where it has none */
} pdl_metric;

/*===----------------------------------------------------------------------===*
 * Programs and stages
 *===----------------------------------------------------------------------===*/

/* The result of one deduplicated lookup: `unique` fills all but `rows` and
 * `storage`; `pull` fills `storage` and makes room for `rows`, which are there
 * when `compute` begins. Owned by the runtime, valid for the step. */
typedef struct pdl_lookup {
  int64_t key_count;          /* U */
  const int64_t *keys;        /* [U], in order of first occurrence */
  int64_t occurrence_count;   /* N, over all inputs, inputs in order */
  const int32_t *inverse;     /* [N] occurrence to key index */
  const int32_t *key_splits;  /* [U + 1] into `occurrences` */
  const int32_t *occurrences; /* [N] grouped by key, ascending in a group */
  void *const *rows;          /* [U] pointers to the rows' values */
  int32_t storage;            /* pdl_storage of these values */
} pdl_lookup;

/* A size in bytes that a program needs for a batch:
 *   constant + per_batch * B + per_batch_squared * B * B
 *   + sum over the program's fields of per_id[f] * (elements of the batch in f)
 *   + sum over its lookups of per_key[l] * U(l) + per_occurrence[l] * N(l).
 * No part is negative. The sum may be beyond what 64 bits hold: whoever forms
 * it must notice. */
typedef struct pdl_affine_size {
  int64_t constant, per_batch, per_batch_squared;
  const int64_t *per_id;         /* [field_count]; null: zeros */
  const int64_t *per_key;        /* [lookup_count]; null: zeros */
  const int64_t *per_occurrence; /* [lookup_count]; null: zeros */
} pdl_affine_size;

/* What random numbers of samples are drawn with (pdlabi/draws.h). */
typedef struct pdl_draws {
  uint64_t seed;
  int64_t epoch;
  int64_t sample_count;   /* B */
  const int64_t *samples; /* [B]: which sample of the data each is, whoever
                             reads it and when: its row in its file, from 0,
                             good and bad ones counted, plus 2^40 times the
                             place of the file among all of the data */
} pdl_draws;

/* What a stage sees. All arrays are indexed as the program's lists say and are
 * valid for the call; a stage writes only what is named as written. */
typedef struct pdl_step_context {
  uint32_t struct_size;
  void *worker;                 /* opaque, for pdlrt_* calls */
  int64_t batch;                /* samples, B >= 1 */
  const pdl_field_data *fields; /* by program field */
  pdl_lookup *lookups;          /* by program lookup; prepare writes */
  void *const *parameters;      /* by descriptor symbol; read */
  void *const *gradients;       /* by program update; compute writes:
                                   parameter: its shape; table: U rows, each
                                   with its counts behind it */
  double *loss_sum;             /* by objective; compute writes: weighted sum of
                                   losses */
  double *weight_sum;     /* by objective; compute writes: sum of weights */
  double *const *metrics; /* by descriptor metric, its sums (metrics.h);
                             compute adds */
  void *const *outputs;   /* by program output; compute writes */
  void *prepare_arena;    /* lives from prepare to the end of the step */
  void *compute_arena;    /* lives during compute */
  const pdl_draws *draws; /* of this batch */
} pdl_step_context;

typedef int32_t (*pdl_stage)(const pdl_step_context *context);

/* Of the memory that a step context names, what has a copy on the device, or is
 * there alone. */
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

/* What a kernel does with an argument. */
typedef enum pdl_device_argument {
  PDL_DEVICE_NUMBER = 0,
  PDL_DEVICE_READ = 1,   /* the address of device memory that it reads */
  PDL_DEVICE_WRITTEN = 2 /* the same, and it writes there too */
} pdl_device_argument;

/* The turns `first`, and each that is `stride` further, of a kernel whose turns
 * are independent. Arguments have 8 bytes each. */
typedef void (*pdl_device_turns)(const uint64_t *arguments, int64_t first,
                                 int64_t stride);

/* A kernel of stages compute. */
typedef struct pdl_device_kernel {
  const char *name; /* of its entry in the device's code */
  int32_t argument_count;
  const int32_t *arguments; /* pdl_device_argument each */
  pdl_device_turns run;     /* the same code for the host */
} pdl_device_kernel;

typedef struct pdl_lookup_descriptor {
  int32_t symbol; /* the table */
} pdl_lookup_descriptor;

typedef struct pdl_update_descriptor {
  int32_t symbol;    /* what `gradients[i]` updates */
  int32_t lookup;    /* table: whose keys the rows of the gradient belong to */
  int32_t objective; /* whose sum of weights divides it: one for all updates of
                        a group, and of groups that share a clip. Without weight
                        in a step, its groups are not updated */
} pdl_update_descriptor;

typedef struct pdl_output {
  const char *name;
  int32_t element_type; /* pdl_element_type */
  int64_t width;        /* elements a sample; the buffer holds B * width */
} pdl_output;

/* What travels between a trainer process and a server. A message holds, in the
 * order of the program's channels, for each channel its units that the server
 * owns, ascending. */
typedef enum pdl_channel_kind {
  PDL_CHANNEL_VALUE = 0,        /* to the trainer: values of row blocks */
  PDL_CHANNEL_GRADIENT = 1,     /* to the server: sums of gradients of blocks */
  PDL_CHANNEL_KEYS = 2,         /* to the server: distinct keys of a table */
  PDL_CHANNEL_ROWS = 3,         /* to the trainer: the values of those keys */
  PDL_CHANNEL_ROW_GRADIENT = 4, /* to the server: a row, and its counts, for
                                   each of those keys */
  PDL_CHANNEL_LOSS = 5, /* both ways: sum of losses and of weights (f64) of an
                           objective, one channel each, in their order */
  PDL_CHANNEL_PARTIAL_NORM = 6, /* to the trainer: partial squared norms of a
                                   symbol's gradient (f64): of each 64 rows of a
                                   parameter's block, of each table shard */
  PDL_CHANNEL_NORM = 7, /* to the server: a clip's joint squared norm (f64) */
  /* Mode geo, where KEYS are those of ROW_DELTA, and ROWS of CHANGED_KEYS. */
  PDL_CHANNEL_DELTA = 8,        /* to the server: changes of row blocks */
  PDL_CHANNEL_ROW_DELTA = 9,    /* to the server: changes of rows of a table */
  PDL_CHANNEL_CHANGED_KEYS = 10 /* to the trainer: keys that others changed */
} pdl_channel_kind;

typedef struct pdl_channel {
  int32_t kind;   /* pdl_channel_kind */
  int32_t symbol; /* of the descriptor; LOSS, NORM: -1 */
  int32_t clip;   /* PARTIAL_NORM, NORM: of the descriptor. Mode async, where a
                     worker forms the norm itself: GRADIENT and ROW_GRADIENT too,
                     of the symbol's group. Else -1 */
} pdl_channel;

typedef struct pdl_program {
  uint32_t struct_size;
  const char *name;
  int32_t frozen; /* reads only: no key inserted, nothing updated */
  int32_t field_count;
  const int32_t *fields; /* indices of descriptor fields */
  /* Pairs of indices into `fields`: ragged fields whose bags have to be equally
   * long in each sample. Stage prepare fails where they are not. */
  int32_t joined_count;
  const int32_t *joined; /* 2 * joined_count */
  int32_t lookup_count;
  const pdl_lookup_descriptor *lookups;
  int32_t update_count;
  const pdl_update_descriptor *updates;
  int32_t output_count;
  const pdl_output *outputs;
  int32_t objective_count; /* each has a sum of losses and one of weights; the
                              first one's loss is that of the program. At least
                              one where anything is updated */
  int32_t observes_groups; /* compute feeds a metric of groups */
  pdl_affine_size prepare_arena; /* of batch and fields: the counts of keys and
                                    occurrences are not known yet, so its
                                    per_key and per_occurrence are zeros */
  pdl_affine_size compute_arena;
  pdl_stage prepare; /* may fail; null in a server's program */
  pdl_stage compute; /* 0; a pdl_status where a device failed; null in a
                        server's program */
  /* By channel number, the same in both roles; none in mode local, nor, in mode
   * geo, in a frozen program: a server knows programs with channels only. */
  int32_t channel_count;
  const pdl_channel *channels;
} pdl_program;

/* Who needs a part of a model to be as it was. */
typedef enum pdl_part_kind {
  PDL_PART_STATE = 0,     /* whoever reads values from a checkpoint */
  PDL_PART_OPTIMIZER = 1, /* whoever trains with its slots and step counts */
  PDL_PART_TRAINING = 2   /* whoever goes on with a training */
} pdl_part_kind;

/* One of the parts that the fingerprints of a model are made of, for a message:
 * "rate of group @dense" is "0.001". Names are unique within a kind. */
typedef struct pdl_part {
  int32_t kind; /* pdl_part_kind */
  const char *name;
  const char *value; /* in full where it is short, else a digest */
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
  const uint64_t *cpu_features; /* what code of the program may use: bit i % 64
                                   of word i / 64 stands for feature i of
                                   pdlabi/cpu.h */
  int32_t mode;                 /* pdl_mode */
  int32_t role;                 /* pdl_role */
  /* Of parts STATE and OPTIMIZER, and of parts TRAINING; the same in all modes,
   * so that checkpoints go from mode to mode. */
  uint64_t layout_fingerprint;
  uint64_t training_fingerprint;
  uint64_t wire_fingerprint; /* mode, units, channels, messages; not role. Mode
                                local: 0 */
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
  int32_t device_products; /* whether stages call pdlrt_device_product */
  int32_t device_kernel_count;
  const pdl_device_kernel *device_kernels; /* by number */
  const char *device_code; /* CUDA: PTX with an entry for each kernel; null: the
                              program was not compiled to it */
} pdl_descriptor;

/* The only exported symbol of a compiled program. Null if the program cannot
 * serve a reader of `version`. Runs on every x86-64 CPU. */
const pdl_descriptor *pdl_program_query(uint32_t version);
/* The same of the program of role pserver that stands beside a trainer in its
 * executable, in modes in which trainers own state; no other has it. */
const pdl_descriptor *pdl_owner_query(uint32_t version);

/*===----------------------------------------------------------------------===*
 * What generated code calls. `worker` is `pdl_step_context::worker`. The
 * functions are thread-safe as long as no two threads share a worker.
 * `type` is the element type of every untyped buffer of the call.
 *===----------------------------------------------------------------------===*/

/* Keeps a sentence for the calling thread; returns `status`. */
int32_t pdlrt_set_error(int32_t status, const char *sentence);
/* The sentence of the calling thread's last error, "" if there was none. */
const char *pdlrt_last_error(void);

/* --- prepare ------------------------------------------------------------- */

/* Memory of `bytes` bytes, aligned to PDL_BUFFER_ALIGNMENT, that lives as long
 * as the prepare arena: for what depends on the number of ids, which is known
 * only while `prepare` runs. Null if there is none, with the error set; the
 * stage then returns PDL_OUT_OF_MEMORY. */
void *pdlrt_allocate(void *worker, int64_t bytes);

/* Deduplicates `input_count` id arrays, taken one after the other, into
 * `lookup`. Keys stand in order of first occurrence. */
int32_t pdlrt_unique(void *worker, int32_t input_count,
                     const int64_t *const *ids, const int64_t *counts,
                     pdl_lookup *lookup);

/* Finds, and in a program that is not frozen inserts, a row for each key of
 * `lookup`, to which `lookup->rows` will point in `compute`; fills its
 * `storage`. `table`: index of the descriptor's symbol. */
int32_t pdlrt_pull(void *worker, int32_t table, pdl_lookup *lookup);

/* out[i] = the number of boundaries b with b <= values[i]; NaN gives
 * boundary_count. Boundaries ascend. */
void pdlrt_bucketize(int32_t type, int64_t count, const void *values,
                     int64_t boundary_count, const double *boundaries,
                     int64_t *out);

/* Crosses `operand_count` id arrays of `count` elements each:
 * out[i] = xxh64 of the operands' little-endian keys in operand order. */
void pdlrt_cross(int64_t count, int32_t operand_count,
                 const int64_t *const *operands, uint64_t salt, int64_t *out);

/* PDL_INVALID_ARGUMENT, with the error set, unless both splits, of `bag_count`
 * + 1 entries, cut bags of the same lengths. */
int32_t pdlrt_check_bags(int64_t bag_count, const int32_t *splits,
                         const int32_t *expected);

typedef enum pdl_distribution {
  PDL_DISTRIBUTION_UNIFORM = 0,
  PDL_DISTRIBUTION_LOG_UNIFORM = 1, /* first + k with the probability
                                       log((k + 2) / (k + 1)) / log(ids + 1) */
  PDL_DISTRIBUTION_COUNTS = 2       /* by a table of the program */
} pdl_distribution;

/* out[s * count + i] = the id, first <= id < behind, of draw i of sample s.
 * `table`, of 2 * (behind - first) entries, null unless by counts: sums of
 * weights, and where among them a search begins (pdlabi/draws.h). */
void pdlrt_sample(const pdl_draws *draws, int64_t stream, int32_t distribution,
                  int64_t count, int64_t first, int64_t behind,
                  const double *table, int64_t *out);

/* out[i] = the logarithm of the probability that a draw gives ids[i].
 * `logarithms`, of behind - first entries, null unless by counts: that of each
 * id, minus infinity for one that is never drawn. PDL_INVALID_ARGUMENT, with
 * the error set, for such an id, and for one that is none of the range. */
int32_t pdlrt_log_probability(int32_t type, int32_t distribution, int64_t first,
                              int64_t behind, const double *logarithms,
                              int64_t count, const int64_t *ids, void *out);

/* The number of crosses that `pdlrt_cross_ragged` writes: the sum over bags
 * of the product of the operands' bag sizes. Beyond the 2^31 - 1 that splits
 * can count it is 2^56, for which no memory can be had, so that `prepare`
 * fails. */
int64_t pdlrt_cross_ragged_count(int64_t bag_count, int32_t operand_count,
                                 const int32_t *const *splits);

/* Crosses bags: each bag of the result holds the cross of every combination,
 * the last operand fastest. A bag with an empty operand is empty. */
void pdlrt_cross_ragged(int64_t bag_count, int32_t operand_count,
                        const int64_t *const *operands,
                        const int32_t *const *splits, uint64_t salt,
                        int64_t *out, int32_t *out_splits);

/* --- compute ------------------------------------------------------------- */

/* Copies the values of the rows of a lookup, of `width` elements each, into
 * out, widened where they are stored in fewer bits. */
void pdlrt_gather(int32_t type, const pdl_lookup *lookup, int64_t width,
                  void *out);

typedef enum pdl_pooling {
  PDL_POOL_SUM = 0,
  PDL_POOL_MEAN = 1, /* the sum divided by the bag's size */
  PDL_POOL_SQRTN = 2 /* the sum divided by the root of the bag's size */
} pdl_pooling;

/* out[bag] = pooled rows[inverse[o]] for o in splits[bag] .. splits[bag + 1]:
 * a sum that starts at +0, in bag order. Null splits: each bag holds one id.
 * An empty bag gives zeros. `rows`: U x width, plain. `out`: rows of `row_bags`
 * bags, one behind the other, that start `row_stride` elements apart; what lies
 * behind the bags of a row is left alone. */
void pdlrt_pool(int32_t type, int32_t pooling, int64_t bag_count, int64_t width,
                const void *rows, const int32_t *inverse, const int32_t *splits,
                int64_t row_bags, int64_t row_stride, void *out);

/* What an input of a lookup gives to the gradient of its rows. */
typedef struct pdl_pooled_input {
  int32_t pooling;       /* pdl_pooling */
  int64_t first;         /* its first occurrence in the lookup */
  int64_t bag_count;     /* its bags */
  const void *cotangent; /* of its bags, in rows like `out` of pdlrt_pool */
  int64_t row_bags, row_stride; /* row_bags < 2^31 */
  const int32_t *splits; /* [bag_count + 1], from 0; null: each bag holds one
                            id */
} pdl_pooled_input;

/* The gradient of pooling with respect to the rows of a lookup: for each key,
 * and for each of its occurrences in `inputs`, ascending, the cotangent of the
 * bag that holds it (divided as the input's pooling says) is added to `out`
 * (U x width), which starts at +0. `inputs`: in the lookup's order; what is
 * missing adds nothing. `bag_of`: room for as many numbers as the lookup has
 * occurrences; may be null if no input has splits. */
void pdlrt_pool_gradient(int32_t type, const pdl_lookup *lookup, int64_t width,
                         int32_t input_count, const pdl_pooled_input *inputs,
                         int32_t *bag_of, void *out);

typedef enum pdl_post_op {
  PDL_POST_BIAS = 1,         /* add bias[n] */
  PDL_POST_RELU = 2,         /* x <= 0 ? +0 : x */
  PDL_POST_RELU_GRADIENT = 3 /* mask[m, n] <= 0 ? +0 : x */
} pdl_post_op;

typedef struct pdl_post {
  int32_t kind;        /* pdl_post_op */
  const void *operand; /* bias: n elements; mask: m x n, row-major */
} pdl_post;

/* C[m, n] = post(A op B), all row-major. A is m x k, or k x m with
 * `transpose_a`; B is k x n, or n x k with `transpose_b`; both without gaps.
 * The rows of C start `c_stride` >= n elements apart; what lies between them is
 * left alone. The posts are applied in order. Strict products, and those of
 * f64, start each element at +0 and are one FMA chain in ascending k. BF16:
 * likewise, on elements of A and B rounded to bf16 (to nearest, ties to even),
 * where k goes 1, 0, 3, 2, ... (a missing last partner is +0); in it, and in
 * its posts, denormal numbers are zeros. `product`: pdl_product. */
void pdlrt_gemm(void *worker, int32_t type, int32_t product,
                int32_t transpose_a, int32_t transpose_b, int64_t m, int64_t n,
                int64_t k, const void *a, const void *b, void *c,
                int64_t c_stride, int32_t post_count, const pdl_post *posts);

/* `count` small products without posts, each on its own factors, which stand
 * one behind the other without gaps, as the results do: m x n x k each, strict
 * in every numerics (see pdlrt_gemm). */
void pdlrt_batch_gemm(void *worker, int32_t type, int32_t transpose_a,
                      int32_t transpose_b, int64_t count, int64_t m, int64_t n,
                      int64_t k, const void *a, const void *b, void *c);

/* Rows of a batch that in-batch scores are formed of at a time. */
#define PDL_IN_BATCH_ROWS 128

/* The rows of a batch as each other's negatives. users, items: count x width.
 * s(i, j) = users[i] . items[j], as an element of pdlrt_gemm, minus
 * correction[j] (null: none); with `ids` (null: none) j is no negative of i if
 * j != i and their ids are equal. out[i] = m + log(sum over j of exp(s(i, j) -
 * m)), m the maximum over j, both in the order of pdlrt_reduce_rows. `scratch`:
 * PDL_IN_BATCH_ROWS * count elements. */
void pdlrt_in_batch_log_sum_exp(void *worker, int32_t type, int32_t numerics,
                                int64_t count, int64_t width, const void *users,
                                const void *items, const void *correction,
                                const int64_t *ids, void *scratch, void *out);

typedef enum pdl_batch_side {
  PDL_SIDE_USERS = 0,
  PDL_SIDE_ITEMS = 1
} pdl_batch_side;

/* Its gradient. w(i, j) = cotangent[i] * exp(s(i, j) - sums[i]), 0 where j is
 * no negative of i. USERS: out[i] = sum over j of w(i, j) items[j]; ITEMS:
 * out[j] = sum over i of w(i, j) users[i]; as products of pdlrt_gemm. `sums`:
 * what pdlrt_in_batch_log_sum_exp gave. */
void pdlrt_in_batch_gradient(void *worker, int32_t type, int32_t numerics,
                             int32_t side, int64_t count, int64_t width,
                             const void *users, const void *items,
                             const void *correction, const int64_t *ids,
                             const void *sums, const void *cotangent,
                             void *scratch, void *out);

/* Elements of samples, each 0 with the probability `rate`, else divided by 1 -
 * rate (multiplied by the quotient, rounded to the type). Null splits: a row of
 * `width` elements for each sample. Else `bag_count` bags, as many of each
 * sample, with a row for each of their ids. */
void pdlrt_dropout(const pdl_draws *draws, int64_t stream, int32_t type,
                   double rate, int64_t width, int64_t bag_count,
                   const int32_t *splits, const void *values, void *out);

typedef enum pdl_reduction {
  PDL_REDUCE_SUM = 0,
  PDL_REDUCE_MEAN = 1, /* the sum divided by the width */
  PDL_REDUCE_MAX = 2
} pdl_reduction;

/* out[r] = the reduction of row r: element j goes to lane j mod 16, lanes
 * start at +0 (max: at the first elements; a lane beyond the width at element
 * 0), then a tree 8-4-2-1: lane[l] = op(lane[l], lane[l + half]). The maximum
 * of a and b is a if a > b or a is NaN, else b. */
void pdlrt_reduce_rows(int32_t type, int32_t reduction, int64_t rows,
                       int64_t width, const void *values, void *out);

/* sum = the f64 sum of values[i] * weights[i] in ascending i (null weights:
 * ones); weight_sum = that of the weights, NaN where a weight is negative or
 * NaN. Each factor is widened first. */
void pdlrt_loss_sum(int32_t type, int64_t count, const void *values,
                    const void *weights, double *sum, double *weight_sum);

/* Adds `count` samples to a metric's sums, in order, as `observeSamples` of
 * metrics.h says. A sample has `width` predictions and `label_width` labels:
 * one of each, or of a metric of ranked lists the scores of its items, and as
 * many labels or one position. `labels` is null where the metric has none; null
 * `weights`: ones. */
void pdlrt_observe(int32_t type, int32_t metric_kind, double parameter,
                   int64_t count, int64_t width, const void *predictions,
                   int64_t label_width, const void *labels, const void *weights,
                   double *sums);

/* Adds `count` samples to a metric of groups, in order, as `observeGroups` of
 * metrics.h says: to its sums, and to the samples that the worker keeps for
 * metric `metric_index` of the descriptor. Null `weights`: ones. */
void pdlrt_observe_groups(void *worker, int32_t type, int32_t metric_index,
                          int64_t count, const void *predictions,
                          const void *labels, const int64_t *groups,
                          const void *weights, double *sums);

/* The gradient of parameter update `update` of the program is all written: it
 * may leave while the stage goes on, which does not touch it any more. In
 * programs whose gradients travel to owners of state; once a call of the stage
 * at most, and not for each update: what is not said is complete when the stage
 * ends. */
void pdlrt_gradient_ready(void *worker, int32_t update);

/* --- compute on a device ---------------------------------------------------
 *
 * The stage runs on the host and adds work to a stream of the replica's device,
 * which does it in order. A failure is kept: what is added behind it is
 * nothing, and pdlrt_device_wait says so. */

/* The copy on the device of what a place has; of places that compute writes,
 * the only one until the stage ends. What is written on the host before is
 * copied when it is asked for first. */
void *pdlrt_device_pointer(void *worker, int32_t place, int32_t index);

/* The copy on the device of `bytes` bytes of the program that never change. */
void *pdlrt_device_constant(void *worker, int64_t bytes, const void *constant);

/* Adds kernel `kernel` of the descriptor, of so many turns. */
void pdlrt_launch(void *worker, int32_t kernel, int64_t turns,
                  const uint64_t *arguments);

/* Adds C = A op B, each column plus its element of `bias` (null: none), of f32,
 * with A, B and C as those of pdlrt_gemm. A library of the device computes it,
 * in an order of its own. `product`: PDL_PRODUCT_FAST, or PDL_PRODUCT_BF16,
 * where it rounds factors to bf16 and adds in f32. What it does not take is a
 * launch of kernel `kernel` of the descriptor, which has the arguments of
 * pdldevice_product. */
void pdlrt_device_product(void *worker, int32_t product, int32_t kernel,
                          int32_t transpose_a, int32_t transpose_b, int64_t m,
                          int64_t n, int64_t k, const void *a, const void *b,
                          const void *bias, void *c, int64_t c_stride);

/* Adds pdlrt_gather, to memory of the device; of a table on the host by a copy
 * of its rows. */
void pdlrt_device_gather(void *worker, int32_t type, const pdl_lookup *lookup,
                         int64_t width, void *out);

/* Memory of the host of `bytes` bytes that copies may use until the stage ends.
 * Never null. */
void *pdlrt_host_memory(void *worker, int64_t bytes);

/* Adds a copy to, from or within the device. What it reads or writes of the
 * host is memory of pdlrt_host_memory. */
void pdlrt_copy_in(void *worker, int64_t bytes, const void *from_host,
                   void *to_device);
void pdlrt_copy_out(void *worker, int64_t bytes, const void *from_device,
                    void *to_host);
void pdlrt_copy_within(void *worker, int64_t bytes, const void *from, void *to);

/* Waits until all is done that was added, and gives its status, with the error
 * set. `is_last`: the stage adds no more; gradients and outputs that it has
 * asked for are brought to the host too. */
int32_t pdlrt_device_wait(void *worker, int32_t is_last);

/* --- both ---------------------------------------------------------------- */

/* The turns begin .. end - 1 of a loop whose turns are independent. */
typedef void (*pdl_loop)(const void *arguments, int64_t begin, int64_t end);

/* Calls loop(arguments, begin, end) for ranges that make up the `turns` turns,
 * on the threads that the calling stage may have. A turn reads and writes about
 * `bytes` bytes: what is little runs on the calling thread. `name`: of the
 * loop, for traces. */
void pdlrt_run_loop(const char *name, int64_t turns, int64_t bytes,
                    pdl_loop loop, const void *arguments);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_H */
