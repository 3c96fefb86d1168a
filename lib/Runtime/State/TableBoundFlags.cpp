//===- TableBoundFlags.cpp - Flags of the memory limit --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/TableBoundFlags.h"

#include "pdlrt/Core/WholeNumber.h"

#include <utility>

using namespace pdlrt;

/// Converts "4GiB", "512 MiB" or a number of bytes to the number.
static Expected<size_t> parseBytes(const std::string &text) {
  static const std::pair<const char *, int> units[] = {
      {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  std::string number = text;
  int shift = 0;
  for (const auto &[unit, bits] : units)
    if (text.ends_with(unit)) {
      number = text.substr(0, text.size() - 3);
      while (number.ends_with(' '))
        number.pop_back();
      shift = bits;
    }
  const Expected<uint64_t> count =
      parseWholeNumber(number, 1, (uint64_t(1) << 50) >> shift);
  if (!count)
    return Status::invalidArgument(
        "'" + text +
        "' is no size; expected a whole number of bytes, or of KiB, MiB, "
        "GiB or TiB, such as 4GiB, up to 1024TiB");
  return size_t(*count << shift);
}

std::vector<Flag> pdlrt::tableBoundFlags(TableBound &bound, bool isOffered) {
  return {
      {.names = "--max-table-memory",
       .placeholder = "BYTES",
       .value = FlagValue::parsed(bound.maxBytes, parseBytes),
       .help = "Maximum memory of all tables of this process, for keys and "
               "rows with their slots. Beyond it, rows are evicted between "
               "steps. If their keys occur again, they start with initial "
               "values, unless --table-spill keeps them. Buffers take some 40 "
               "MiB more per table. Without --table-spill, results depend on "
               "the limit and on the number of servers",
       .isOffered = isOffered},
      {.names = "--table-spill",
       .placeholder = "FOLDER",
       .value = FlagValue::anyText(bound.spillFolder),
       .help = "Store rows that --max-table-memory evicts in this folder, with "
               "RocksDB, and read them back when their keys occur again. "
               "Results then do not depend on the limit. The content is "
               "removed when the process ends; checkpoints contain all rows. "
               "Each spilled row takes some seven bytes of the limit. In "
               "addition, tables take 160 MiB of memory, 4 MiB each (or the "
               "size of 1024 rows), and 0.7 % of the folder's size. Use a "
               "local disk with space for four times the rows",
       .isOffered = isOffered},
      {.names = "--table-eviction",
       .placeholder = "ORDER",
       .value = FlagValue::choice(
           bound.order, {{"least-recent", Eviction::LeastRecent},
                         {"least-frequent", Eviction::LeastFrequent}}),
       .help = "Rows to evict first: least-recent, not updated for the longest "
               "time, in units of 1024 updates; or least-frequent, updated in "
               "the fewest steps since they were created or this process "
               "started",
       .needs = {"--max-table-memory"},
       .isOffered = isOffered}};
}
