//===- ReadingFlags.h - Flags of the data to read ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_READINGFLAGS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_READINGFLAGS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <string>
#include <vector>

namespace pdlrt {

/// Returns the flags about the data that a command reads.
std::vector<Flag> readingFlags(DataOptions &data);

/// Returns the rows of flags about a training's test data.
std::vector<Flag> evaluationFlags(SessionOptions &session);

/// Replaces lists, folders and patterns in --data and --evaluate-data by the
/// files that they stand for.
Status findDataFiles(SessionOptions &options);

/// Checks the flags of the data that the command reads, without opening the
/// data.
Status checkReadingFlags(const std::string &command,
                         const pdl_descriptor &descriptor,
                         const SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_READINGFLAGS_H
