//===- KeyTexts.h - How fields become the keys of a table -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_KEYTEXTS_H
#define LIB_TRANSFORMS_NN_KEYTEXTS_H

#include "pdlc/Dialect/NN/IR/NN.h"

#include <set>
#include <string>

namespace pdlc {

/// Returns the fewest digits that give the number.
std::string textOfNumber(double number);

/// Prints the texts that mark missing values, in ascending order. Prints
/// nothing if there is only the default text `?`. With `onlyNumbers`, prints
/// only texts with a digit, because any other text is an error in a field of
/// numbers.
void printMissingTexts(llvm::raw_ostream &stream, nn::RecordOp record,
                       bool onlyNumbers = false);

/// Adds to `texts` one text for each way in which fields of the program become
/// keys of `pull`. For example: `cross(text by xxh64 salt 0, #1 integer, #2
/// integer, salt = 5)`. The texts contain each property that changes the key of
/// a raw value, and nothing else: no names, columns, widths or separators of
/// fields. If fields of one way have the same text, they are numbered in the
/// order of the record. `fields` are the fields of the program's arguments. The
/// program must be in phase `merged`.
void addKeyTexts(nn::PullOp pull, llvm::ArrayRef<nn::FieldOp> fields,
                 std::set<std::string> &texts);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_KEYTEXTS_H
