//===- PartitionPlaces.cpp - Positions in topics without end --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/PartitionPlaces.h"

#include "pdlrt/Data/BatchSource.h"

#include <algorithm>

using namespace pdlrt;

int64_t pdlrt::eventTimeOf(const DataPosition &position) {
  int64_t time = 0;
  for (const StartPlace &place : position.places)
    time = std::max(time, place.row);
  return time;
}

int64_t pdlrt::eventTimeOf(const std::vector<DataPosition> &positions) {
  int64_t time = 0;
  for (const DataPosition &position : positions)
    time = std::max(time, eventTimeOf(position));
  return time;
}
