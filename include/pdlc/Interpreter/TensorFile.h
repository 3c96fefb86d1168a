//===- TensorFile.h - Tensors and batches from files ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_TENSORFILE_H
#define PDLC_INTERPRETER_TENSORFILE_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Interpreter/Interpreter.h"
#include "pdlc/Interpreter/Tensor.h"

namespace pdlc::interpreter {

/// Reads one tensor of a file as elements of `elementType`. 32-bit elements are
/// widened to 64 bits if needed. `shape` is the expected shape; a dynamic
/// dimension accepts any size. Diagnoses at `location`.
mlir::FailureOr<Tensor>
readTensor(const NamedTensorsReader &file, llvm::StringRef name,
           const TensorInFile &tensor, mlir::Type elementType,
           llvm::ArrayRef<int64_t> shape, mlir::Location location);

/// Batches of a file. The file contains tensors `batch<i>/<field>` from i = 0
/// on, as a trainer dumps them, or plain tensors `<field>` that are cut into
/// batches of a given size. A ragged field is a pair `<field>.values` and
/// `<field>.splits`.
class BatchFile {
public:
  /// Opens the batches of `program`. Plain tensors are cut into batches of
  /// `batchSize`; 0 makes them one batch. Errors are diagnosed at the program.
  static mlir::FailureOr<BatchFile>
  open(llvm::StringRef path, int64_t batchSize, nn::ProgramOp program);

  /// Returns the number of batches.
  int64_t count() const { return batchCount; }
  /// Returns the values of the program's arguments in batch `index`.
  mlir::FailureOr<std::vector<RuntimeValue>> read(int64_t index);
  /// Returns the inputs for the random numbers of step `step`, which counts
  /// from 0 over all passes through the file. Uses the epoch and sample numbers
  /// in the file, if a trainer has written them. Otherwise each pass is an
  /// epoch, and samples are numbered in the order of the file.
  mlir::FailureOr<Draws> readDraws(int64_t step, uint64_t seed);

private:
  BatchFile(NamedTensorsReader file, nn::ProgramOp program)
      : file(std::move(file)), program(program) {}

  /// Samples `first` to `first + count` - 1 of a tensor.
  struct Range {
    int64_t first = 0, count = 0;
  };
  mlir::FailureOr<const TensorInFile *> find(const std::string &name);
  mlir::FailureOr<int64_t> samplesOf(nn::FieldOp field,
                                     const std::string &prefix);
  /// Returns the range of samples that belong to a batch.
  mlir::FailureOr<Range> rangeOf(int64_t index);
  mlir::FailureOr<Tensor> readDense(nn::FieldOp field,
                                    const std::string &prefix, Range range,
                                    mlir::Type elementType);
  mlir::FailureOr<Ragged> readRagged(nn::FieldOp field,
                                     const std::string &prefix, Range range);

  NamedTensorsReader file;
  nn::ProgramOp program;
  /// If true, tensors are named `batch<i>/<field>`.
  bool isDump = false;
  int64_t batchCount = 0, batchSize = 0, sampleCount = 0;
};

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_TENSORFILE_H
