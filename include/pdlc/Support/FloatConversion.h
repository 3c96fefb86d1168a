//===- FloatConversion.h - Conversion of float formats ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_FLOATCONVERSION_H
#define PDLC_SUPPORT_FLOATCONVERSION_H

#include "llvm/ADT/APFloat.h"

namespace pdlc {

/// Returns `number` in the format `to`, rounded to nearest, ties to even. If
/// `losesInfo` is given, sets it to true if the result is a different number.
inline llvm::APFloat convertFloat(llvm::APFloat number,
                                  const llvm::fltSemantics &to,
                                  bool *losesInfo = nullptr) {
  bool ignored = false;
  number.convert(to, llvm::APFloat::rmNearestTiesToEven,
                 losesInfo ? losesInfo : &ignored);
  return number;
}

} // namespace pdlc

#endif // PDLC_SUPPORT_FLOATCONVERSION_H
