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

/// Prints which texts are missing, whatever their order: nothing if it is `?`
/// alone, as without the clause. `onlyNumbers`: those that a field of numbers
/// would read if they were not missing.
void printMissingTexts(llvm::raw_ostream &stream, nn::RecordOp record,
                       bool onlyNumbers = false);

/// Adds one text for each way in which the fields of the program become keys of
/// `pull`, such as `cross(text by xxh64 salt 0, #1 integer, #2 integer, salt =
/// 5)`. The texts hold every property that changes the key of a raw value, and
/// no other: neither names of fields nor their columns, widths and separators.
/// Fields of one way that are alike are numbered in the order of the record,
/// which is all that tells them apart. `fields` has the field of each argument
/// of the program, which is in phase `merged`.
void addKeyTexts(nn::PullOp pull, llvm::ArrayRef<nn::FieldOp> fields,
                 std::set<std::string> &texts);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_KEYTEXTS_H
