//===- Fuzzer.h - Functions that each fuzzer defines ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_FUZZ_FUZZER_H
#define PDL_FUZZ_FUZZER_H

#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Returns valid inputs, made by PDL's own encoders. The search starts with
/// them.
std::vector<std::string> fuzzSeeds();
/// Decodes arbitrary bytes.
void fuzzOne(const std::string &bytes);

/// Returns the bytes in slices whose sizes are derived from the bytes. The
/// bounds of slices must not affect decoders.
pdlrt::Message inSlices(const std::string &bytes);

/// Writes the bytes to a file of this process and returns its path.
std::string asFile(const std::string &bytes, const std::string &suffix = "");

/// Creates a folder of this process that contains exactly these files, by name,
/// and returns its path.
std::string asFolder(const std::map<std::string, std::string> &files);

/// Removes the file or folder when the process ends.
void removeAtEnd(const std::string &path);

#endif // PDL_FUZZ_FUZZER_H
