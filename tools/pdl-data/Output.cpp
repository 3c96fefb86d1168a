//===- Output.cpp - Writes the result of a command ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Files/OutputFiles.h"

#include <cstdio>

using namespace pdlrt;

Status Output::open() {
  if (isStandard())
    return {};
  PDLRT_RETURN_IF_ERROR(checkReplaceable(path));
  file.emplace(path);
  return file->create();
}

Status Output::flush() {
  if (buffer.empty())
    return {};
  Status status;
  if (file)
    status = file->write(buffer.data(), buffer.size());
  else if (std::fwrite(buffer.data(), 1, buffer.size(), standardOutput()) !=
           buffer.size())
    status = Status::ioError(
        "cannot write to the standard output; is the disk full, or its reader "
        "gone?");
  buffer.clear();
  return status;
}

Status Output::commit() {
  PDLRT_RETURN_IF_ERROR(flush());
  return file ? file->commit() : Status();
}

int writeOutput(const std::string &path, const std::string &text) {
  Output output(path);
  if (const Status status = output.open(); !status.ok())
    return failUsage(status);
  Status status = output.write(text);
  if (status.ok())
    status = output.commit();
  return status.ok() ? 0 : fail(status);
}
