//===- InterpretableOpInterface.td - Ops with a meaning -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_TD
#define PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that the reference interpreter can run. Implementations are external
    models in lib/Interpreter, one file for each group of ops. Elementwise ops
    have one in common, which evaluates their formula.
  }];
  let methods = [
    InterfaceMethod<[{
      Reads the operands' values from the frame and sets the results'. Diagnoses
      at the op what the verifier cannot know.
    }], "::llvm::LogicalResult", "interpret", (ins "::pdlc::interpreter::Frame &":$frame)>
  ];
}

#endif // PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_TD
