//===- JoinedBags.cpp - Fields whose bags are equally long ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/JoinedBags.h"

#include "Data/ColumnMap.h"

using namespace pdlrt;

std::optional<UnequalBags> pdlrt::findUnequalBags(const pdl_program &program,
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
        return UnequalBags{
            field, slot,
            begin + "have " + std::to_string(found) + " and " +
                std::to_string(wanted) +
                " values in this row; give both as many, and where some may "
                "be missing, missing_element(...) in the model"};
      if (leftOut && leftOut(field, slot) != leftOut(like, slot))
        return UnequalBags{field, slot,
                           begin + "miss values at different positions; give "
                                   "the fields missing_element(...) in the "
                                   "model, or write all values"};
    }
  }
  return std::nullopt;
}
