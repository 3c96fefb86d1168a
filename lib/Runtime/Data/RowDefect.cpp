//===- RowDefect.cpp - Checks a program's requirements on a row -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RowDefect.h"

#include "Data/ColumnMap.h"

using namespace pdlrt;

/// Finds two joined bags of different lengths, or of equal lengths with missing
/// values at different positions.
static std::optional<RowDefect> findUnequalBags(const pdl_program &program,
                                                const RecordColumns &records,
                                                const LeftOut &leftOut) {
  for (int32_t i = 0; i < program.joined_count; ++i) {
    const auto field = size_t(program.joined[2 * i]);
    const auto like = size_t(program.joined[2 * i + 1]);
    const pdl_field &own = *records.column(field).field;
    const pdl_field &other = *records.column(like).field;
    for (int64_t slot = 0; slot < own.width; ++slot) {
      const int64_t found = records.pendingBagSize(field, slot);
      const int64_t wanted = records.pendingBagSize(like, slot);
      const std::string begin = fieldText(own) + " and " + fieldText(other) +
                                " belong together (nn.same_bags), but ";
      if (found != wanted)
        return RowDefect{
            field, slot,
            begin + "have " + std::to_string(found) + " and " +
                std::to_string(wanted) +
                " values in this row; give both as many, and where some may "
                "be missing, missing(...) and missing_element(...) in the "
                "model"};
      if (leftOut && leftOut(field, slot) != leftOut(like, slot))
        return RowDefect{field, slot,
                         begin + "miss values at different positions; give "
                                 "the fields missing_element(...) in the "
                                 "model, or write all values"};
    }
  }
  return std::nullopt;
}

/// Returns true if nn.sample can draw the id.
static bool isAllowed(const pdl_id_range &range, int64_t id) {
  if (id < range.first || id >= range.end)
    return false;
  const uint64_t place = uint64_t(id) - uint64_t(range.first);
  return !range.allowed ||
         (uint32_t(range.allowed[place / 32]) >> (place % 32) & 1) != 0;
}

/// Finds an id that has no probability in nn.log_probability.
static std::optional<RowDefect> findStrayId(const pdl_program &program,
                                            const RecordColumns &records) {
  for (int32_t i = 0; i < program.id_range_count; ++i) {
    const pdl_id_range &range = program.id_ranges[i];
    const auto field = size_t(range.field);
    for (int64_t slot = range.first_column;
         slot < range.first_column + range.column_count; ++slot) {
      const auto id = records.pendingValue<int64_t>(field, slot);
      if (isAllowed(range, id))
        continue;
      const bool isWithin = id >= range.first && id < range.end;
      return RowDefect{
          field, slot,
          fieldText(*records.column(field).field) + " has the id " +
              std::to_string(id) + " in its column " + std::to_string(slot) +
              ", which nn.sample never draws: nn.log_probability takes ids "
              "from " +
              std::to_string(range.first) + " below " +
              std::to_string(range.end) +
              (isWithin ? " whose count is not 0; give it a count of 1, or "
                          "take the row out of the data"
                        : "; widen the range, or take the row out of the "
                          "data")};
    }
  }
  return std::nullopt;
}

std::optional<RowDefect> pdlrt::findRowDefect(const pdl_program &program,
                                              const RecordColumns &records,
                                              const LeftOut &leftOut) {
  if (auto unequal = findUnequalBags(program, records, leftOut))
    return unequal;
  return findStrayId(program, records);
}
