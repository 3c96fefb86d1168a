/*===- pdl/serving.h - Models that answer requests ----------------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * What a library offers that `pdl-translate --emit=library` made of a model. It
 * holds the frozen programs of the model that return something (@predict), and
 * scores batches with the values of a checkpoint or of a dump.
 *
 * A library exports two functions, which return the same table of functions:
 * `pdl_serving_query`, for who loads libraries by dlopen, and one with the name
 * of the model, for who links one or several (NAME.h, made beside the library).
 *
 * All functions may be called by any number of threads at once, but that a
 * model is closed once, after the last call that uses it. None throws, prints,
 * or ends the process. One that fails returns something else than 0, or null,
 * and leaves a sentence for the calling thread (`last_error`).
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDL_SERVING_H
#define PDL_SERVING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change that who was compiled before would misread. */
#define PDL_SERVING_VERSION 1u

/* What a function returns whose servers do not answer: try again. All other
 * failures of one call are other numbers. */
#define PDL_SERVING_UNAVAILABLE 4

/* A loaded model: the values of one checkpoint at a time, which `reload`
 * replaces by others; or a model that asks servers for rows. */
typedef struct pdl_serving_model pdl_serving_model;

typedef enum pdl_serving_type {
  PDL_SERVING_F32 = 0,
  PDL_SERVING_F64 = 1,
  PDL_SERVING_I64 = 2
} pdl_serving_type;

/* What an input has for each sample. */
typedef enum pdl_serving_kind {
  PDL_SERVING_DENSE = 0, /* `width` numbers */
  PDL_SERVING_IDS = 1,   /* `width` ids */
  PDL_SERVING_RAGGED = 2 /* `width` bags of ids, or of numbers */
} pdl_serving_kind;

/* An input or an output of a program. */
typedef struct pdl_serving_tensor {
  const char *name;
  int32_t kind; /* pdl_serving_kind; of outputs PDL_SERVING_DENSE */
  int32_t type; /* pdl_serving_type; ids are I64 */
  int64_t width;
  int32_t takes_texts; /* ids: texts may be given, which the model hashes, or
                          which are decimal integers */
} pdl_serving_tensor;

typedef struct pdl_serving_program {
  const char *name;
  int32_t input_count;
  const pdl_serving_tensor *inputs; /* in the order in which `run` wants them */
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

/* One input of a batch. Either `values`, or for ids `texts`; neither of them,
 * nor `splits`: the input is missing for all samples.
 *
 * Values: of dense inputs and ids batch * width elements, row-major, of the
 * input's type. Of ragged inputs all elements, bag by bag. A NaN is a missing
 * number. Integers of an input that hashes texts are refused, unless `run_keys`
 * is told that they are ready keys.
 *
 * What is missing becomes what `describe_input` says, as in training; where it
 * says PDL_SERVING_REQUIRED, the call fails.
 *
 * Texts: ids as data files have them, one behind the other; text i ends at
 * texts[text_ends[i]] and begins where the one before ended. What they become
 * is what the trainer's readers make of them: they are trimmed and hashed with
 * the field's salt, and where the field has `missing("...")`, that stands for
 * an empty one, and for an empty bag. */
typedef struct pdl_serving_input {
  const void *values;
  const int32_t *splits; /* ragged: batch * width + 1 offsets, from 0 */
  const char *texts;
  const int64_t *text_ends;
} pdl_serving_input;

/* What a missing element of an input becomes. */
typedef enum pdl_serving_missing {
  PDL_SERVING_REQUIRED = 0,       /* nothing: an error */
  PDL_SERVING_MISSING_NUMBER = 1, /* `missing_number` */
  PDL_SERVING_MISSING_TEXT = 2,   /* the key of `missing_text` */
  PDL_SERVING_EMPTY_BAG = 3       /* a missing bag is empty */
} pdl_serving_missing;

/* More about an input of a program. */
typedef struct pdl_serving_input_rules {
  uint32_t struct_size;
  int32_t missing; /* pdl_serving_missing */
  double missing_number;
  const char *missing_text;
  int32_t hashes_texts; /* ids: the key of a text is `key` of it and the salt */
  int32_t salts_by_slot; /* of slot s of a sample, from 0, the salt is s */
  uint64_t salt;
} pdl_serving_input_rules;

/* What a model has at the moment. */
typedef struct pdl_serving_state {
  uint32_t struct_size;
  int64_t version; /* 1 for what it was opened with, then one more a reload */
  int64_t steps;   /* of the training that saved it; -1: a dump, not known */
  int64_t rows;    /* of all tables */
  int64_t bytes;   /* of parameters and tables in memory, or of the cache */
} pdl_serving_state;

/* Whom a model asks for the rows of its tables, call by call. */
typedef struct pdl_serving_connection {
  uint32_t struct_size;
  /* The servers of one running job, all of them: addresses as trainers are
   * given, with commas between. */
  const char *servers;
  /* What stands in the servers' --reader-token-file; null or "": they have
   * none. */
  const char *token;
  /* Null or "": parameters are asked for too. Else what `open` reads, of which
   * only they are taken. */
  const char *parameters;
  int64_t cache_bytes; /* what rows may take that were read lately; 0: none */
  int64_t row_age_ms; /* how old such a row may be; 0: each call asks for all */
  int64_t timeout_ms; /* how long a call waits for servers; 0: 1000 */
  /* As in pdl_serving_values, of `parameters`. Read where struct_size has it.
   */
  int32_t accept_old_layout;
} pdl_serving_connection;

/* Values to open, and how. */
typedef struct pdl_serving_values {
  uint32_t struct_size;
  const char *path; /* as `open` takes it */
  /* Not 0: values of before PDL kept with them how keys come from fields are
   * taken, and not checked. By `reload`s too. */
  int32_t accept_old_layout;
} pdl_serving_values;

/* How a model has found rows, from the start. */
typedef struct pdl_serving_row_counts {
  uint32_t struct_size;
  /* Of a connected model. */
  int64_t hits;     /* rows that were in the cache */
  int64_t misses;   /* rows that were asked for */
  int64_t requests; /* to servers */
  /* Of any model: ids of the samples that were scored, as often as they occur,
   * and those of them without a row, which read what the table promises them.
   * Filled where struct_size has them. */
  int64_t ids;
  int64_t unknown_ids;
} pdl_serving_row_counts;

typedef struct pdl_serving {
  uint32_t struct_size;
  uint32_t version; /* PDL_SERVING_VERSION */

  /* The sentence of the calling thread's last failure, "" if there was none. */
  const char *(*last_error)(void);

  /* Loads a checkpoint, the newest whole one of a folder of checkpoints, or a
   * dump (.safetensors), all of which is checked; null on failure. */
  pdl_serving_model *(*open)(const char *path);
  /* Frees a model; null is allowed. */
  void (*close)(pdl_serving_model *model);
  /* The same as `open`, in the place of what the model has. Calls that have
   * begun end on the old values, later ones see the new ones; none waits. On
   * failure the old ones stay. */
  int32_t (*reload)(pdl_serving_model *model, const char *path);
  /* Fills `state`, whose struct_size the caller sets. */
  int32_t (*state)(pdl_serving_model *model, pdl_serving_state *state);

  /* What the library holds, the same for all its models. It lives as long as
   * the library. */
  const pdl_serving_description *(*describe)(void);
  /* The index of a program, -1 on failure: there is none of that name. */
  int32_t (*find_program)(const char *name);

  /* Scores `batch` >= 1 samples with program `program`. `inputs` and `outputs`:
   * in the order of the program's description; outputs[i] has room for batch *
   * width elements, and is written only where the call succeeds. Once a thread
   * has made its largest batches, calls allocate no memory. */
  int32_t (*run)(pdl_serving_model *model, int32_t program, int64_t batch,
                 const pdl_serving_input *inputs, void *const *outputs);

  /* What follows is there where struct_size says so. */

  /* A model that holds parameters, and asks the servers of a running job for
   * rows; null on failure. It is `close`d like one that was opened, and no job
   * notices it. Only of libraries made with `--servers`. `reload` takes the
   * parameters of a checkpoint. */
  pdl_serving_model *(*connect)(const pdl_serving_connection *connection);
  /* Asks the servers for the parameters as they are now, in the place of those
   * that a connected model has; calls go on, as with `reload`. */
  int32_t (*refresh)(pdl_serving_model *model);
  /* Fills `counts`, whose struct_size the caller sets. */
  int32_t (*row_counts)(pdl_serving_model *model,
                        pdl_serving_row_counts *counts);
  /* The same as `open`, with more to say. */
  pdl_serving_model *(*open_values)(const pdl_serving_values *values);
  /* What could not be checked of the values that a model has, as
   * `accept_old_layout` allows it; "" if all was, null on failure. It lives
   * until the calling thread calls it again. */
  const char *(*unchecked)(pdl_serving_model *model);
  /* Fills `rules`, whose struct_size the caller sets, for an input of a
   * program, by their indices. Texts live as long as the library. */
  int32_t (*describe_input)(int32_t program, int32_t input,
                            pdl_serving_input_rules *rules);
  /* The same as `run`. `are_keys`, one entry an input: whether the integers of
   * an input that hashes texts are ready keys. */
  int32_t (*run_keys)(pdl_serving_model *model, int32_t program, int64_t batch,
                      const pdl_serving_input *inputs, const int32_t *are_keys,
                      void *const *outputs);
  /* The key of a text of `size` bytes in a field that hashes texts with that
   * salt; blanks around it do not count, as in data files. */
  int64_t (*key)(const char *text, int64_t size, uint64_t salt);
  /* "", or what is wrong with the ids of calls: that more than half of those
   * that were looked up are unknown. Null on failure. It lives until the
   * calling thread calls it again. */
  const char *(*warning)(pdl_serving_model *model);
} pdl_serving;

/* The functions of a library, by dlsym; who links several has them by the
 * names of their models. Null, with the error set, where it does not have that
 * version, or the CPU lacks what the library was compiled for. */
const pdl_serving *pdl_serving_query(uint32_t version);
typedef const pdl_serving *(*pdl_serving_query_function)(uint32_t version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDL_SERVING_H */
