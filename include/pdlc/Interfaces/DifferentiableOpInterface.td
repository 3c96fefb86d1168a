//===- DifferentiableOpInterface.td - Adjoints of ops -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
#define PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that can build its adjoint. `nn-autodiff` walks backwards through a
    program, from the loss to the trained symbols. Each op on the way builds the
    cotangents of its operands from those of its results.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns true if the results depend smoothly on this operand. Returns false
      for ids, splits, and other operands to which no gradient flows.
    }], "bool", "isDifferentiable", (ins "unsigned":$operandNumber), "", [{
      return true;
    }]>,
    InterfaceMethod<[{
      Returns the values of the forward program that the adjoint reads. Memory
      planning and recomputation use them.
    }], "::llvm::SmallVector<::mlir::Value>", "getResiduals", (ins), "", [{
      return {};
    }]>,
    InterfaceMethod<[{
      Builds the adjoint. `adjoints.cotangent(result)` returns the cotangent of
      a result, or null if it is zero. `adjoints.accumulate(operand, value)`
      adds to the cotangent of an operand. `adjoints.isNeeded(operand)` returns
      true if any op needs that cotangent.
    }], "::llvm::LogicalResult", "buildAdjoint", (ins "::pdlc::AdjointBuilder &":$adjoints)>
  ];
}

#endif // PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
