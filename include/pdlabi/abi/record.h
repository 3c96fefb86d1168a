/*===- pdlabi/abi/record.h - Fields of the record ------------------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The record of a model: the fields that a reader must read from the data for a
 * program. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_RECORD_H
#define PDLABI_ABI_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  /* Ids, ragged: replaced by the id with the text `missing_token`. */
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
  /* RAGGED: replacement of a missing value among other values of a cell. VALUE:
   * the number `missing_element_value`. TOKEN: the id with the text
   * `missing_element_token`. ERROR: there is no replacement; a missing id is
   * left out, and a missing number becomes `missing_value`, or makes the row
   * invalid if there is none. */
  int32_t missing_element_kind;
  double missing_element_value;
  const char *missing_element_token;
  /* Texts of missing values, in addition to the empty text; null: only `?`. */
  int64_t missing_text_count;
  const char *const *missing_texts;
  /* Columns of the field in delimited text, by position from 0 or by name in
   * the header. If `column_count` is 0, the field has the `width` columns after
   * those of the field that was declared before it. */
  int64_t column_count; /* 0 or `width` */
  const int64_t *column_positions;
  const char *const *column_names;
  /* RAGGED: the character that separates the values of a cell; 0 = none. */
  int32_t separator;
  /* Texts that are read as numbers, for labels; 0 entries = none. */
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_RECORD_H */
