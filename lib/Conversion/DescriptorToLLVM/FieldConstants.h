//===- FieldConstants.h - Fields of the constant descriptor -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_DESCRIPTORTOLLVM_FIELDCONSTANTS_H
#define LIB_CONVERSION_DESCRIPTORTOLLVM_FIELDCONSTANTS_H

#include "ConstantBuilder.h"
#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// Returns the value of a number of a model, written with or without a point.
double numberOf(mlir::Attribute attribute);

/// Returns the `pdl_element_type` of a type.
int32_t elementTypeOf(mlir::Type type);

/// Builds the constants of the fields of a record, in its order.
std::vector<Constant<pdl_field>> buildFields(ConstantBuilder &constants,
                                             nn::RecordOp record);

} // namespace pdlc

#endif // LIB_CONVERSION_DESCRIPTORTOLLVM_FIELDCONSTANTS_H
