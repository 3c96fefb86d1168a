//===- Describe.cpp - Describes the columns of files ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "ColumnStats.h"
#include "Output.h"
#include "pdlrt/Core/ProgramMain.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace pdlrt;

/// Bars of a histogram of numbers.
static constexpr size_t maxBars = 12;
static constexpr int barLength = 40;
static constexpr size_t maxShownText = 40;

namespace {

/// A bar of a histogram.
struct Bar {
  std::string label;
  double share; ///< Of the values that the histogram shows.
};

/// The shown statistics of a column.
struct Description {
  std::string name;
  std::vector<std::string> lines = {};
  std::vector<Bar> bars = {};
};

} // namespace

static std::string shortText(const std::string &text) {
  return text.size() <= maxShownText ? text
                                     : text.substr(0, maxShownText) + "...";
}

static double percentOf(int64_t part, int64_t whole) {
  return whole ? 100.0 * double(part) / double(whole) : 0;
}

/// Returns bars of equal width for numbers in ascending order. The first and
/// the last bar also have the numbers beyond the 1st and 99th percentile.
static std::vector<Bar> barsOfNumbers(const std::vector<double> &sorted) {
  const auto at = [&](double share) {
    return sorted[size_t(share * double(sorted.size() - 1))];
  };
  double low = at(0.01), high = at(0.99);
  if (low == high) {
    low = sorted.front();
    high = sorted.back();
  }
  const double width = (high - low) / double(maxBars);
  if (!(width > 0))
    return {};
  std::vector<int64_t> counts(maxBars);
  for (const double number : sorted)
    ++counts[size_t(
        std::clamp((number - low) / width, 0.0, double(maxBars) - 1))];
  std::vector<Bar> bars;
  for (size_t i = 0; i < maxBars; ++i)
    bars.push_back({fmt::format("{:.4g} to {:.4g}", low + width * double(i),
                                low + width * double(i + 1)),
                    double(counts[i]) / double(sorted.size())});
  return bars;
}

/// Returns bars of the numbers of values in a row.
static std::vector<Bar> barsOfLengths(const ColumnStats &stats) {
  std::vector<Bar> bars;
  for (size_t length = 0; length <= ColumnStats::maxLength; ++length)
    if (stats.lengths[length] > 0 && bars.size() < maxBars)
      bars.push_back(
          {fmt::format("{}{} values", length,
                       length == ColumnStats::maxLength ? " or more" : ""),
           double(stats.lengths[length]) / double(stats.given)});
  return bars;
}

static std::string missingText(const ColumnStats &stats) {
  std::string text =
      fmt::format("missing {} of {} rows ({:.2f} %)", stats.missing, stats.rows,
                  percentOf(stats.missing, stats.rows));
  std::string words;
  for (const auto &[word, count] : stats.missingByText)
    words +=
        fmt::format("{}`{}` {} times", words.empty() ? "" : ", ", word, count);
  return words.empty() ? text : text + ": " + words;
}

static std::string distinctText(const ColumnStats &stats) {
  const DistinctCounter &distinct = stats.distinct;
  return distinct.isExact()
             ? fmt::format("distinct {}", distinct.count())
             : fmt::format("distinct about {} (standard error {:.1f} %)",
                           distinct.count(),
                           100 * DistinctCounter::relativeError);
}

static std::string frequentText(const ColumnStats &stats, size_t count) {
  std::string text = "most frequent:";
  for (const auto &[value, times] : stats.frequent.top(count))
    text += fmt::format(" `{}` {:.2f} %,", shortText(value),
                        percentOf(times, stats.values));
  text.pop_back();
  if (stats.frequent.error() > 0)
    text += fmt::format(" (each up to {:.2f} % more)",
                        percentOf(stats.frequent.error(), stats.values));
  return text;
}

static Description describe(const std::string &name, const ColumnStats &stats,
                            size_t top) {
  Description found{.name = name};
  found.lines.push_back(missingText(stats));
  if (stats.values == 0)
    return found;
  const bool areNumbers = stats.numbers.count() == stats.values;
  found.lines.push_back(
      distinctText(stats) +
      (areNumbers ? stats.decimals ? ", numbers" : ", whole numbers"
       : stats.numbers.count() > 0
           ? fmt::format(", texts, {:.2f} % numbers",
                         percentOf(stats.numbers.count(), stats.values))
           : ", texts") +
      fmt::format(", the longest has {} bytes", stats.longestText));
  if (stats.numbers.count() > 0) {
    const std::vector<double> sorted = stats.numbers.sorted();
    found.lines.push_back(fmt::format(
        "numbers from {:.6g} to {:.6g}, mean {:.6g}, median {}{:.6g}",
        stats.numbers.min(), stats.numbers.max(), stats.numbers.mean(),
        stats.numbers.isWhole() ? "" : "about ", sorted[sorted.size() / 2]));
    if (areNumbers && stats.distinct.count() > int64_t(maxBars))
      found.bars = barsOfNumbers(sorted);
  }
  found.lines.push_back(frequentText(stats, top));
  if (stats.hasLists()) {
    found.lines.push_back(fmt::format(
        "lists of {} to {} values, mean {:.2f}", stats.minList, stats.maxList,
        double(stats.values) / double(std::max<int64_t>(stats.given, 1))));
    found.bars = barsOfLengths(stats);
  }
  if (found.bars.empty())
    for (const auto &[value, times] : stats.frequent.top(maxBars))
      found.bars.push_back(
          {shortText(value), double(times) / double(stats.values)});
  return found;
}

static std::string plainText(const Description &column) {
  std::string text = column.name + "\n";
  for (const std::string &line : column.lines)
    text += "  " + line + "\n";
  size_t width = 0;
  for (const Bar &bar : column.bars)
    width = std::max(width, bar.label.size());
  double most = 0;
  for (const Bar &bar : column.bars)
    most = std::max(most, bar.share);
  for (const Bar &bar : column.bars)
    text += fmt::format(
        "  {:<{}} {:6.2f} % {}\n", bar.label, width, 100 * bar.share,
        std::string(most > 0 ? size_t(std::lround(barLength * bar.share / most))
                             : 0,
                    '#'));
  return text + "\n";
}

static std::string escapedHtml(const std::string &text) {
  std::string escaped;
  for (const char c : text)
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else
      escaped += c;
  return escaped;
}

static std::string htmlPage(const std::string &summary,
                            const std::vector<Description> &columns) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<title>Columns</title>\n<style>\n"
      "body { font-family: sans-serif; margin: 2em; }\n"
      "section { border-top: 1px solid #ccc; padding: 0.5em 0; }\n"
      "td { padding: 0 0.5em; font-size: 90%; }\n"
      ".bar { background: #4878a8; height: 0.8em; }\n"
      "</style></head><body>\n";
  page += "<p>" + escapedHtml(summary) + "</p>\n";
  for (const Description &column : columns) {
    page += "<section><h2>" + escapedHtml(column.name) + "</h2>\n<ul>\n";
    for (const std::string &line : column.lines)
      page += "<li>" + escapedHtml(line) + "</li>\n";
    page += "</ul>\n<table>\n";
    double most = 0;
    for (const Bar &bar : column.bars)
      most = std::max(most, bar.share);
    constexpr double pixels = 300;
    for (const Bar &bar : column.bars)
      page += fmt::format("<tr><td>{}</td><td>{:.2f} %</td><td><div "
                          "class=\"bar\" style=\"width: {:.0f}px\"></div>"
                          "</td></tr>\n",
                          escapedHtml(bar.label), 100 * bar.share,
                          most > 0 ? pixels * bar.share / most : 0);
    page += "</table></section>\n";
  }
  return page + "</body></html>\n";
}

int describeFiles(InputFlags input, const DescribeFlags &flags) {
  const auto header = prepareInput(input);
  if (!header)
    return failUsage(header.status());
  input.maxBadRows = INT64_MAX;
  std::vector<std::unique_ptr<NamedStats>> columns;
  const auto report = readColumnStats(input, columns);
  if (!report)
    return fail(report.status());
  warnOfBadRows(*report);
  const std::string summary = fmt::format(
      "{} rows, {} bad, {} columns", report->rows, report->bad, columns.size());
  std::vector<Description> all;
  for (const auto &column : columns)
    if (column->stats.given > 0)
      all.push_back(describe(column->name, column->stats, size_t(flags.top)));
  if (!flags.html.empty())
    if (const int status = writeOutput(flags.html, htmlPage(summary, all)))
      return status;
  std::string text = summary + "\n\n";
  for (const Description &column : all)
    text += plainText(column);
  return writeOutput("", text);
}
