//===- HyperValues.cpp - Hyper-parameters of rules ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HyperValues.h"

using namespace mlir;

SmallVector<double> pdlc::hyperValues(ArrayAttr names, ArrayRef<double> values,
                                      DictionaryAttr others) {
  SmallVector<double> numbers;
  for (auto [name, value] :
       llvm::zip_equal(names.getAsRange<StringAttr>(), values)) {
    Attribute other = others ? others.get(name) : Attribute();
    if (auto decimal = dyn_cast_or_null<FloatAttr>(other))
      numbers.push_back(decimal.getValueAsDouble());
    else if (auto integer = dyn_cast_or_null<IntegerAttr>(other))
      numbers.push_back(integer.getValue().signedRoundToDouble());
    else
      numbers.push_back(value);
  }
  return numbers;
}
