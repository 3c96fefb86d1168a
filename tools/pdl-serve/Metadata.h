//===- Metadata.h - What a server says of itself and its models -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_METADATA_H
#define PDLSERVE_METADATA_H

#include "Repository.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlserve {

extern const char *const serverName;
extern const char *const serverVersion;
/// Of the extensions that Triton names.
extern const std::vector<std::string> serverExtensions;
/// The platform that models are said to be for.
extern const char *const platformName;

/// A tensor as metadata describe it; -1 is a size that a request chooses.
struct TensorMetadata {
  std::string name;
  const char *dataType;
  std::vector<int64_t> shape;
  /// Whether a request may leave it out, and what a missing element becomes;
  /// none: an empty bag, or an error.
  bool isOptional = false;
  std::optional<double> missingNumber = std::nullopt;
  std::optional<std::string> missingText = std::nullopt;
};

/// Of a ragged input there are two.
std::vector<TensorMetadata> inputsOf(const Version &version, int32_t program);
std::vector<TensorMetadata> outputsOf(const pdl_serving_program &program);

/// A program of a version in the list of all.
struct IndexLine {
  std::string name, version;
  /// READY, LOADING or UNAVAILABLE, and why.
  const char *state;
  std::string reason;
};

std::vector<IndexLine> indexOf(const Repository &repository, bool onlyReady);

} // namespace pdlserve

#endif // PDLSERVE_METADATA_H
