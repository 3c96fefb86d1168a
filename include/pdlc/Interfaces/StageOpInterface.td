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
    An op of a program that `nn-to-rt` emits into a stage function. The op
    provides the memory that it needs, and the code that fills it.
    Implementations are external models, in the same file as the code that emits
    the op (lib/Conversion/NNToRT). That folder also has the defaults of all
    methods except `emit`.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the op into its stage. Reports errors.
    }], "::llvm::LogicalResult", "emit", (ins "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      Reports errors that the op's verifier cannot find because it sees only one
      op, but that no stage supports. By default, does nothing.
    }], "::llvm::LogicalResult", "checkInProgram",
      (ins "const ::pdlc::ProgramSizes &":$sizes)>,
    InterfaceMethod<[{
      Returns the operand of which the result is a view, or null if the result
      has its own memory. By default, null.
    }], "::mlir::Value", "getViewSource", (ins)>,
    InterfaceMethod<[{
      Returns true if the operand's elements are read, and not only its size. By
      default, true.
    }], "bool", "readsElements", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Returns true if the op's own loop can compute each element of the operand
      where it reads it, once. If no other op needs the elements
      (`LoopElements::readBy`), they then have no memory. By default, false.
    }], "bool", "computesElements", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Returns true if the op reduces each row of its first operand (the last
      dimension) to one element of its result. A loop over rows can then do it
      between elementwise ops (RowLoops.h). By default, false.
    }], "bool", "combinesRows", (ins)>,
    InterfaceMethod<[{
      Emits the op for one row of `rows`, within such a loop. `position` has the
      indices of all dimensions except the last. By default, null.
    }], "::mlir::Value", "emitRow", (ins "::pdlc::StageEmitter &":$emitter,
      "::mlir::Value":$rows, "::mlir::ValueRange":$position)>,
    InterfaceMethod<[{
      If the operand's elements are columns of the result, unchanged, sets these
      columns and returns true. The producer of the operand may then write its
      elements there, and the op does not move them (`BufferPlan::isInPlace`).
      By default, false.
    }], "bool", "findPlace", (ins "::mlir::OpOperand &":$operand,
      "::pdlc::Columns &":$columns)>,
    InterfaceMethod<[{
      If the result's elements are columns of the first operand, unchanged, sets
      these columns and returns true. Readers of the result may then read them
      there, and the op is not emitted. By default, false.
    }], "bool", "findSource", (ins "::pdlc::Columns &":$columns)>,
    InterfaceMethod<[{
      Returns true if the op can read an operand that has a gap after each `run`
      of its elements, at no cost. By default, false.
    }], "bool", "readsColumns", (ins "::mlir::OpOperand &":$operand,
      "int64_t":$run)>,
    InterfaceMethod<[{
      Returns true if the op can write a result that has a gap after each `run`
      of its elements, at no cost. By default, false.
    }], "bool", "writesColumns", (ins "::mlir::OpResult":$result,
      "int64_t":$run)>,
    InterfaceMethod<[{
      Adds other ops whose code reads the elements of this op's operands, which
      must stay in memory until then. By default, none.
    }], "void", "findReaders",
      (ins "::llvm::SmallVectorImpl<::mlir::Operation *> &":$readers)>,
    InterfaceMethod<[{
      Returns true if the result is in the memory of the stage that reads state,
      which follows the op's own stage, and `emitDeferred` fills it. By default,
      false.
    }], "bool", "isDeferred", (ins "::mlir::OpResult":$result)>,
    InterfaceMethod<[{
      Emits the code that fills deferred results, at the beginning of the stage
      that reads state. By default, nothing.
    }], "void", "emitDeferred", (ins "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      Returns the numbers of a result that is one of the program's constants. By
      default, null.
    }], "::mlir::DenseElementsAttr", "getNumbers", (ins)>,
    InterfaceMethod<[{
      Emits the number of ids of a result whose extent is `Extent::counting`, in
      a stage after the op's own. By default, null.
    }], "::mlir::Value", "emitCount", (ins "::mlir::OpResult":$ids,
      "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      Sets the first dimension of a result, which is dynamic. By default, that
      of the first operand with a dynamic one.
    }], "void", "inferExtent", (ins "::mlir::OpResult":$result,
      "const ::pdlc::ProgramSizes &":$sizes, "::pdlc::Extent &":$extent)>,
    InterfaceMethod<[{
      If the op does not write a result into memory that it gets, sets the
      location of the result and returns true. By default, false: the plan
      assigns memory.
    }], "bool", "findHome", (ins "::mlir::OpResult":$result,
      "const ::pdlc::HomeNumbers &":$numbers, "::pdlc::Home &":$home)>,
    InterfaceMethod<[{
      Sets the bytes of memory that the op needs while it runs. By default,
      false: it needs none.
    }], "bool", "findScratch", (ins "const ::pdlc::ProgramSizes &":$sizes,
      "::pdlc::Extent &":$bytes)>
  ];
}

#endif // PDLC_INTERFACES_STAGEOPINTERFACE_TD
