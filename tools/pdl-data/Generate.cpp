//===- Generate.cpp - Generates data like Criteo's ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generate.h"

#include "Input.h"
#include "Output.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StandardStreams.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <vector>

using namespace pdlrt;

namespace {

/// Quality of the hidden probabilities themselves, which no model exceeds in
/// expectation.
class Optimum {
public:
  void add(const GeneratedRow &row) {
    const double p = row.probability;
    entropy -= p * std::log(p) + (1 - p) * std::log1p(-p);
    loss -= row.isClick ? std::log(p) : std::log1p(-p);
    clicks += row.isClick;
    ++rows;
    auto &counts = row.isClick ? positives : negatives;
    ++counts[size_t(std::min(p * double(buckets), double(buckets - 1)))];
  }
  std::string text() const;

private:
  static constexpr size_t buckets = size_t(1) << 16;
  double areaUnderCurve() const;

  double entropy = 0, loss = 0;
  int64_t clicks = 0, rows = 0;
  std::vector<int64_t> positives = std::vector<int64_t>(buckets);
  std::vector<int64_t> negatives = std::vector<int64_t>(buckets);
};

} // namespace

double Optimum::areaUnderCurve() const {
  double below = 0, area = 0;
  for (size_t i = 0; i < buckets; ++i) {
    area += double(positives[i]) * (below + double(negatives[i]) / 2);
    below += double(negatives[i]);
  }
  return area / (double(clicks) * double(rows - clicks));
}

std::string Optimum::text() const {
  const auto count = double(rows);
  return fmt::format(
      "rows             {}\n"
      "clicks           {} ({:.2f} %)\n"
      "best log loss    {:.6f} (expected {:.6f})\n"
      "best AUC         {:.6f}\n",
      rows, clicks, 100 * double(clicks) / count, loss / count, entropy / count,
      clicks == 0 || clicks == rows ? std::nan("") : areaUnderCurve());
}

static std::string headerText(char delimiter) {
  std::string text = "label";
  for (size_t k = 0; k < GeneratedRow::numberColumns; ++k)
    text += fmt::format("{}I{}", delimiter, k + 1);
  for (size_t j = 0; j < GeneratedRow::idColumns; ++j)
    text += fmt::format("{}C{}", delimiter, j + 1);
  return text + "\n";
}

/// Replaces `text` by a row as a line.
static void formatRow(const HiddenModel &model, const GeneratedRow &row,
                      char delimiter, std::string &text) {
  text.assign(row.isClick ? "1" : "0");
  char digits[24];
  for (const int64_t number : row.numbers) {
    text += delimiter;
    if (number >= 0)
      text.append(digits,
                  std::to_chars(digits, digits + sizeof(digits), number).ptr);
  }
  for (size_t j = 0; j < row.ids.size(); ++j) {
    text += delimiter;
    if (row.ids[j] < 0)
      continue;
    const uint32_t id = model.idText(j, row.ids[j]);
    for (int shift = 28; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[id >> shift & 15];
  }
  text += '\n';
}

static Status writeRows(const GenerateFlags &flags, Output &output,
                        Optimum &optimum) {
  const bool isCsv = flags.output.ends_with(".csv");
  const char delimiter = isCsv ? ',' : '\t';
  const HiddenModel model(flags.model);
  ProgressReport progress(flags.quiet);
  if (isCsv)
    PDLRT_RETURN_IF_ERROR(output.write(headerText(delimiter)));
  std::string line;
  for (int64_t i = 0; i < flags.rows; ++i) {
    const GeneratedRow row = model.row(flags.firstRow + i);
    optimum.add(row);
    formatRow(model, row, delimiter, line);
    PDLRT_RETURN_IF_ERROR(output.write(line));
    PDLRT_RETURN_IF_ERROR(progress.note(i + 1));
  }
  return output.commit();
}

int generateRows(const GenerateFlags &flags) {
  const bool isKnown = flags.output.empty() || flags.output == "-" ||
                       flags.output.ends_with(".csv") ||
                       flags.output.ends_with(".tsv") ||
                       flags.output.ends_with(".txt");
  if (!isKnown)
    return failUsage(Status::invalidArgument(
        flags.output + ": generated rows are CSV with a header, or "
                       "tab-separated without; name a file .csv, .tsv or "
                       ".txt, and convert it to another format"));
  Output output(flags.output);
  if (const Status status = output.open(); !status.ok())
    return failUsage(status);
  Optimum optimum;
  if (const Status status = writeRows(flags, output, optimum); !status.ok())
    return fail(status);
  if (output.isStandard())
    writeError(optimum.text());
  else
    return writeOutput("", optimum.text());
  return 0;
}
