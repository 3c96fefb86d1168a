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
      Reports an error if stages do not support this use of the op in its
      program. The op's verifier cannot find such errors, because it sees only
      one op. By default, succeeds.
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
      Returns true if the op's own loop reads each element of the operand only
      once, and so can compute it instead (`LoopElements::readBy`). If no other
      op reads the operand, it then needs no memory. By default, false.
    }], "bool", "computesElements", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Returns true if the op reduces each row of its first operand (the last
      dimension) to one element of its result. A loop over rows can then do it
      between elementwise ops (RowLoops.h). By default, false.
    }], "bool", "combinesRows", (ins)>,
    InterfaceMethod<[{
      Emits the reduction of one row of `rows`, inside a loop over rows, and
      returns the result. `position` has the indices of all dimensions except
      the last. By default, null.
    }], "::mlir::Value", "emitRow", (ins "::pdlc::StageEmitter &":$emitter,
      "::mlir::Value":$rows, "::mlir::ValueRange":$position)>,
    InterfaceMethod<[{
      If the op only copies the operand to some columns of its result, sets
      `columns` to these columns and returns true. The producer of the operand
      may then write directly to the result, so that the op copies nothing
      (`BufferPlan::isInPlace`). By default, false.
    }], "bool", "findPlace", (ins "::mlir::OpOperand &":$operand,
      "::pdlc::Columns &":$columns)>,
    InterfaceMethod<[{
      If the result is a copy of some columns of the first operand, sets
      `columns` to these columns and returns true. Readers of the result may
      then read the operand directly, and the op is not emitted. By default,
      false.
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
      Adds other ops whose code reads elements of this op's operands. The
      operands must stay in memory until the last of these ops. By default,
      none.
    }], "void", "findReaders",
      (ins "::llvm::SmallVectorImpl<::mlir::Operation *> &":$readers)>,
    InterfaceMethod<[{
      Returns true if `emitDeferred` computes the result in a later stage: the
      one that reads state. The result is then in the memory of that stage. By
      default, false.
    }], "bool", "isDeferred", (ins "::mlir::OpResult":$result)>,
    InterfaceMethod<[{
      Emits the code that computes deferred results (`isDeferred`), at the
      beginning of the stage that reads state. By default, emits nothing.
    }], "void", "emitDeferred", (ins "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      If the result is a constant of the program, returns its numbers. By
      default, null.
    }], "::mlir::DenseElementsAttr", "getNumbers", (ins)>,
    InterfaceMethod<[{
      Emits, in a stage after that of the op, the number of ids of a result
      whose size is `Extent::counting`. By default, null.
    }], "::mlir::Value", "emitCount", (ins "::mlir::OpResult":$ids,
      "::pdlc::StageEmitter &":$emitter)>,
    InterfaceMethod<[{
      Sets `extent` to the size of the dynamic first dimension of a result. By
      default, this is the size of the first operand whose first dimension is
      dynamic.
    }], "void", "inferExtent", (ins "::mlir::OpResult":$result,
      "const ::pdlc::ProgramSizes &":$sizes, "::pdlc::Extent &":$extent)>,
    InterfaceMethod<[{
      If a result has a location of its own, such as a parameter in the step
      context, sets `home` to it and returns true. By default, false: the plan
      assigns memory.
    }], "bool", "findHome", (ins "::mlir::OpResult":$result,
      "const ::pdlc::HomeNumbers &":$numbers, "::pdlc::Home &":$home)>,
    InterfaceMethod<[{
      If the op needs scratch memory while it runs, sets `bytes` to its size and
      returns true. By default, false.
    }], "bool", "findScratch", (ins "const ::pdlc::ProgramSizes &":$sizes,
      "::pdlc::Extent &":$bytes)>
  ];
}

#endif // PDLC_INTERFACES_STAGEOPINTERFACE_TD
