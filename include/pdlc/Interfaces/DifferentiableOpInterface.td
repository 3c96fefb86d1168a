//===- DifferentiableOpInterface.td - Reverse-mode rules of ops -*- tablegen -*-===//
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
    An op that knows its adjoint. `nn-autodiff` walks a program backwards and
    asks each op on the way from a trained symbol to the loss to build, from
    the cotangents of its results, those of its operands.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the results depend smoothly on this operand. Ids, splits and
      whatever gradients must not flow to answer false.
    }], "bool", "isDifferentiable", (ins "unsigned":$operandNumber), "", [{
      return true;
    }]>,
    InterfaceMethod<[{
      The values of the forward program that the adjoint reads; for memory
      planning and recomputation.
    }], "::llvm::SmallVector<::mlir::Value>", "getResiduals", (ins), "", [{
      return {};
    }]>,
    InterfaceMethod<[{
      Builds the adjoint. `adjoints.cotangent(result)` gives the cotangent of a
      result, null where it is zero; `adjoints.accumulate(operand, value)` adds
      to the cotangent of an operand; `adjoints.isNeeded(operand)` says whether
      anybody asks for it.
    }], "::llvm::LogicalResult", "buildAdjoint", (ins "::pdlc::AdjointBuilder &":$adjoints)>
  ];
}

#endif // PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
