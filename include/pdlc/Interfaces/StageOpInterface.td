//===- StageOpInterface.td - Ops of stages -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_STAGEOPINTERFACE_TD
#define PDLC_INTERFACES_STAGEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def StageOpInterface : OpInterface<"StageOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op of a program that `nn-to-rt` puts into a stage function: the memory
    that it needs, and the code that fills it. Implementations are external
    models beside the code that emits the op (lib/Conversion/NNToRT), which also
    has the defaults of all methods but `emit`.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the op into the stage that it is in. Diagnoses what fails.
    }], "::llvm::LogicalResult", "emit", (ins "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      Diagnoses what the op's verifier lets pass, for it sees one op alone, and no
      stage can hold. By default nothing.
    }], "::llvm::LogicalResult", "checkInProgram",
      (ins "const ::pdlc::ProgramSizes &":$sizes)>,
    InterfaceMethod<[{
      The operand that the result is another view of; null if the result has
      memory of its own. By default null.
    }], "::mlir::Value", "getViewSource", (ins)>,
    InterfaceMethod<[{
      Whether the operand's elements are read, not only its size. By default
      true.
    }], "bool", "readsElements", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Sets the first dimension of a result, which is dynamic. By default that of
      the first operand that has a dynamic one.
    }], "void", "inferExtent", (ins "::mlir::OpResult":$result,
      "const ::pdlc::ProgramSizes &":$sizes, "::pdlc::Extent &":$extent)>,
    InterfaceMethod<[{
      Sets where a result lives that the op does not write into memory that it is
      given. By default false: the plan finds a place.
    }], "bool", "findHome", (ins "::mlir::OpResult":$result,
      "const ::pdlc::HomeNumbers &":$numbers, "::pdlc::Home &":$home)>,
    InterfaceMethod<[{
      Sets the bytes of memory that the op needs while it runs. By default false:
      it needs none.
    }], "bool", "findScratch", (ins "const ::pdlc::ProgramSizes &":$sizes,
      "::pdlc::Extent &":$bytes)>
  ];
}

#endif // PDLC_INTERFACES_STAGEOPINTERFACE_TD
