//===- InterpretableOpInterface.td - Interpretable ops -*- tablegen -*-===//
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
    models in lib/Interpreter, with one file for each group of ops. Elementwise
    ops share one implementation, which evaluates their formula.
  }];
  let methods = [
    InterfaceMethod<[{
      Reads the values of the operands from the frame, and sets the values of
      the results. Reports errors that the verifier cannot find, at the op.
    }], "::llvm::LogicalResult", "interpret", (ins "::pdlc::interpreter::Frame &":$frame)>
  ];
}

#endif // PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_TD
