//===- Bags.cpp - Checks bags that belong together ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/status.h"

#include <algorithm>
#include <string>

int32_t pdlrt_check_bags(int64_t bagCount, const int32_t *splits,
                         const int32_t *expected) {
  const int32_t *end = splits + bagCount + 1;
  const auto [found, wanted] = std::mismatch(splits, end, expected);
  if (found == end)
    return PDL_OK;
  const int64_t bag = found - splits - 1;
  const std::string message =
      "bags that nn.same_bags joins differ in length: bag " +
      std::to_string(bag) + " of the batch has " +
      std::to_string(*found - found[-1]) + " values, and " +
      std::to_string(*wanted - wanted[-1]) +
      " in the other field; give both fields as many values in each row";
  return pdlrt_set_error(PDL_INVALID_ARGUMENT, message.c_str());
}
