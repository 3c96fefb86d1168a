//===- ProgramRun.cpp - Program with its engine and data ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/ProgramRun.h"

#include "pdlrt/Core/StopSignal.h"

using namespace pdlrt;

Expected<std::span<const StepInput>> ProgramRun::readRound() {
  std::vector<DataPosition> before = reader->positions();
  const int64_t badRows = reader->badRowCount();
  Expected<bool> more = reader->next();
  // A shutdown request may interrupt the reader. An error is then not reported:
  // if the data are bad, the next run of the job will report it.
  if (!more && stopSignal() != 0 && more.status().code() != PDL_OUT_OF_MEMORY) {
    brokenOff = true;
    return std::span<const StepInput>();
  }
  if (!more)
    return std::move(more).status();
  positionsBefore = std::move(before);
  badRowsBefore = badRows;
  if (!*more)
    return std::span<const StepInput>();
  ++rounds;
  return reader->inputs();
}
