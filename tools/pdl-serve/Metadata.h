//===- Metadata.h - Metadata of the server and its models -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_METADATA_H
#define PDL_TOOLS_PDL_SERVE_METADATA_H

#include "Repository.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlserve {

extern const char *const serverName;
extern const char *const serverVersion;
/// Names of supported extensions, as defined by Triton.
extern const std::vector<std::string> serverExtensions;
/// Reported platform of all models.
extern const char *const platformName;

/// Metadata of a tensor. The value -1 in `shape` stands for a size that each
/// request chooses.
struct TensorMetadata {
  std::string name;
  const char *dataType;
  std::vector<int64_t> shape;
  /// `isOptional`: a request may omit the tensor. `missingNumber` or
  /// `missingText`: the value that replaces a missing element. If there is
  /// neither, a missing element is an empty bag or an error.
  bool isOptional = false;
  std::optional<double> missingNumber = std::nullopt;
  std::optional<std::string> missingText = std::nullopt;
};

/// Return the tensors of a program. A ragged input has two.
std::vector<TensorMetadata> inputsOf(const Version &version, int32_t program);
std::vector<TensorMetadata> outputsOf(const pdl_serving_program &program);

/// A program of a version in the list of all models.
struct IndexLine {
  std::string name, version;
  /// READY, LOADING or UNAVAILABLE, and the reason.
  const char *state;
  std::string reason;
};

std::vector<IndexLine> indexOf(const Repository &repository, bool onlyReady);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_METADATA_H
