//===- Reports.cpp - Lines of a command's report --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/Reports.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Core/UnknownIds.h"

#include <cstdint>
#include <cstdio>
#include <fmt/format.h>

using namespace pdlrt;

void pdlrt::printLine(const std::string &line) {
  std::fputs((line + "\n").c_str(), standardOutput());
}

void pdlrt::reportBadRows(const char *label, const ProgramRun &run,
                          const PassReport &report, bool printsFigures) {
  if (report.badRows == 0)
    return;
  for (const std::string &message : run.reader->badRowMessages())
    logWarning("skipped " + message);
  if (printsFigures)
    printLine(fmt::format("{}bad rows skipped {}", label, report.badRows));
}

void pdlrt::reportKeys(const char *label, const PullCounts &counts) {
  if (counts.unknownInitial || counts.unknownZero)
    printLine(fmt::format(
        "{} ids looked up {}, of unknown keys {} (initial value) "
        "and {} (zeros)",
        label, counts.ids, counts.unknownInitial, counts.unknownZero));
  const int64_t unknown = counts.unknownInitial + counts.unknownZero;
  if (areTooManyUnknown(counts.ids, unknown))
    logWarning(sayUnknown(counts.ids, unknown));
}
