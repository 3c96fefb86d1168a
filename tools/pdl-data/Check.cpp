//===- Check.cpp - Checks files against a record --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "Data/DataFlags.h"
#include "Data/FileLists.h"
#include "Data/InputFile.h"
#include "Output.h"
#include "ProgramRecord.h"
#include "RecordBlocks.h"
#include "pdlrt/Core/ProgramMain.h"

#include <fmt/format.h>
#include <string>

using namespace pdlrt;

int checkFiles(InputFlags input, const CheckFlags &flags) {
  auto record = recordOfProgram(flags.trainer);
  if (!record)
    return failUsage(record.status());
  auto program = record->program(flags.program);
  if (!program)
    return failUsage(program.status());
  DataOptions &data = input.data;
  auto files = expandFileLists(data.files, !data.pipe.empty(), "FILE");
  if (!files)
    return failUsage(files.status());
  data.files = *std::move(files);
  const RecordReaderOptions options{
      .data = data, .descriptor = record->descriptor(), .program = **program};
  if (const Status status =
          checkDataFlags(data, options.descriptor, options.program);
      !status.ok())
    return failUsage(status);
  std::string text;
  int64_t rows = 0, bad = 0;
  ProgressReport progress(input.quiet);
  RecordColumns columns(fieldsOf(options.descriptor, options.program));
  const Status read =
      visitBlocks(options, columns, [&](const RecordBlock &block) {
        for (const RowLog::BadRow &row : block.log.bad)
          if (bad++ < flags.shown)
            text += row.message + "\n";
        rows += block.rows;
        return progress.note(rows);
      });
  if (!read.ok()) {
    (void)writeOutput("", text);
    return fail(read);
  }
  if (bad > flags.shown)
    text += fmt::format("and {} more bad rows\n", bad - flags.shown);
  text += fmt::format("{} rows, {} bad\n", rows, bad);
  const int status = writeOutput("", text);
  return status != 0 ? status : bad > 0 ? 1 : 0;
}
