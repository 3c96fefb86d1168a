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
    An op that computes each element of its only result from the same elements
    of its operands, which broadcast to the shape of the result. It provides its
    formula as IR on scalars. The interpreter evaluates the formula, and stages
    compute it in a loop together with neighboring ops. Each formula is
    therefore written once.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the element of the result. `operands` are the elements of the
      operands, followed by those of `getScalarConstants`, all of the result's
      element type. Only two kinds of ops are allowed: ops of dialects `arith`
      and `math` with fixed numerics, without fast-math flags, and calls of
      scalar functions of `pdlabi/math.h` (`callSettled`).
    }], "::mlir::Value", "buildScalar",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
    InterfaceMethod<[{
      Returns the number of operands, from the first on, whose elements are
      read. Only the sizes of the following operands matter.
    }], "unsigned", "getNumElementOperands", (ins), "", [{
      return $_op->getNumOperands();
    }]>,
    InterfaceMethod<[{
      Returns the numbers of attributes that the formula reads like operands.
    }], "::llvm::SmallVector<::mlir::DenseElementsAttr>", "getScalarConstants", (ins), "", [{
      return {};
    }]>,
    InterfaceMethod<[{
      Returns the op as a post-op of the matrix product `product`, which is one
      of its operands. Returns nothing if the runtime's products do not support
      the op.
    }], "std::optional<::pdlc::PostOperation>", "asPostOp", (ins "::mlir::Value":$product), "", [{
      return std::nullopt;
    }]>
  ];
}

#endif // PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_TD
