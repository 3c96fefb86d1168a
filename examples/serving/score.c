/* Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Scores lines of the standard input with models/ctr_dnn, one by one: a label, 13
 * numbers and 26 categories, separated by tabs, as the trainer reads them. Prints a
 * prediction a line.
 *
 *   pdl-translate models/ctr_dnn/ctr_dnn.mlir --emit=library -o out
 *   cc score.c $(PKG_CONFIG_PATH=$PWD/out pkg-config --cflags --libs ctr_dnn) -o score
 *   ./score checkpoints < clicks.tsv
 */

#include "ctr_dnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 13, CATEGORIES = 26 };

/* Takes the first cell off a line. */
static char *next_cell(char **line) {
  char *cell = *line;
  char *end = cell + strcspn(cell, "\t\r\n");
  *line = *end ? end + 1 : end;
  *end = 0;
  return cell;
}

int main(int argc, char **argv) {
  const pdl_serving *serving = ctr_dnn_serving();
  if (argc != 2 || !serving) {
    fprintf(stderr, argc != 2 ? "usage: score CHECKPOINT < FILE\n"
                              : "this CPU lacks what the library needs\n");
    return 2;
  }
  pdl_serving_model *model = serving->open(argv[1]);
  if (!model) {
    fprintf(stderr, "%s\n", serving->last_error());
    return 1;
  }
  char line[1 << 16];
  int status = 0;
  while (!status && fgets(line, sizeof(line), stdin)) {
    char *rest = line, texts[sizeof(line)];
    float numbers[NUMBERS];
    int32_t splits[CATEGORIES + 1] = {0};
    int64_t ends[CATEGORIES] = {0}, end = 0;
    next_cell(&rest); /* the label */
    for (int i = 0; i < NUMBERS; ++i) /* a missing one is 0 in this model */
      numbers[i] = strtof(next_cell(&rest), NULL);
    for (int i = 0; i < CATEGORIES; ++i) {
      /* Each category is a bag of one text; the library hashes it. */
      const char *text = next_cell(&rest);
      const size_t length = strlen(text);
      memcpy(texts + end, text, length);
      end += (int64_t)length;
      ends[i] = end;
      splits[i + 1] = i + 1;
    }
    float prediction;
    const ctr_dnn_predict_inputs inputs = {numbers, {NULL, splits, texts, ends}};
    const ctr_dnn_predict_outputs outputs = {&prediction};
    status = ctr_dnn_predict(model, 1, &inputs, &outputs);
    if (status)
      fprintf(stderr, "%s\n", serving->last_error());
    else
      printf("%.9g\n", prediction);
  }
  serving->close(model);
  return status != 0;
}
