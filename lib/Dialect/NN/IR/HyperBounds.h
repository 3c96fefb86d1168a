//===- HyperBounds.h - Bounds of hyper-parameters ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_HYPERBOUNDS_H
#define LIB_DIALECT_NN_IR_HYPERBOUNDS_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include <cmath>
#include <limits>

namespace pdlc::nn {

/// Bounds of a hyper-parameter. The attribute `hyper_bounds` stores them as
/// four numbers: minimum, maximum, and for each of these two 1 if the bound is
/// excluded, else 0.
struct HyperBounds {
  static constexpr size_t kNumbers = 4;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool isAbove = false, isBelow = false;

  static HyperBounds at(llvm::ArrayRef<double> bounds, size_t hyper) {
    if (bounds.empty())
      return {};
    bounds = bounds.slice(hyper * kNumbers, kNumbers);
    return {bounds[0], bounds[1], bounds[2] != 0, bounds[3] != 0};
  }
  bool hasLeast() const { return std::isfinite(least); }
  bool hasMost() const { return std::isfinite(most); }
  bool contains(double number) const {
    return (isAbove ? number > least : number >= least) &&
           (isBelow ? number < most : number <= most);
  }
  /// Prints the bounds as in the assembly format, each with a space before it.
  template <typename Stream> void print(Stream &stream) const {
    if (hasLeast()) {
      stream << (isAbove ? " above " : " from ");
      printNumber(stream, least);
    }
    if (hasMost()) {
      stream << (isBelow ? " below " : " to ");
      printNumber(stream, most);
    }
  }

private:
  static void printNumber(mlir::OpAsmPrinter &printer, double number) {
    printer.printFloat(llvm::APFloat(number));
  }
  template <typename Stream>
  static void printNumber(Stream &stream, double number) {
    llvm::SmallString<16> text;
    llvm::APFloat(number).toString(text);
    stream << text.str();
  }
};

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_HYPERBOUNDS_H
