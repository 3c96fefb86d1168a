/*===- pdl/serving.h - C API of compiled models for inference -----*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The C API of a library that `pdl-translate --emit=library` made from a model.
 * The library contains the frozen programs of the model that have outputs (such
 * as @predict). It scores batches with the values of a checkpoint or of a dump.
 *
 * A library exports two functions, which return the same table of functions:
 * - `pdl_serving_query`, for programs that load libraries with dlopen;
 * - a function with the name of the model, for programs that link one or
 *   several libraries. NAME.h, which is written next to the library, declares
 *   it.
 *
 * All functions are thread-safe, with one exception: a model must be closed
 * exactly once, after the last call that uses it has returned. No function
 * throws, prints, or ends the process. A function that fails returns a value
 * other than 0, or null, and stores an error message for the calling thread
 * (`last_error`).
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDL_SERVING_H
#define PDL_SERVING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* API version. Raised with every change that a program compiled against an
 * older header would misread. */
#define PDL_SERVING_VERSION 1u

/* Status of a call whose servers do not respond; the caller can try again. All
 * other failures of a call return other numbers. */
#define PDL_SERVING_UNAVAILABLE 4

/* A loaded model. It has the values of one checkpoint at a time, which `reload`
 * replaces. A connected model requests its rows from servers instead. */
typedef struct pdl_serving_model pdl_serving_model;

typedef enum pdl_serving_type {
  PDL_SERVING_F32 = 0,
  PDL_SERVING_F64 = 1,
  PDL_SERVING_I64 = 2
} pdl_serving_type;

/* Shape of an input, for each sample. */
typedef enum pdl_serving_kind {
  PDL_SERVING_DENSE = 0, /* `width` numbers */
  PDL_SERVING_IDS = 1,   /* `width` ids */
  PDL_SERVING_RAGGED = 2 /* `width` bags of ids, or of numbers */
} pdl_serving_kind;

/* An input or an output of a program. */
typedef struct pdl_serving_tensor {
  const char *name;
  int32_t kind; /* pdl_serving_kind; PDL_SERVING_DENSE for outputs */
  int32_t type; /* pdl_serving_type; ids are I64 */
  int64_t width;
  /* Ids: the caller may pass texts, which the model hashes or which are decimal
   * integers. */
  int32_t takes_texts;
} pdl_serving_tensor;

typedef struct pdl_serving_program {
  const char *name;
  int32_t input_count;
  const pdl_serving_tensor *inputs; /* in the order that `run` expects */
  int32_t output_count;
  const pdl_serving_tensor *outputs;
} pdl_serving_program;

typedef struct pdl_serving_description {
  uint32_t struct_size;
  const char *model_name;
  const char *compiler_version;
  const char *target_cpu; /* such as x86-64-v3 */
  const char *numerics;   /* "strict" or "fast" */
  int32_t program_count;
  const pdl_serving_program *programs;
} pdl_serving_description;

/* One input of a batch. The caller sets either `values` or, for ids, `texts`.
 * If both and `splits` are null, the input is missing for all samples.
 *
 * `values`: dense inputs and ids have batch * width elements of the input's
 * type, row-major. Ragged inputs have all elements, bag by bag. A NaN is a
 * missing number. Integers of an input that hashes texts are rejected, unless
 * `run_keys` declares them to be keys.
 *
 * A missing element is replaced by what `describe_input` reports, as in
 * training. If it reports PDL_SERVING_REQUIRED, the call fails.
 *
 * Texts: ids as data files have them, one behind the other; text i ends at
 * texts[text_ends[i]] and begins where the one before ended. What they become
 * is what the trainer's readers make of them: they are trimmed and hashed with
 * the field's salt, and an empty one is missing.
 *
 * A bag without elements, or whose only element is missing, is a missing bag.
 * It gets one element, what `describe_input` says, or none. */
typedef struct pdl_serving_input {
  const void *values;
  const int32_t *splits; /* ragged: batch * width + 1 offsets, from 0 */
  const char *texts;
  const int64_t *text_ends;
} pdl_serving_input;

/* Replacement of a missing element of an input. */
typedef enum pdl_serving_missing {
  PDL_SERVING_REQUIRED = 0,       /* none: the call fails */
  PDL_SERVING_MISSING_NUMBER = 1, /* `missing_number` */
  PDL_SERVING_MISSING_TEXT = 2,   /* the key of `missing_text` */
  PDL_SERVING_EMPTY_BAG = 3       /* a missing bag is empty */
} pdl_serving_missing;

/* Properties of a program's input: missing elements and texts. */
typedef struct pdl_serving_input_rules {
  uint32_t struct_size;
  int32_t missing; /* pdl_serving_missing */
  double missing_number;
  const char *missing_text;
  /* Ids: `key` of the text and the salt is the text's key. */
  int32_t hashes_texts;
  int32_t salts_by_slot; /* the salt of slot s of a sample, from 0, is s */
  uint64_t salt;
} pdl_serving_input_rules;

/* Current state of a model. */
typedef struct pdl_serving_state {
  uint32_t struct_size;
  int64_t version; /* 1 for the values it was opened with; each reload adds 1 */
  /* Steps of the training that saved the values; -1 for a dump: unknown. */
  int64_t steps;
  int64_t rows;  /* in all tables */
  int64_t bytes; /* of parameters and tables in memory, or of the cache */
} pdl_serving_state;

/* Servers from which a connected model requests the rows of its tables. */
typedef struct pdl_serving_connection {
  uint32_t struct_size;
  /* The addresses of all servers of one running job, in the trainers' notation,
   * separated by commas. */
  const char *servers;
  /* The content of the servers' --reader-token-file. Null or "" if they have
   * none. */
  const char *token;
  /* If null or "", parameters are requested from the servers too. Otherwise a
   * path as for `open`, from which only the parameters are read. */
  const char *parameters;
  int64_t cache_bytes; /* maximum size of the row cache; 0: no cache */
  /* Maximum age of a cached row; 0: each call requests all its rows. */
  int64_t row_age_ms;
  int64_t timeout_ms; /* how long a call waits for servers; 0: 1000 */
  /* As in pdl_serving_values, for `parameters`. Read only if struct_size
   * includes it. */
  int32_t accept_old_layout;
} pdl_serving_connection;

/* Values to open, with options. */
typedef struct pdl_serving_values {
  uint32_t struct_size;
  const char *path; /* as for `open` */
  /* If not 0, also accepts values from PDL versions that did not yet record how
   * fields are turned into keys. This property then stays unchecked. Applies to
   * later `reload`s too. */
  int32_t accept_old_layout;
} pdl_serving_values;

/* Counters of row lookups since the model was opened. */
typedef struct pdl_serving_row_counts {
  uint32_t struct_size;
  /* Only of connected models: */
  int64_t hits;     /* rows found in the cache */
  int64_t misses;   /* rows requested from servers */
  int64_t requests; /* requests to servers */
  /* Of all models: the number of ids in the scored samples, with repetitions,
   * and the number of those without a row, which read the table's value for
   * unknown keys. Filled only if struct_size includes them. */
  int64_t ids;
  int64_t unknown_ids;
} pdl_serving_row_counts;

typedef struct pdl_serving {
  uint32_t struct_size;
  uint32_t version; /* PDL_SERVING_VERSION */

  /* Returns the error message of the calling thread's last failure, "" if there
   * was none. */
  const char *(*last_error)(void);

  /* Loads a checkpoint, the newest complete checkpoint of a folder, or a dump
   * (.safetensors), and checks all of it. Returns null on failure. */
  pdl_serving_model *(*open)(const char *path);
  /* Frees a model. Null is allowed. */
  void (*close)(pdl_serving_model *model);
  /* Replaces the values of a model by those that `open` would load from `path`.
   * Calls in progress finish with the old values; later calls use the new ones.
   * No call waits. On failure the old values stay. */
  int32_t (*reload)(pdl_serving_model *model, const char *path);
  /* Fills `state`, whose struct_size the caller sets. */
  int32_t (*state)(pdl_serving_model *model, pdl_serving_state *state);

  /* Describes the library; the result is the same for all its models. It lives
   * as long as the library. */
  const pdl_serving_description *(*describe)(void);
  /* Returns the index of the program with this name, or -1 on failure. */
  int32_t (*find_program)(const char *name);

  /* Scores `batch` >= 1 samples with program `program`. `inputs` and `outputs`
   * follow the order of the program's description. outputs[i] must have room
   * for batch * width elements, and is written only if the call succeeds. Once
   * a thread has scored its largest batches, further calls allocate no
   * memory. */
  int32_t (*run)(pdl_serving_model *model, int32_t program, int64_t batch,
                 const pdl_serving_input *inputs, void *const *outputs);

  /* The following members exist only if struct_size includes them. */

  /* Opens a model that holds only parameters and requests rows from the servers
   * of a running job. Returns null on failure. The model is `close`d like any
   * other, and does not affect the job's training. Only for libraries made with
   * `--servers`. `reload` then reads only the parameters of a checkpoint. */
  pdl_serving_model *(*connect)(const pdl_serving_connection *connection);
  /* Fetches the current parameters from the servers and replaces those of a
   * connected model. Other calls continue, as with `reload`. */
  int32_t (*refresh)(pdl_serving_model *model);
  /* Fills `counts`, whose struct_size the caller sets. */
  int32_t (*row_counts)(pdl_serving_model *model,
                        pdl_serving_row_counts *counts);
  /* Opens a model like `open`, with options. */
  pdl_serving_model *(*open_values)(const pdl_serving_values *values);
  /* Returns what could not be checked about the values of a model because
   * `accept_old_layout` allowed it. Returns "" if everything was checked, null
   * on failure. The text is valid until the calling thread calls this function
   * again. */
  const char *(*unchecked)(pdl_serving_model *model);
  /* Fills `rules`, whose struct_size the caller sets, for an input of a
   * program. Both are given by index. Texts live as long as the library. */
  int32_t (*describe_input)(int32_t program, int32_t input,
                            pdl_serving_input_rules *rules);
  /* Runs a program like `run`, on integers that may already be keys. `are_keys`
   * has one entry for each input: nonzero if the integers of an input that
   * hashes texts are already keys. */
  int32_t (*run_keys)(pdl_serving_model *model, int32_t program, int64_t batch,
                      const pdl_serving_input *inputs, const int32_t *are_keys,
                      void *const *outputs);
  /* Returns the key of a text of `size` bytes in a field that hashes texts with
   * this salt. Surrounding blanks are ignored, as in data files. */
  int64_t (*key)(const char *text, int64_t size, uint64_t salt);
  /* Returns a warning if more than half of the ids that were looked up are
   * unknown, otherwise "". Returns null on failure. The text is valid until the
   * calling thread calls this function again. */
  const char *(*warning)(pdl_serving_model *model);
} pdl_serving;

/* Returns the functions of a library, for dlsym. A program that links several
 * libraries calls the functions with the names of their models instead. Returns
 * null and sets the error message if the library does not support this version,
 * or if the CPU lacks features that the library was compiled for. */
const pdl_serving *pdl_serving_query(uint32_t version);
typedef const pdl_serving *(*pdl_serving_query_function)(uint32_t version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDL_SERVING_H */
