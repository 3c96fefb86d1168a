/*===- pdlabi/abi.h - Interface of compiled code and runtime ------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The only interface between a compiled program and the runtime. It is plain C
 * and versioned. Both sides include it; it includes neither.
 *
 * A compiled program exports one symbol, `pdl_program_query`. It returns a
 * constant descriptor: what the program reads (fields), what it owns (symbols,
 * groups, metrics), and its stages. The runtime calls the stages; the stages
 * call the `pdlrt_*` functions declared at the end of this file. If trainers
 * own a part of their job's state, the executable contains two programs; the
 * second one, of role pserver, exports `pdl_owner_query` instead.
 *
 * Conventions:
 * - Every struct that may grow starts with `struct_size`, the size that its
 *   writer knew. Integers have fixed width. Strings are NUL-terminated and
 *   constant.
 * - Element buffers hold the element type of the object that they belong to (a
 *   field, a symbol with its slots and gradients, an output). They are
 *   row-major and 64-byte aligned. Neither side frees memory of the other: all
 *   results go into buffers that the caller owns.
 * - A function that can fail returns 0 or a `pdl_status`, and stores an error
 *   message for the calling thread (`pdlrt_set_error`, `pdlrt_last_error`). No
 *   exception crosses the interface. Stage `compute` can fail only on a device.
 * - Indices into descriptor arrays are `int32_t`; -1 means "none".
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_H
#define PDLABI_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change that an older reader would misread. */
#define PDL_ABI_VERSION 22u

/* Minimum alignment of every element buffer, in bytes. */
#define PDL_BUFFER_ALIGNMENT 64

/*===----------------------------------------------------------------------===*
 * Codes
 *===----------------------------------------------------------------------===*/

/* Codes may be added, but none changes its number. Readers treat a code that
 * they do not know as a failure like any other. */
typedef enum pdl_status {
  PDL_OK = 0,
  PDL_INVALID_ARGUMENT = 1, /* bad data, flags or call */
  PDL_OUT_OF_MEMORY = 2,
  PDL_INTERNAL = 3,             /* a bug in PDL */
  PDL_UNAVAILABLE = 4,          /* a process is gone or not yet reachable */
  PDL_NOT_FOUND = 5,            /* a file or folder does not exist */
  PDL_IO_ERROR = 6,             /* a system call on a file or socket failed */
  PDL_DATA_LOSS = 7,            /* a file or message is torn or damaged */
  PDL_DEADLINE_EXCEEDED = 8,    /* no response within the time limit */
  PDL_RESOURCE_EXHAUSTED = 9,   /* disk full, or a limit other than memory */
  PDL_FAILED_PRECONDITION = 10, /* the state does not allow the call */
  PDL_CANCELLED = 11            /* stopped on request */
} pdl_status;

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

/* Format of the values of a table's rows in memory. Slots always have the
 * table's element type, and all computations are done in it. */
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
  PDL_TARGET_CUDA = 1 /* a device; the stage's own code runs on the host */
} pdl_target;

/* Process for which a program is compiled. */
typedef enum pdl_role {
  PDL_ROLE_LOCAL = 0, /* a single process that does everything */
  /* Stages; the state is on servers. Mode geo: kernels too, as in role
   * LOCAL. */
  PDL_ROLE_TRAINER = 1,
  /* State and its kernels; its programs have no stages. Mode geo: only
   * values. */
  PDL_ROLE_PSERVER = 2
} pdl_role;

/*===----------------------------------------------------------------------===*
 * The record: data that a reader must produce
 *===----------------------------------------------------------------------===*/

typedef enum pdl_field_kind {
  PDL_FIELD_DENSE = 0, /* numbers, batch x width */
  PDL_FIELD_IDS = 1,   /* 64-bit keys, batch x width, none missing */
  PDL_FIELD_RAGGED = 2 /* batch x width bags of 64-bit keys or numbers */
} pdl_field_kind;

typedef enum pdl_hash_kind {
  PDL_HASH_NONE = 0, /* the text is a decimal integer and is itself the key */
  PDL_HASH_XXH64 = 1 /* xxh64 of the trimmed bytes, with the salt as seed */
} pdl_hash_kind;

typedef enum pdl_salt_kind {
  PDL_SALT_CONSTANT = 0, /* `salt`, for every slot */
  PDL_SALT_SLOT = 1      /* the slot's position in the field, from 0 */
} pdl_salt_kind;

typedef enum pdl_missing_kind {
  PDL_MISSING_ERROR = 0, /* a missing value makes the row invalid */
  PDL_MISSING_VALUE = 1, /* numbers: replaced by `missing_value` */
  PDL_MISSING_EMPTY = 2, /* ragged: an empty bag */
  /* Ids, ragged: the text is replaced by `missing_token`. */
  PDL_MISSING_TOKEN = 3
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
  /* RAGGED: replacement of a missing value among other values of a cell: a
   * number (VALUE) or the text of an id (TOKEN). ERROR: no replacement; a
   * missing id is left out, and a missing number becomes `missing_value` or
   * makes the row invalid. */
  int32_t missing_element_kind;
  double missing_element_value;
  const char *missing_element_token;
  /* Texts of missing values, in addition to the empty text; null: only `?`. */
  int64_t missing_text_count;
  const char *const *missing_texts;
  /* Columns of the field in a CSV or TSV file: by position from 0, or by header
   * name. If neither is given, the field has the `width` columns that follow
   * those of the field declared before it. */
  int64_t column_count; /* 0 or `width` */
  const int64_t *column_positions;
  const char *const *column_names;
  /* RAGGED: the character that separates the values of a cell; 0 = none. */
  int32_t separator;
  /* Texts that are read as numbers (labels); 0 entries = none. */
  int64_t value_count;
  const char *const *value_texts;
  const double *value_numbers;
} pdl_field;

/* One batch of one field. The reader fills it. */
typedef struct pdl_field_data {
  void *values; /* DENSE, IDS: batch * width elements; RAGGED: all elements */
  const int32_t *splits; /* RAGGED: batch * width + 1 offsets into values */
  int64_t value_count;   /* elements at `values` */
} pdl_field_data;

/*===----------------------------------------------------------------------===*
 * Symbols: state that the program owns
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

/* The same for `row_count` distinct rows of `width` elements. `rows[i]` points
 * to the value of row i, followed without a gap by its slots: `width` elements
 * for each slot, one for each row slot. All have the element type, even if the
 * table stores values in another format. `gradients[i]` points to the row's
 * merged sum of gradients, followed by the merged sums of its counts. */
typedef int32_t (*pdl_row_kernel)(int64_t row_count, int64_t width,
                                  void *const *rows,
                                  const void *const *gradients,
                                  const void *scalars);

/* The same for groups that compensate delays. `seen` has, for each element or
 * row, the values on which the sender computed the gradient. It overlaps
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

typedef enum pdl_metric_kind {
  PDL_METRIC_AUC = 0,
  PDL_METRIC_LOG_LOSS = 1,
  PDL_METRIC_COPC = 2, /* clicks over predicted clicks: sum y / sum p */
  PDL_METRIC_MEAN = 3, /* of one value per sample */
  PDL_METRIC_MAE = 4,
  PDL_METRIC_RMSE = 5,
  PDL_METRIC_ACCURACY = 6,
  PDL_METRIC_BUCKET_ERROR = 7,
  /* Of ranked lists, one per sample. */
  PDL_METRIC_ACCURACY_AT = 8,
  PDL_METRIC_RECALL_AT = 9,
  PDL_METRIC_NDCG_AT = 10,
  PDL_METRIC_MRR = 11,
  /* Of groups of samples; the worker keeps the samples
   * (pdlrt_observe_groups). */
  PDL_METRIC_GROUPED_AUC = 12
} pdl_metric_kind;

typedef struct pdl_metric {
  uint32_t struct_size;
  const char *name;
  int32_t kind;
  double parameter; /* buckets, a threshold, k; 0 if there is none */
} pdl_metric;

/*===----------------------------------------------------------------------===*
 * Programs and stages
 *===----------------------------------------------------------------------===*/

/* The result of one deduplicated lookup. `unique` fills all but `rows` and
 * `storage`. `pull` fills `storage` and allocates `rows`, whose entries are
 * valid when `compute` starts. Owned by the runtime; valid during the step. */
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

/* Inputs of the random numbers that are drawn for samples (pdlabi/draws.h). */
typedef struct pdl_draws {
  uint64_t seed;
  int64_t epoch;
  int64_t sample_count; /* B */
  /* [B]: number of each sample in the data, independent of the process that
   * reads it and of the time: its row in its file, from 0, including invalid
   * rows, plus 2^40 times the position of the file in the data. */
  const int64_t *samples;
} pdl_draws;

/* The arguments of a stage. Arrays are indexed as the program's lists define,
 * and are valid during the call. A stage writes only what is marked as
 * written. */
typedef struct pdl_step_context {
  uint32_t struct_size;
  void *worker;                 /* opaque, for pdlrt_* calls */
  int64_t batch;                /* samples, B >= 1 */
  const pdl_field_data *fields; /* by program field */
  pdl_lookup *lookups;          /* by program lookup; written by prepare */
  void *const *parameters;      /* by descriptor symbol; read */
  /* By program update; written by compute: parameter: its shape; table: U rows,
   * each followed by its counts. */
  void *const *gradients;
  /* By objective; written by compute: weighted sum of losses. */
  double *loss_sum;
  double *weight_sum; /* by objective; written by compute: sum of weights */
  /* By descriptor metric, its sums (metrics.h); compute adds to them. */
  double *const *metrics;
  void *const *outputs;   /* by program output; written by compute */
  void *prepare_arena;    /* valid from prepare to the end of the step */
  void *compute_arena;    /* valid during compute */
  const pdl_draws *draws; /* of this batch */
} pdl_step_context;

typedef int32_t (*pdl_stage)(const pdl_step_context *context);

/* Memory named by a step context that has a copy on the device, or is only on
 * the device. */
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

/* Runs iteration `first`, and every `stride`-th one after it, of a kernel with
 * independent iterations. Arguments have 8 bytes each. */
typedef void (*pdl_device_turns)(const uint64_t *arguments, int64_t first,
                                 int64_t stride);

/* A kernel of a compute stage. */
typedef struct pdl_device_kernel {
  const char *name; /* name of its entry point in the device code */
  int32_t argument_count;
  const int32_t *arguments; /* pdl_device_argument each */
  pdl_device_turns run;     /* the same code for the host */
} pdl_device_kernel;

typedef struct pdl_lookup_descriptor {
  int32_t symbol; /* the table */
} pdl_lookup_descriptor;

typedef struct pdl_update_descriptor {
  int32_t symbol; /* the symbol that `gradients[i]` updates */
  int32_t lookup; /* table: the lookup with the keys of the gradient's rows */
  /* The objective whose sum of weights divides the gradient. It is the same for
   * all updates of a group, and of groups that share a clip. If its weight is 0
   * in a step, its groups are not updated. */
  int32_t objective;
} pdl_update_descriptor;

typedef struct pdl_output {
  const char *name;
  int32_t element_type; /* pdl_element_type */
  int64_t width;        /* elements per sample; the buffer has B * width */
} pdl_output;

/* Data exchanged between a trainer process and a server. A message has, in the
 * order of the program's channels, those units of each channel that the server
 * owns, ascending. */
typedef enum pdl_channel_kind {
  PDL_CHANNEL_VALUE = 0,    /* to the trainer: values of row blocks */
  PDL_CHANNEL_GRADIENT = 1, /* to the server: sums of gradients of blocks */
  PDL_CHANNEL_KEYS = 2,     /* to the server: distinct keys of a table */
  PDL_CHANNEL_ROWS = 3,     /* to the trainer: the values of those keys */
  /* To the server: for each of those keys a row of gradients, with its
   * counts. */
  PDL_CHANNEL_ROW_GRADIENT = 4,
  /* Both ways: sum of losses and sum of weights (f64) of an objective; one
   * channel for each objective, in their order. */
  PDL_CHANNEL_LOSS = 5,
  /* To the trainer: partial squared norms of a symbol's gradient (f64): of each
   * 64 rows of a parameter's block, of each table shard. */
  PDL_CHANNEL_PARTIAL_NORM = 6,
  /* To the server: the joint squared norm of a clip (f64). */
  PDL_CHANNEL_NORM = 7,
  /* Mode geo. There KEYS are the keys of ROW_DELTA, and ROWS those of
   * CHANGED_KEYS. */
  PDL_CHANNEL_DELTA = 8,     /* to the server: deltas of row blocks */
  PDL_CHANNEL_ROW_DELTA = 9, /* to the server: deltas of rows of a table */
  /* To the trainer: keys that other trainers changed. */
  PDL_CHANNEL_CHANGED_KEYS = 10
} pdl_channel_kind;

typedef struct pdl_channel {
  int32_t kind;   /* pdl_channel_kind */
  int32_t symbol; /* index in the descriptor; LOSS, NORM: -1 */
  /* PARTIAL_NORM, NORM: index in the descriptor. Mode async, where a worker
   * computes the norm itself: also GRADIENT and ROW_GRADIENT, the clip of the
   * symbol's group. Otherwise -1. */
  int32_t clip;
} pdl_channel;

/* Columns of a dense field of ids, and the ids that a row may have there. */
typedef struct pdl_id_range {
  int32_t field; /* an index into `fields` of the program */
  int32_t first_column;
  int32_t column_count;
  int64_t first; /* the least id */
  int64_t end;
  /* A bit for each id from `first`, the lowest bit of a word first, that says
   * whether a row may have it. Null: it may have all of them. */
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
  /* Where stage prepare fails if an id is not in its range. */
  int32_t id_range_count;
  const pdl_id_range *id_ranges;
  int32_t lookup_count;
  const pdl_lookup_descriptor *lookups;
  int32_t update_count;
  const pdl_update_descriptor *updates;
  int32_t output_count;
  const pdl_output *outputs;
  /* Each has a sum of losses and a sum of weights; the first one's loss is the
   * loss of the program. A program that updates anything has at least one. */
  int32_t objective_count;
  int32_t observes_groups; /* compute adds samples to a metric of groups */
  /* Depends on batch and fields; per_key and per_occurrence are zeros, because
   * these counts are not known yet. */
  pdl_affine_size prepare_arena;
  pdl_affine_size compute_arena;
  pdl_stage prepare; /* may fail; null in a server's program */
  /* Returns 0, or a pdl_status if a device failed; null in a server's
   * program. */
  pdl_stage compute;
  /* By channel number, equal in both roles. There are none in mode local, and
   * none in a frozen program in mode geo: a server has only programs with
   * channels. */
  int32_t channel_count;
  const pdl_channel *channels;
} pdl_program;

/* Uses for which a part of a model must be unchanged. */
typedef enum pdl_part_kind {
  PDL_PART_STATE = 0,     /* reading values from a checkpoint */
  PDL_PART_OPTIMIZER = 1, /* training with its slots and step counts */
  PDL_PART_TRAINING = 2   /* resuming a training */
} pdl_part_kind;

/* A part of a model that its fingerprints cover, for messages: "rate of group
 * @dense" is "0.001". Names are unique within a kind. */
typedef struct pdl_part {
  int32_t kind; /* pdl_part_kind */
  const char *name;
  const char *value; /* the full value if it is short, else a digest */
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
  /* Fingerprints of the parts STATE and OPTIMIZER, and of the parts TRAINING.
   * They are the same in all modes, so that a checkpoint of one mode can be
   * loaded in another. */
  uint64_t layout_fingerprint;
  uint64_t training_fingerprint;
  /* Covers mode, units, channels and messages, but not the role. Mode local:
   * 0. */
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

/* Returns the descriptor; this is the only symbol that a compiled program
 * exports. Returns null if the program does not support readers of `version`.
 * Runs on every x86-64 CPU. */
const pdl_descriptor *pdl_program_query(uint32_t version);
/* Returns the descriptor of the program of role pserver in a trainer's
 * executable. Exists only in modes in which trainers own state. */
const pdl_descriptor *pdl_owner_query(uint32_t version);

/*===----------------------------------------------------------------------===*
 * Functions that generated code calls. `worker` is `pdl_step_context::worker`.
 * The functions are thread-safe as long as no two threads share a worker.
 * `type` is the element type of every untyped buffer of the call.
 *===----------------------------------------------------------------------===*/

/* Stores an error message for the calling thread. Returns `status`. */
int32_t pdlrt_set_error(int32_t status, const char *sentence);
/* Returns the error message of the calling thread's last error, "" if there was
 * none. */
const char *pdlrt_last_error(void);

/* --- prepare ------------------------------------------------------------- */

/* Allocates `bytes` bytes, aligned to PDL_BUFFER_ALIGNMENT, that live as long
 * as the prepare arena. Used for sizes that depend on the number of ids, which
 * is known only while `prepare` runs. If memory is exhausted, returns null and
 * sets the error; the stage then returns PDL_OUT_OF_MEMORY. */
void *pdlrt_allocate(void *worker, int64_t bytes);

/* Deduplicates `input_count` id arrays, in order, into `lookup`. Keys are in
 * order of first occurrence. */
int32_t pdlrt_unique(void *worker, int32_t input_count,
                     const int64_t *const *ids, const int64_t *counts,
                     pdl_lookup *lookup);

/* Finds a row for each key of `lookup`; a program that is not frozen inserts
 * missing rows. `lookup->rows` will point to these rows in `compute`. Fills
 * `storage` of the lookup. `table`: index of the descriptor's symbol. */
int32_t pdlrt_pull(void *worker, int32_t table, pdl_lookup *lookup);

/* Computes out[i] = the number of boundaries b with b <= values[i]; for NaN,
 * boundary_count. Boundaries must ascend. */
void pdlrt_bucketize(int32_t type, int64_t count, const void *values,
                     int64_t boundary_count, const double *boundaries,
                     int64_t *out);

/* Crosses `operand_count` id arrays of `count` elements each:
 * out[i] = xxh64 of the operands' little-endian keys in operand order. */
void pdlrt_cross(int64_t count, int32_t operand_count,
                 const int64_t *const *operands, uint64_t salt, int64_t *out);

/* Checks that both splits, of `bag_count` + 1 entries, define bags of the same
 * lengths. If not, sets the error and returns PDL_INVALID_ARGUMENT. */
int32_t pdlrt_check_bags(int64_t bag_count, const int32_t *splits,
                         const int32_t *expected);

typedef enum pdl_distribution {
  PDL_DISTRIBUTION_UNIFORM = 0,
  /* Id first + k has the probability log((k + 2) / (k + 1)) / log(ids + 1). */
  PDL_DISTRIBUTION_LOG_UNIFORM = 1,
  PDL_DISTRIBUTION_COUNTS = 2 /* from a table of the program */
} pdl_distribution;

/* Computes out[s * count + i] = the id of draw i of sample s, with first <= id
 * < end. `table` has 2 * (end - first) entries: sums of weights, and the
 * positions at which a search in them starts (pdlabi/draws.h). It is null
 * unless the distribution is by counts. */
void pdlrt_sample(const pdl_draws *draws, int64_t stream, int32_t distribution,
                  int64_t count, int64_t first, int64_t end,
                  const double *table, int64_t *out);

/* Computes out[i] = the logarithm of the probability that a draw gives ids[i].
 * `logarithms` has end - first entries, one per id: minus infinity if the id
 * is never drawn. It is null unless the distribution is by counts. If such an
 * id or an id outside of the range occurs, sets the error and returns
 * PDL_INVALID_ARGUMENT. */
int32_t pdlrt_log_probability(int32_t type, int32_t distribution, int64_t first,
                              int64_t end, const double *logarithms,
                              int64_t count, const int64_t *ids, void *out);

/* Returns the number of crosses that `pdlrt_cross_ragged` writes: the sum over
 * bags of the product of the operands' bag sizes. If it exceeds the 2^31 - 1
 * that splits can count, returns 2^56. No such memory can be allocated, so
 * `prepare` then fails. */
int64_t pdlrt_cross_ragged_count(int64_t bag_count, int32_t operand_count,
                                 const int32_t *const *splits);

/* Crosses bags. Each bag of the result has the cross of every combination; the
 * last operand varies fastest. If an operand's bag is empty, the result's bag
 * is empty. */
void pdlrt_cross_ragged(int64_t bag_count, int32_t operand_count,
                        const int64_t *const *operands,
                        const int32_t *const *splits, uint64_t salt,
                        int64_t *out, int32_t *out_splits);

/* --- compute ------------------------------------------------------------- */

/* Copies the values of a lookup's rows, of `width` elements each, into `out`.
 * Values that are stored in fewer bits are widened. */
void pdlrt_gather(int32_t type, const pdl_lookup *lookup, int64_t width,
                  void *out);

typedef enum pdl_pooling {
  PDL_POOL_SUM = 0,
  PDL_POOL_MEAN = 1, /* the sum divided by the bag's size */
  PDL_POOL_SQRTN = 2 /* the sum divided by the root of the bag's size */
} pdl_pooling;

/* Computes out[bag] = the pooled rows[inverse[o]] for o in splits[bag] ..
 * splits[bag + 1]. The sum starts at +0 and goes in bag order. If `splits` is
 * null, each bag has one id. An empty bag gives zeros. `rows`: U x width,
 * plain. `out`: rows of `row_bags` consecutive bags; the rows start
 * `row_stride` elements apart, and the elements between them are not
 * written. */
void pdlrt_pool(int32_t type, int32_t pooling, int64_t bag_count, int64_t width,
                const void *rows, const int32_t *inverse, const int32_t *splits,
                int64_t row_bags, int64_t row_stride, void *out);

/* Contribution of one input of a lookup to the gradient of the lookup's
 * rows. */
typedef struct pdl_pooled_input {
  int32_t pooling;   /* pdl_pooling */
  int64_t first;     /* index of its first occurrence in the lookup */
  int64_t bag_count; /* number of its bags */
  /* Cotangents of its bags, laid out like `out` of pdlrt_pool. */
  const void *cotangent;
  int64_t row_bags, row_stride; /* row_bags < 2^31 */
  /* [bag_count + 1], from 0; null: each bag has one id. */
  const int32_t *splits;
} pdl_pooled_input;

/* Computes the gradient of pooling with respect to the rows of a lookup. For
 * each key, and for each of its occurrences in `inputs`, ascending, adds the
 * cotangent of the bag that contains it (divided as the input's pooling
 * requires) to `out` (U x width), which starts at +0. `inputs`: in the lookup's
 * order; inputs that are left out add nothing. `bag_of`: room for one number
 * per occurrence of the lookup; may be null if no input has splits. */
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

/* Computes C[m, n] = post(A op B), all row-major. A is m x k, or k x m with
 * `transpose_a`; B is k x n, or n x k with `transpose_b`; both without gaps.
 * The rows of C start `c_stride` >= n elements apart; the elements between them
 * are not written. The posts are applied in order.
 *
 * Strict products, and those of f64, start each element at +0 and form one FMA
 * chain in ascending k. BF16 products do the same with elements of A and B
 * rounded to bf16 (to nearest, ties to even), in the order k = 1, 0, 3, 2, ...
 * (a missing last partner is +0). In BF16 products and their posts, denormal
 * numbers are zeros. `product`: pdl_product. */
void pdlrt_gemm(void *worker, int32_t type, int32_t product,
                int32_t transpose_a, int32_t transpose_b, int64_t m, int64_t n,
                int64_t k, const void *a, const void *b, void *c,
                int64_t c_stride, int32_t post_count, const pdl_post *posts);

/* Computes `count` small products without posts, each with its own factors.
 * Factors and results are stored consecutively without gaps. Each product is m
 * x n x k, and strict whatever the numerics (see pdlrt_gemm). */
void pdlrt_batch_gemm(void *worker, int32_t type, int32_t transpose_a,
                      int32_t transpose_b, int64_t count, int64_t m, int64_t n,
                      int64_t k, const void *a, const void *b, void *c);

/* Number of rows of a batch whose in-batch scores are computed at a time. */
#define PDL_IN_BATCH_ROWS 128

/* Uses the rows of a batch as each other's negatives. users, items: count x
 * width. s(i, j) = users[i] . items[j], computed like an element of pdlrt_gemm,
 * minus correction[j] (null: none). If `ids` is not null, j is no negative of i
 * if j != i and their ids are equal. out[i] = m + log(sum over j of exp(s(i, j)
 * - m)), where m is the maximum over j; both are in the order of
 * pdlrt_reduce_rows. `scratch`: PDL_IN_BATCH_ROWS * count elements. */
void pdlrt_in_batch_log_sum_exp(void *worker, int32_t type, int32_t numerics,
                                int64_t count, int64_t width, const void *users,
                                const void *items, const void *correction,
                                const int64_t *ids, void *scratch, void *out);

typedef enum pdl_batch_side {
  PDL_SIDE_USERS = 0,
  PDL_SIDE_ITEMS = 1
} pdl_batch_side;

/* Computes the gradient of pdlrt_in_batch_log_sum_exp. w(i, j) = cotangent[i] *
 * exp(s(i, j) - sums[i]), or 0 if j is no negative of i. USERS: out[i] = sum
 * over j of w(i, j) items[j]; ITEMS: out[j] = sum over i of w(i, j) users[i];
 * both as products of pdlrt_gemm. `sums`: the result of
 * pdlrt_in_batch_log_sum_exp. */
void pdlrt_in_batch_gradient(void *worker, int32_t type, int32_t numerics,
                             int32_t side, int64_t count, int64_t width,
                             const void *users, const void *items,
                             const void *correction, const int64_t *ids,
                             const void *sums, const void *cotangent,
                             void *scratch, void *out);

/* Sets each element of samples to 0 with the probability `rate`; divides the
 * others by 1 - rate (multiplies them by the quotient, rounded to the type). If
 * `splits` is null, each sample has a row of `width` elements. Otherwise there
 * are `bag_count` bags, equally many for each sample, with a row for each of
 * their ids. */
void pdlrt_dropout(const pdl_draws *draws, int64_t stream, int32_t type,
                   double rate, int64_t width, int64_t bag_count,
                   const int32_t *splits, const void *values, void *out);

typedef enum pdl_reduction {
  PDL_REDUCE_SUM = 0,
  PDL_REDUCE_MEAN = 1, /* the sum divided by the width */
  PDL_REDUCE_MAX = 2
} pdl_reduction;

/* Computes out[r] = the reduction of row r. Element j goes to lane j mod 16.
 * Lanes start at +0 (max: at the first elements; a lane beyond the width at
 * element 0). Then lanes are joined in a tree 8-4-2-1: lane[l] = op(lane[l],
 * lane[l + half]). The maximum of a and b is a if a > b or a is NaN, else b. */
void pdlrt_reduce_rows(int32_t type, int32_t reduction, int64_t rows,
                       int64_t width, const void *values, void *out);

/* Computes sum = the f64 sum of values[i] * weights[i] in ascending i (null
 * weights: ones). weight_sum = the sum of the weights, NaN if a weight is
 * negative or NaN. Each factor is widened first. */
void pdlrt_loss_sum(int32_t type, int64_t count, const void *values,
                    const void *weights, double *sum, double *weight_sum);

/* Adds `count` samples to a metric's sums, in order, as `observeSamples` of
 * metrics.h defines. A sample has `width` predictions and `label_width` labels.
 * Usually there is one of each. For a metric of ranked lists, the predictions
 * are the scores of the items, and there are as many labels or one position.
 * `labels` is null if the metric has none; null `weights`: ones. */
void pdlrt_observe(int32_t type, int32_t metric_kind, double parameter,
                   int64_t count, int64_t width, const void *predictions,
                   int64_t label_width, const void *labels, const void *weights,
                   double *sums);

/* Adds `count` samples to a metric of groups, in order, as `observeGroups` of
 * metrics.h defines: to its sums, and to the samples that the worker keeps for
 * metric `metric_index` of the descriptor. Null `weights`: ones. */
void pdlrt_observe_groups(void *worker, int32_t type, int32_t metric_index,
                          int64_t count, const void *predictions,
                          const void *labels, const int64_t *groups,
                          const void *weights, double *sums);

/* Reports that the gradient of parameter update `update` of the program is
 * complete. It may be sent while the stage continues, and the stage must not
 * write it any more. Called in programs that send gradients to the owners of
 * state, at most once per update in a call of the stage. Gradients that are not
 * reported are complete when the stage ends. */
void pdlrt_gradient_ready(void *worker, int32_t update);

/* --- compute on a device ---------------------------------------------------
 *
 * The stage runs on the host and adds work to a stream of the replica's device,
 * which executes it in order. A failure is kept: work added later is ignored,
 * and pdlrt_device_wait returns the failure. */

/* Returns the device copy of a place. If compute writes the place, it is the
 * only copy until the stage ends. Data that the host wrote before is copied at
 * the first call. */
void *pdlrt_device_pointer(void *worker, int32_t place, int32_t index);

/* Returns the device copy of `bytes` bytes of the program that never change. */
void *pdlrt_device_constant(void *worker, int64_t bytes, const void *constant);

/* Adds a launch of kernel `kernel` of the descriptor with `turns`
 * iterations. */
void pdlrt_launch(void *worker, int32_t kernel, int64_t turns,
                  const uint64_t *arguments);

/* Adds C = A op B for f32, with A, B and C as in pdlrt_gemm; the element of
 * `bias` for each column (null: none) is added. A library of the device
 * computes the product, in its own order. `product`: PDL_PRODUCT_FAST, or
 * PDL_PRODUCT_BF16, which rounds factors to bf16 and adds in f32. A product
 * that the library does not support is a launch of kernel `kernel` of the
 * descriptor, which has the arguments of pdldevice_product. */
void pdlrt_device_product(void *worker, int32_t product, int32_t kernel,
                          int32_t transpose_a, int32_t transpose_b, int64_t m,
                          int64_t n, int64_t k, const void *a, const void *b,
                          const void *bias, void *c, int64_t c_stride);

/* Adds pdlrt_gather, to device memory. Rows of a table on the host are
 * copied. */
void pdlrt_device_gather(void *worker, int32_t type, const pdl_lookup *lookup,
                         int64_t width, void *out);

/* Allocates `bytes` bytes of host memory that copies may use until the stage
 * ends. Never returns null. */
void *pdlrt_host_memory(void *worker, int64_t bytes);

/* Adds a copy to, from or within the device. Host memory that it reads or
 * writes must come from pdlrt_host_memory. */
void pdlrt_copy_in(void *worker, int64_t bytes, const void *from_host,
                   void *to_device);
void pdlrt_copy_out(void *worker, int64_t bytes, const void *from_device,
                    void *to_host);
void pdlrt_copy_within(void *worker, int64_t bytes, const void *from, void *to);

/* Waits until all added work is done. Returns its status, and sets the error.
 * `is_last`: the stage adds no more work; gradients and outputs that it
 * requested are also copied to the host. */
int32_t pdlrt_device_wait(void *worker, int32_t is_last);

/* --- both ---------------------------------------------------------------- */

/* Runs the iterations begin .. end - 1 of a loop with independent
 * iterations. */
typedef void (*pdl_loop)(const void *arguments, int64_t begin, int64_t end);

/* Calls loop(arguments, begin, end) for ranges that cover all `turns`
 * iterations, on the threads available to the calling stage. An iteration reads
 * and writes about `bytes` bytes; small loops run on the calling thread.
 * `name`: name of the loop in traces. */
void pdlrt_run_loop(const char *name, int64_t turns, int64_t bytes,
                    pdl_loop loop, const void *arguments);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_H */
