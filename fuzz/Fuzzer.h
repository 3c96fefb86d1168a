//===- Fuzzer.h - What each fuzzer defines ----------------------*- C++ -*-===//
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

/// Good inputs, made by PDL's own encoders; the search begins with them.
std::vector<std::string> fuzzSeeds();
/// Decodes any bytes.
void fuzzOne(const std::string &bytes);

/// The bytes in slices of sizes that follow from the bytes: where one ends says
/// nothing to a decoder.
pdlrt::Message inSlices(const std::string &bytes);

/// Writes the bytes to a file of this process's own; its path.
std::string asFile(const std::string &bytes, const std::string &suffix = "");

/// Makes the files, by name, all that is in a folder of this process's own; its
/// path.
std::string asFolder(const std::map<std::string, std::string> &files);

/// The file or folder goes with the process.
void removeAtEnd(const std::string &path);

#endif // PDL_FUZZ_FUZZER_H
