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
 * as @predict). It computes their outputs for batches of samples, with the
 * values of a checkpoint, a dump or an export.
 *
 * A library exports two functions, which return the same table of functions:
 * - `pdl_serving_query`, for programs that load libraries with dlopen;
 * - a function with the name of the model, for programs that link one or
 *   several libraries. NAME.h, which is written next to the library, declares
 *   it.
 *
 * All functions are thread-safe, with one exception: a model must be closed
 * exactly once, after the last call that uses it has returned. No function
 * throws, prints, or ends the process. After an error, a function returns a
 * value other than 0, or null, and stores an error message for the calling
 * thread (`last_error`).
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDL_SERVING_H
#define PDL_SERVING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* API version. It increases with every change that a program compiled with an
 * older header would misread. */
#define PDL_SERVING_VERSION 1u

/* Result of a call if servers do not respond; the caller can try again. Other
 * errors have other numbers. */
#define PDL_SERVING_UNAVAILABLE 4

/* A loaded model. It has the values of one checkpoint at a time, which `reload`
 * replaces. A connected model (`connect`) has only parameters, and requests
 * rows from servers. */
typedef struct pdl_serving_model pdl_serving_model;

typedef enum pdl_serving_type {
  PDL_SERVING_F32 = 0,
  PDL_SERVING_F64 = 1,
  PDL_SERVING_I64 = 2
} pdl_serving_type;

/* Data that an input has for each sample. */
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
  /* Ids: 1 if the caller may pass texts. The model hashes the texts, or they
   * are decimal integers. */
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
 * If `values`, `texts` and `splits` are all null, the input is missing for all
 * samples.
 *
 * `values`: a dense input, and an input of ids, has batch * width elements of
 * the input's type, row-major. A ragged input has the elements of all bags, bag
 * by bag. A NaN is a missing number. If an input hashes texts, integers are
 * rejected, unless the caller uses `run_keys` and declares them to be keys.
 *
 * A missing element gets the replacement that `describe_input` reports, as in
 * training. If the input has none (PDL_SERVING_REQUIRED), the call returns an
 * error.
 *
 * `texts`: ids as they are written in data files, one after the other without
 * separators. Text i ends before texts[text_ends[i]], and begins at the end of
 * text i - 1. They become keys as in training: they are trimmed, and hashed
 * with the field's salt. An empty text is a missing id.
 *
 * A bag without elements, or with a missing element as its only one, is a
 * missing bag. It gets the replacement as its only element, or is empty if
 * `describe_input` reports PDL_SERVING_EMPTY_BAG. */
typedef struct pdl_serving_input {
  const void *values;
  const int32_t *splits; /* ragged: batch * width + 1 offsets, from 0 */
  const char *texts;
  const int64_t *text_ends;
} pdl_serving_input;

/* Replacement of a missing element, or of a missing bag, of an input. */
typedef enum pdl_serving_missing {
  PDL_SERVING_REQUIRED = 0,       /* none: the call returns an error */
  PDL_SERVING_MISSING_NUMBER = 1, /* `missing_number` */
  PDL_SERVING_MISSING_TEXT = 2,   /* the key of `missing_text` */
  PDL_SERVING_EMPTY_BAG = 3       /* a missing bag is empty */
} pdl_serving_missing;

/* Rules of a program's input for missing elements and for texts. */
typedef struct pdl_serving_input_rules {
  uint32_t struct_size;
  int32_t missing; /* pdl_serving_missing */
  double missing_number;
  const char *missing_text;
  /* Ids: 1 if texts are hashed. `key` returns the key of a text. */
  int32_t hashes_texts;
  int32_t salts_by_slot; /* the salt of slot s of a sample, from 0, is s */
  uint64_t salt;
} pdl_serving_input_rules;

/* Current state of a model. */
typedef struct pdl_serving_state {
  uint32_t struct_size;
  int64_t version; /* 1 for the values that were opened; each `reload` adds 1 */
  /* Steps of the training that saved the values; -1: unknown, for a dump. */
  int64_t steps;
  int64_t rows;  /* in all tables */
  int64_t bytes; /* of parameters and tables in memory, or of the cache */
} pdl_serving_state;

/* The type of the weights of large products by parameters. */
typedef enum pdl_serving_weights {
  PDL_SERVING_WEIGHTS_COMPILED = 0, /* as the library was compiled */
  /* int8, with a scale for each column. The rows of the other factor are
   * quantized to 16 bits. Not for libraries of numerics strict. */
  PDL_SERVING_WEIGHTS_INT8 = 1
} pdl_serving_weights;

/* Servers from which a connected model requests the rows of its tables. */
typedef struct pdl_serving_connection {
  uint32_t struct_size;
  /* The addresses of all servers of one running job, as in the flag --servers
   * of trainers, separated by commas. */
  const char *servers;
  /* The token in the --reader-token-file of the servers. Null or "" if they
   * have none. */
  const char *token;
  /* If null or "", parameters are requested from the servers too. Otherwise a
   * path as in `open`, from which parameters are read. */
  const char *parameters;
  int64_t cache_bytes; /* maximum size of the row cache; 0: no cache */
  /* Maximum age of a cached row; 0: each call requests all its rows. */
  int64_t row_age_ms;
  int64_t timeout_ms; /* how long a call waits for servers; 0: 1000 */
  /* As in pdl_serving_values, for `parameters`. It is only read if struct_size
   * includes it. */
  int32_t accept_old_layout;
  /* As in pdl_serving_values. */
  int64_t weights;
} pdl_serving_connection;

/* Arguments of `open_values`. */
typedef struct pdl_serving_values {
  uint32_t struct_size;
  const char *path; /* as for `open` */
  /* If not 0, also accepts values of older PDL versions, which did not record
   * how keys are made from fields. This property is then not checked. Applies
   * to later calls of `reload` too. */
  int32_t accept_old_layout;
  /* pdl_serving_weights. Applies to later calls of `reload` too. It is only
   * read if struct_size includes it, and only by libraries that have the
   * function `weights`. Wide, so that it is not in the padding of the first
   * version of this struct. */
  int64_t weights;
} pdl_serving_values;

/* Counters of row lookups since the model was opened. */
typedef struct pdl_serving_row_counts {
  uint32_t struct_size;
  /* Only of connected models: */
  int64_t hits;     /* rows found in the cache */
  int64_t misses;   /* rows requested from servers */
  int64_t requests; /* requests to servers */
  /* Of all models: `ids` is the number of ids in all samples, with repetitions.
   * `unknown_ids` is the number of ids without a row, for which the value for
   * unknown keys of the table was read. They are only set if struct_size
   * includes them. */
  int64_t ids;
  int64_t unknown_ids;
} pdl_serving_row_counts;

typedef struct pdl_serving {
  uint32_t struct_size;
  uint32_t version; /* PDL_SERVING_VERSION */

  /* Returns the error message of the last error in the calling thread; "" if
   * there was none. */
  const char *(*last_error)(void);

  /* Loads and checks the values in `path`: a checkpoint, a folder of
   * checkpoints, of which the newest intact one is loaded, a dump
   * (.safetensors), or an export. Returns null on an error. */
  pdl_serving_model *(*open)(const char *path);
  /* Frees a model. Null is allowed. */
  void (*close)(pdl_serving_model *model);
  /* Replaces the values of a model by those that `open` would load from `path`.
   * Calls in progress finish with the old values; later calls use the new ones.
   * No other call waits. After an error, the model keeps the old values. */
  int32_t (*reload)(pdl_serving_model *model, const char *path);
  /* Sets the members of `state`. The caller must set its struct_size. */
  int32_t (*state)(pdl_serving_model *model, pdl_serving_state *state);

  /* Returns a description of the library. It is the same for all its models,
   * and valid as long as the library is loaded. */
  const pdl_serving_description *(*describe)(void);
  /* Returns the index of the program with this name, or -1 if there is none. */
  int32_t (*find_program)(const char *name);

  /* Computes the outputs of program `program` for `batch` samples, at least 1.
   * `inputs` and `outputs` have the order of the program's description.
   * outputs[i] must have room for batch * width elements, and is only written
   * if the call succeeds. Calls with a batch that is not larger than earlier
   * batches of the thread allocate no memory. */
  int32_t (*run)(pdl_serving_model *model, int32_t program, int64_t batch,
                 const pdl_serving_input *inputs, void *const *outputs);

  /* The following members exist only if struct_size includes them. */

  /* Opens a connected model: it has only parameters, and requests rows from the
   * servers of a running job. It does not affect the training. `reload` reads
   * only the parameters of a checkpoint. Close it with `close`. Only for
   * libraries that were made with `--servers`. Returns null on an error. */
  pdl_serving_model *(*connect)(const pdl_serving_connection *connection);
  /* Requests the current parameters from the servers, and replaces those of a
   * connected model. Other calls do not wait, as in `reload`. */
  int32_t (*refresh)(pdl_serving_model *model);
  /* Sets the members of `counts`. The caller must set its struct_size. */
  int32_t (*row_counts)(pdl_serving_model *model,
                        pdl_serving_row_counts *counts);
  /* Like `open`, with options. */
  pdl_serving_model *(*open_values)(const pdl_serving_values *values);
  /* Returns a description of the parts of a model that were not checked,
   * because its values are of an older PDL version (`accept_old_layout`).
   * Returns "" if all parts were checked, and null on an error. The text is
   * valid until the calling thread calls this function again. */
  const char *(*unchecked)(pdl_serving_model *model);
  /* Sets the members of `rules` for an input of a program. `program` and
   * `input` are indices. The caller must set the struct_size of `rules`. Texts
   * are valid as long as the library is loaded. */
  int32_t (*describe_input)(int32_t program, int32_t input,
                            pdl_serving_input_rules *rules);
  /* Like `run`, for inputs whose integers may be keys. `are_keys` has one entry
   * for each input. If an input hashes texts, a nonzero entry means that its
   * integers are keys already. */
  int32_t (*run_keys)(pdl_serving_model *model, int32_t program, int64_t batch,
                      const pdl_serving_input *inputs, const int32_t *are_keys,
                      void *const *outputs);
  /* Returns the key that a text of `size` bytes has in a field that hashes
   * texts with salt `salt`. Blanks at its ends are ignored, as in data
   * files. */
  int64_t (*key)(const char *text, int64_t size, uint64_t salt);
  /* Returns a warning if more than half of all ids so far have no row,
   * otherwise "". Returns null on an error. The text is valid until the calling
   * thread calls this function again. */
  const char *(*warning)(pdl_serving_model *model);
  /* Returns the type of weights (pdl_serving_weights) that a model uses, or -1
   * on an error. */
  int32_t (*weights)(pdl_serving_model *model);
} pdl_serving;

/* Returns the functions of a library. Find it by dlsym; a program that links
 * several libraries must call the functions with the names of their models.
 * Returns null and sets the error message if the library does not support API
 * version `version`, or if the CPU lacks features that the library needs. */
const pdl_serving *pdl_serving_query(uint32_t version);
typedef const pdl_serving *(*pdl_serving_query_function)(uint32_t version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDL_SERVING_H */
