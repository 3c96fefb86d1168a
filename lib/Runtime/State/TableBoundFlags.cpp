//===- TableBoundFlags.cpp - Flags of a table's bound ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/TableBoundFlags.h"

#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/WholeNumber.h"

#include <map>

using namespace pdlrt;

/// "4GiB", "512 MiB" or a number of bytes becomes that number.
static std::string bytesOf(std::string &text) {
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
    return "'" + text +
           "' is no size; expected a whole number of bytes, or of KiB, MiB, "
           "GiB or TiB, such as 4GiB, up to 1024TiB";
  text = std::to_string(*count << shift);
  return {};
}

void pdlrt::addTableBoundFlags(CLI::App &app, TableBound &bound,
                               const std::string &group) {
  CLI::Option *most =
      app.add_option(
             "--max-table-memory", bound.mostBytes,
             "The most that all tables of this process use, keys and "
             "rows with their slots: beyond it, rows are evicted between "
             "steps, and begin anew if their keys come again, unless "
             "--table-spill keeps them. What tables "
             "hold for later is some 40 MiB a table more. Part of the "
             "result without it; with several servers so is their number")
          ->type_name("BYTES")
          ->transform(CLI::Validator(bytesOf, ""))
          ->group(group);
  app.add_option("--table-spill", bound.spillFolder,
                 "Keeps rows that --max-table-memory evicts in this folder, by "
                 "RocksDB, and brings them back when their keys come again: no "
                 "result depends on the bound then. What is there goes when "
                 "the process ends; checkpoints have all rows. Of the bound, "
                 "each row that is there takes some seven bytes; besides it, "
                 "160 MiB of memory, 4 a table (1024 rows, if those take "
                 "more) and seven bytes of a thousand in the folder. A local "
                 "disk, with room for four times the rows")
      ->type_name("FOLDER")
      ->group(group);
  app.add_option("--table-eviction", bound.order,
                 "Which rows go first: least-recent, those that were not "
                 "updated for the longest time, counted in 1024 updates; or "
                 "least-frequent, those that were updated in the fewest steps "
                 "since they came or this process began")
      ->type_name("ORDER")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Eviction>{
          {"least-recent", Eviction::LeastRecent},
          {"least-frequent", Eviction::LeastFrequent}}))
      ->default_str("least-recent")
      ->needs(most)
      ->group(group);
}
