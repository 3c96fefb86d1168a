//===- Tables.cpp - Tables of a checkpoint as text ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "pdlrt/Core/Suggestion.h"

#include <cmath>
#include <fmt/format.h>

using namespace pdlrt;

Flag tableFlag(std::string &target, const std::string &help) {
  return {.names = "--table",
          .placeholder = "NAME",
          .value = FlagValue::text(target),
          .help = help};
}

Flag jsonFlag(bool &target) {
  return {.names = "--json",
          .value = FlagValue::isGiven(target),
          .help = "Print one JSON object"};
}

Expected<const CheckpointSymbol *> tableNamed(const Checkpoint &checkpoint,
                                              const std::string &name) {
  const std::string wanted = name.substr(name.starts_with('@') ? 1 : 0);
  const CheckpointSymbol *only = nullptr;
  std::vector<std::string> names;
  for (const CheckpointSymbol &symbol : checkpoint.manifest().symbols) {
    if (!symbol.isTable)
      continue;
    if (symbol.name == wanted)
      return &symbol;
    only = &symbol;
    names.push_back(symbol.name);
  }
  if (names.empty())
    return Status::invalidArgument(checkpoint.path() + ": has no tables");
  if (!wanted.empty())
    return Status::invalidArgument(fmt::format(
        "--table: {} has no table @{}{}; its tables are @{}", checkpoint.path(),
        wanted, suggestName(wanted, names), fmt::join(names, ", @")));
  if (names.size() > 1)
    return Status::invalidArgument(
        fmt::format("{} has several tables; choose one with --table: {}",
                    checkpoint.path(), fmt::join(names, ", ")));
  return only;
}

std::string elementText(double element, TensorType type) {
  return type == TensorType::F64 ? fmt::format("{}", element)
                                 : fmt::format("{}", float(element));
}

double normOf(const ScannedRow &row) {
  double sum = 0;
  for (double value : row.values)
    sum += value * value;
  return std::sqrt(sum);
}

std::vector<size_t> countSlots(const TableScan &scan) {
  std::vector<size_t> slots;
  const CheckpointSymbol &symbol = scan.symbol();
  for (size_t s = 0; s < symbol.slots.size(); ++s)
    if (symbol.isRowSlot(s) &&
        !(scan.hasPeriods() && s + 1 == symbol.slots.size()))
      slots.push_back(s);
  return slots;
}
