//===- Predictions.cpp - Outputs of a program as text ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Predictions.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

using namespace pdlrt;

PredictionWriter::PredictionWriter(std::FILE *file, std::string path,
                                   const pdl_program &program)
    : file(file), path(std::move(path)), program(program) {}

PredictionWriter::PredictionWriter(PredictionWriter &&other) noexcept
    : file(std::exchange(other.file, nullptr)), path(std::move(other.path)),
      program(other.program), line(std::move(other.line)) {}

PredictionWriter::~PredictionWriter() {
  if (file && file != stdout)
    std::fclose(file);
}

Status PredictionWriter::check(bool good) const {
  if (good)
    return {};
  return Status::invalid("cannot write predictions to " +
                         (path.empty() ? "the standard output" : path) + ": " +
                         std::strerror(errno));
}

Expected<PredictionWriter> PredictionWriter::open(const std::string &path,
                                                  const pdl_program &program) {
  std::FILE *file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
  PredictionWriter writer(file, path, program);
  PDLRT_RETURN_IF_ERROR(writer.check(file != nullptr));
  std::string names;
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &output = program.outputs[i];
    for (int64_t j = 0; j < output.width; ++j) {
      names += names.empty() ? "" : "\t";
      names += output.name;
      if (output.width > 1)
        names += "." + std::to_string(j);
    }
  }
  names += '\n';
  PDLRT_RETURN_IF_ERROR(writer.check(std::fputs(names.c_str(), file) != EOF));
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

Status PredictionWriter::write(const BatchContext &batch, int64_t samples) {
  for (int64_t sample = 0; sample < samples; ++sample) {
    line.clear();
    for (int32_t i = 0; i < program.output_count; ++i) {
      const pdl_output &output = program.outputs[i];
      for (int64_t j = 0; j < output.width; ++j) {
        if (!line.empty())
          line += '\t';
        auto append = output.element_type == PDL_F32   ? appendNumber<float>
                      : output.element_type == PDL_F64 ? appendNumber<double>
                                                       : appendNumber<int64_t>;
        append(batch.output(i), sample * output.width + j, line);
      }
    }
    line += '\n';
    PDLRT_RETURN_IF_ERROR(
        check(std::fwrite(line.data(), 1, line.size(), file) == line.size()));
  }
  return {};
}

Status PredictionWriter::finish() {
  Status status = check(std::fflush(file) == 0);
  if (file != stdout && std::fclose(file) != 0 && status.ok())
    status = check(false);
  file = nullptr;
  return status;
}
