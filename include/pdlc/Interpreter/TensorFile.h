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

/// Reads one tensor of a file as elements of `elementType`; 32-bit elements are
/// widened to 64-bit ones of their kind. `shape` is what is asked for; a
/// dynamic dimension accepts any. Diagnoses at `location`.
mlir::FailureOr<Tensor>
readTensor(const SafetensorsReader &file, llvm::StringRef name,
           const TensorInFile &tensor, mlir::Type elementType,
           llvm::ArrayRef<int64_t> shape, mlir::Location location);

/// The batches of a file: tensors `batch<i>/<field>` from i = 0 on, as a
/// trainer dumps them, or plain tensors `<field>` that are cut into batches of
/// a given size. A ragged field is a pair `<field>.values` and
/// `<field>.splits`.
class BatchFile {
public:
  /// Opens the batches of `program`. `batchSize` cuts plain tensors; 0 makes
  /// them one batch. Errors are diagnosed at the program.
  static mlir::FailureOr<BatchFile>
  open(llvm::StringRef path, int64_t batchSize, nn::ProgramOp program);

  /// How many batches there are.
  int64_t count() const { return batchCount; }
  /// The values of the program's arguments in batch `index`.
  mlir::FailureOr<std::vector<RuntimeValue>> read(int64_t index);
  /// What random numbers of step `step` are drawn with, counted from 0 over all
  /// passes over the file: the epoch and the samples' numbers that a trainer
  /// dumped, else each pass is an epoch, and samples are numbered through the
  /// file.
  mlir::FailureOr<Draws> readDraws(int64_t step, uint64_t seed);

private:
  BatchFile(SafetensorsReader file, nn::ProgramOp program)
      : file(std::move(file)), program(program) {}

  /// Samples `first` to `first + count` - 1 of a tensor.
  struct Range {
    int64_t first = 0, count = 0;
  };
  mlir::FailureOr<const TensorInFile *> find(const std::string &name);
  mlir::FailureOr<int64_t> samplesOf(nn::FieldOp field,
                                     const std::string &prefix);
  /// Which samples of the file's fields are of a batch.
  mlir::FailureOr<Range> rangeOf(int64_t index);
  mlir::FailureOr<Tensor> readDense(nn::FieldOp field,
                                    const std::string &prefix, Range range,
                                    mlir::Type elementType);
  mlir::FailureOr<Ragged> readRagged(nn::FieldOp field,
                                     const std::string &prefix, Range range);

  SafetensorsReader file;
  nn::ProgramOp program;
  /// Tensors are named `batch<i>/<field>`.
  bool isDump = false;
  int64_t batchCount = 0, batchSize = 0, sampleCount = 0;
};

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_TENSORFILE_H
