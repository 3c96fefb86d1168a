//===- FloatConversion.h - A number in another format -----------*- C++ -*-===//
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

/// `number` in the format `to`, rounded to the nearest one, ties to even. Says
/// in `losesInfo`, where given, whether that is another number.
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
