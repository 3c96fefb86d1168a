//===- ElementwiseOpInterface.td - Ops on one element -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_TD
#define PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that computes each element of its one result from the same element of
    its operands, which broadcast to the result's shape. It says how as IR on
    scalars: the interpreter evaluates that formula, and stages compute it in a
    loop with the op's neighbours. So a formula is written once.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the result's element from those of the operands, followed by those
      of `getScalarConstants`, all of the result's element type. Ops are those
      of dialects `arith` and `math` whose numerics are settled, without
      fast-math flags, and calls of scalar functions of `pdlabi/math.h`
      (`callSettled`).
    }], "::mlir::Value", "buildScalar",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
    InterfaceMethod<[{
      How many operands, from the first on, have elements that are read; of
      those behind them only the size counts.
    }], "unsigned", "getNumElementOperands", (ins), "", [{
      return $_op->getNumOperands();
    }]>,
    InterfaceMethod<[{
      Numbers of attributes that the formula reads like operands.
    }], "::llvm::SmallVector<::mlir::DenseElementsAttr>", "getScalarConstants", (ins), "", [{
      return {};
    }]>,
    InterfaceMethod<[{
      What the op is as a post-op of the matrix product `product`, one of its
      operands; nothing for an op that the runtime's products do not know.
    }], "std::optional<::pdlc::PostOperation>", "asPostOp", (ins "::mlir::Value":$product), "", [{
      return std::nullopt;
    }]>
  ];
}

#endif // PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_TD
