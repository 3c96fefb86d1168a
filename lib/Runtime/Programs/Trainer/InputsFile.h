//===- InputsFile.h - Inputs of a program as safetensors --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs of a program as a client passes them to a library or a server (see
// pdl/serving.h), in safetensors. For each field that the program reads, with n
// samples and W slots:
//
//   <field>              dense: F32 or F64 [n, W]; one id a slot: I64 keys
//   <field>.values       bags: I64 keys, or F32 or F64 numbers
//   <field>.splits       bags: I64 [n * W + 1]
//   <field>.texts        ids of delimited text, unchanged: U8 [bytes]
//   <field>.text_ends    I64 [texts]: end of each text in these bytes
//   <field>.text_splits  bags: I64 [n * W + 1] into the texts
//   .rows                I64 [n]: row of a sample in the pass, from 0
//   .samples             I64 [n]: row of a sample in the data
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_INPUTSFILE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_INPUTSFILE_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/Batch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Collects the inputs of batches in memory, and writes them to a file at the
/// end. Not thread-safe.
class InputsFile {
public:
  /// `hasTexts`: batches are read with `DataOptions::copyTexts` from delimited
  /// text, so texts are written, too. `descriptor` and `program` must outlive
  /// this object.
  InputsFile(const pdl_descriptor &descriptor, const pdl_program &program,
             bool hasTexts);

  /// Adds the samples of a batch. Throws std::bad_alloc.
  void add(const Batch &batch);
  /// Writes everything so far to `path`, atomically.
  Status write(const std::string &path) const;

private:
  struct Field {
    const pdl_field *field;
    std::vector<std::byte> values;
    std::vector<int64_t> splits = {0};
    std::string texts;
    std::vector<int64_t> textEnds, textSplits = {0};
  };
  void addTexts(Field &into, std::string_view &copied);

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  const bool hasTexts;
  std::vector<Field> fields;
  std::vector<int64_t> rows, samples;
  std::vector<std::string_view> found;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_INPUTSFILE_H
