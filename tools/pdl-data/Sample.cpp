//===- Sample.cpp - Writes a part of the rows -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sample.h"

#include "Data/FileFormat.h"
#include "Data/InputFile.h"
#include "Data/RecordFraming.h"
#include "Output.h"
#include "pdlabi/philox.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StandardStreams.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

using namespace pdlrt;

/// Returns the random number of a row.
static uint64_t randomOfRow(int64_t row, uint64_t seed) {
  const pdlabi::PhiloxBlock block = pdlabi::philox(
      {{uint32_t(row), uint32_t(uint64_t(row) >> 32), 0, 0}}, seed);
  return block.words[0] | uint64_t(block.words[1]) << 32;
}

namespace {

/// A row that may be in the sample of a fixed size.
struct KeptRow {
  uint64_t random;
  int64_t number;
  std::string bytes;
  bool operator<(const KeptRow &other) const {
    return std::pair(random, number) < std::pair(other.random, other.number);
  }
};

/// Writes the bytes of rows in the format of their files.
class SampleWriter {
public:
  SampleWriter(Output &output, bool isRecordFile)
      : output(output), isRecordFile(isRecordFile) {}

  /// Writes the header of the first file. All files must have the same.
  Status beginFile(const InputRow &row);
  Status write(std::string_view bytes);

private:
  Output &output;
  bool isRecordFile;
  std::optional<std::string> header;
};

} // namespace

Status SampleWriter::beginFile(const InputRow &row) {
  const std::string_view own = row.rows.header();
  if (header && *header != own)
    return Status::invalidArgument(inputName(row.path) +
                                   ": has another header than the first file; "
                                   "sample files with equal headers together");
  if (header)
    return {};
  header = own;
  return own.empty() ? Status() : output.write(std::string(own) + "\n");
}

Status SampleWriter::write(std::string_view bytes) {
  if (!isRecordFile) {
    PDLRT_RETURN_IF_ERROR(output.write(bytes));
    return output.write("\n");
  }
  return output.write(framedRecord(bytes));
}

/// Reads all rows, and writes those of the sample.
static Status writeSample(const InputFlags &input, const SampleFlags &flags,
                          Output &output, int64_t &written) {
  const FileFormat &format = fileFormatOf(input.data.files.front(), input.data);
  SampleWriter writer(output, format.flag() == "tfrecord");
  std::vector<KeptRow> kept; // A heap with the greatest number on top.
  size_t lastFile = SIZE_MAX;
  // A row is in the sample if its number is below this bound.
  const double scaled = std::ldexp(flags.rate.value_or(0), 64);
  const bool takesAll = flags.rate.value_or(0) >= 1;
  const auto done = visitRows(
      input, /*parses=*/false, [&](const InputRow &row) -> Expected<bool> {
        if (std::exchange(lastFile, row.file) != row.file) {
          if (&fileFormatOf(row.path, input.data) != &format)
            return Status::invalidArgument(
                inputName(row.path) + ": has another format than the first "
                                      "file; sample files of one format");
          PDLRT_RETURN_IF_ERROR(writer.beginFile(row));
        }
        const uint64_t random = randomOfRow(row.number, flags.seed);
        if (!flags.count) {
          if (!takesAll && double(random) >= scaled)
            return true;
          ++written;
          PDLRT_RETURN_IF_ERROR(writer.write(row.rows.bytes()));
          return true;
        }
        const auto limit = size_t(*flags.count);
        if (kept.size() == limit &&
            (limit == 0 || random >= kept.front().random))
          return true;
        if (kept.size() == limit) {
          std::pop_heap(kept.begin(), kept.end());
          kept.pop_back();
        }
        kept.push_back({random, row.number, std::string(row.rows.bytes())});
        std::push_heap(kept.begin(), kept.end());
        return true;
      });
  PDLRT_RETURN_IF_ERROR(done.status());
  std::ranges::sort(kept, {}, &KeptRow::number);
  for (const KeptRow &row : kept)
    PDLRT_RETURN_IF_ERROR(writer.write(row.bytes));
  written += int64_t(kept.size());
  return output.commit();
}

int sampleRows(InputFlags input, const SampleFlags &flags) {
  if (flags.rate.has_value() == flags.count.has_value())
    return failUsage(Status::invalidArgument(
        "give either --rate, the share of the rows, or --count, their number"));
  const auto header = prepareInput(input);
  if (!header)
    return failUsage(header.status());
  if (!fileFormatOf(input.data.files.front(), input.data).traits().mayBePacked)
    return failUsage(Status::invalidArgument(
        input.data.files.front() + ": rows of this format are stored by "
                                   "column, so that none can be copied; "
                                   "convert the file first"));
  Output output(flags.output);
  if (const Status status = output.open(); !status.ok())
    return failUsage(status);
  int64_t written = 0;
  if (const Status status = writeSample(input, flags, output, written);
      !status.ok())
    return fail(status);
  writeError(fmt::format("wrote {} rows\n", written));
  return 0;
}
