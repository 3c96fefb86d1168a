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
      Whether the op's own loop can compute the elements of the operand where it
      reads them, each once, if nobody else needs them (`LoopElements::readBy`):
      then they have no memory. By default false.
    }], "bool", "computesElements", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Whether the op reduces each row of its first operand, the last dimension, to
      one element of its result. Then a loop over rows can do it between
      elementwise ops (RowLoops.h). By default false.
    }], "bool", "combinesRows", (ins)>,
    InterfaceMethod<[{
      Emits what the op makes of the row of `rows`, whose dimensions but the last
      `position` counts, within such a loop. By default null.
    }], "::mlir::Value", "emitRow", (ins "::pdlc::StageEmitter &":$emitter,
      "::mlir::Value":$rows, "::mlir::ValueRange":$position)>,
    InterfaceMethod<[{
      Sets which columns of the result are the operand's elements, unchanged, where
      that is so: then who makes the operand may write them there, and the op does
      not move them (`BufferPlan::isInPlace`). By default false.
    }], "bool", "findPlace", (ins "::mlir::OpOperand &":$operand,
      "::pdlc::Columns &":$columns)>,
    InterfaceMethod<[{
      Sets which columns of the first operand are the result's elements,
      unchanged, where that is so: then who reads the result may read them there,
      and the op is not emitted. By default false.
    }], "bool", "findSource", (ins "::pdlc::Columns &":$columns)>,
    InterfaceMethod<[{
      Whether the op can read an operand that has a gap behind each `run` of its
      elements, and loses nothing by it. By default false.
    }], "bool", "readsColumns", (ins "::mlir::OpOperand &":$operand,
      "int64_t":$run)>,
    InterfaceMethod<[{
      Whether the op can write a result that has a gap behind each `run` of its
      elements, and loses nothing by it. By default false.
    }], "bool", "writesColumns", (ins "::mlir::OpResult":$result,
      "int64_t":$run)>,
    InterfaceMethod<[{
      Adds the ops whose code reads the elements of this op's operands, if they are
      not those that it is computed with itself. By default none.
    }], "void", "findReaders",
      (ins "::llvm::SmallVectorImpl<::mlir::Operation *> &":$readers)>,
    InterfaceMethod<[{
      Whether the result lives in the stage that reads state, which follows the
      op's own, and `emitDeferred` fills it. By default false.
    }], "bool", "isDeferred", (ins "::mlir::OpResult":$result)>,
    InterfaceMethod<[{
      Emits, where the stage that reads state begins, what fills the results that
      are deferred. By default nothing.
    }], "void", "emitDeferred", (ins "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      The numbers of a result that lives in the program's constants. By default
      null.
    }], "::mlir::DenseElementsAttr", "getNumbers", (ins)>,
    InterfaceMethod<[{
      Emits how many ids a result holds that says so by `Extent::counting`, in a
      stage behind the op. By default null.
    }], "::mlir::Value", "emitCount", (ins "::mlir::OpResult":$ids,
      "::pdlc::StageEmitter &":$emitter)>,
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
