//===- TestData.h - Data of the test after each epoch -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TESTDATA_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TESTDATA_H

#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Programs/Trainer/Session.h"

namespace pdlrt {

/// Returns true if the options request a test after each epoch.
bool hasTest(const SessionOptions &options);

/// Returns the data of the test.
DataOptions testDataOf(const SessionOptions &options);

/// Warns if rows of the test are also used for training. Reads no data, so it
/// does not notice each overlap.
void warnOfOverlap(const SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TESTDATA_H
