//===- Predictions.cpp - Outputs of a program as text ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/Predictions.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;

PredictionWriter::PredictionWriter(std::FILE *file, std::string path,
                                   std::string temporaryPath,
                                   const pdl_program &program, bool hasCopied)
    : file(file), path(std::move(path)),
      temporaryPath(std::move(temporaryPath)), program(program),
      hasCopied(hasCopied) {}

PredictionWriter::PredictionWriter(PredictionWriter &&other) noexcept
    : file(std::exchange(other.file, nullptr)), path(std::move(other.path)),
      temporaryPath(std::exchange(other.temporaryPath, "")),
      program(other.program), hasCopied(other.hasCopied),
      line(std::move(other.line)) {}

PredictionWriter::~PredictionWriter() {
  if (file && file != stdout)
    std::fclose(file);
  if (!temporaryPath.empty())
    ::unlink(temporaryPath.c_str());
}

Status PredictionWriter::check(bool good) const {
  if (good)
    return {};
  return Status::invalid("cannot write predictions to " +
                         (path.empty() ? "the standard output" : path) + ": " +
                         std::strerror(errno));
}

/// The names of the columns of the outputs.
static std::vector<std::string> columnsOf(const pdl_program &program) {
  std::vector<std::string> columns;
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &output = program.outputs[i];
    for (int64_t j = 0; j < output.width; ++j)
      columns.push_back(output.width > 1
                            ? output.name + ("." + std::to_string(j))
                            : output.name);
  }
  return columns;
}

Expected<PredictionWriter> PredictionWriter::open(const std::string &path,
                                                  const pdl_program &program,
                                                  const std::string &copied) {
  const std::vector<std::string> columns = columnsOf(program);
  if (std::ranges::find(columns, copied) != columns.end())
    return Status::invalid(
        "predictions would have two columns `" + copied +
        "`: what --id or --copy-column lets through, and an output of program "
        "@" +
        program.name +
        "; give the output another name (nn.return ... as), or let another "
        "column through");
  const bool isStandard = path.empty() || path == "-";
  // What was predicted before stays until the new file is whole. Devices, pipes
  // and what links stand for are written as they are.
  struct stat found;
  const bool isRegular =
      lstat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
  const std::string temporary =
      isStandard || !isRegular ? "" : path + ".tmp." + std::to_string(getpid());
  const std::string &opened = temporary.empty() ? path : temporary;
  std::FILE *file = isStandard ? stdout : std::fopen(opened.c_str(), "w");
  PredictionWriter writer(file, isStandard ? "" : path, file ? temporary : "",
                          program, !copied.empty());
  PDLRT_RETURN_IF_ERROR(writer.check(file != nullptr));
  writer.beginLine(copied);
  for (const std::string &column : columns) {
    writer.beginCell();
    writer.line += column;
  }
  PDLRT_RETURN_IF_ERROR(writer.endLine());
  return writer;
}

template <typename T>
static void appendNumber(const void *values, int64_t index, std::string &line) {
  // The shortest text that reads back as the same number.
  char digits[64];
  auto end = std::to_chars(digits, digits + sizeof(digits),
                           static_cast<const T *>(values)[index])
                 .ptr;
  line.append(digits, end);
}

void PredictionWriter::beginLine(std::string_view copiedCell) {
  line.clear();
  isFirstCell = true;
  if (!hasCopied)
    return;
  line += copiedCell;
  for (char &character : line)
    if (character == '\t' || character == '\n' || character == '\r')
      character = ' ';
  isFirstCell = false;
}

void PredictionWriter::beginCell() {
  if (!isFirstCell)
    line += '\t';
  isFirstCell = false;
}

Status PredictionWriter::endLine() {
  line += '\n';
  return check(std::fwrite(line.data(), 1, line.size(), file) == line.size());
}

Status PredictionWriter::write(const BatchContext &batch, int64_t sample,
                               std::string_view copiedCell) {
  beginLine(copiedCell);
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &output = program.outputs[i];
    for (int64_t j = 0; j < output.width; ++j) {
      beginCell();
      auto append = output.element_type == PDL_F32   ? appendNumber<float>
                    : output.element_type == PDL_F64 ? appendNumber<double>
                                                     : appendNumber<int64_t>;
      append(batch.output(i), sample * output.width + j, line);
    }
  }
  return endLine();
}

Status PredictionWriter::writeBadRow(std::string_view copiedCell) {
  beginLine(copiedCell);
  for (int32_t i = 0; i < program.output_count; ++i)
    for (int64_t j = 0; j < program.outputs[i].width; ++j) {
      beginCell();
      line += "nan";
    }
  return endLine();
}

Status PredictionWriter::finish() {
  Status status = check(std::fflush(file) == 0);
  if (file != stdout && std::fclose(file) != 0 && status.ok())
    status = check(false);
  file = nullptr;
  if (status.ok() && !temporaryPath.empty()) {
    status = check(std::rename(temporaryPath.c_str(), path.c_str()) == 0);
    if (status.ok())
      temporaryPath.clear();
  }
  return status;
}
