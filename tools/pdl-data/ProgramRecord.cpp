//===- ProgramRecord.cpp - The record of a compiled program ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramRecord.h"

#include "pdlrt/Core/ProgramOutput.h"

#include <filesystem>
#include <utility>

using namespace pdlrt;

Expected<RecordDescription> recordOfProgram(const std::string &program) {
  std::error_code ignored;
  std::string path = program;
  if (std::filesystem::is_directory(path, ignored))
    path += "/trainer";
  if (path.find('/') == std::string::npos)
    path = "./" + path;
  const auto output =
      outputOfProgram(path, "--print-record",
                      "name the trainer that pdl-translate wrote, or its "
                      "folder");
  PDLRT_RETURN_IF_ERROR(output.status());
  if (!output->hasSucceeded)
    return Status::invalidArgument(
        path + ": does not print its record (--print-record); name a trainer "
               "that this version of pdl-translate compiled");
  auto record = RecordDescription::parse(output->text);
  if (!record)
    return std::move(record).status().withContext(path);
  return record;
}
