//===- Duration.h - Durations that users write ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_DURATION_H
#define PDLRT_CORE_DURATION_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string_view>

namespace pdlrt {

/// Parses a duration, such as "500ms", "10s", "5min" or "1h", as milliseconds.
/// Durations shorter than `least` milliseconds are errors.
Expected<int64_t> parseDuration(std::string_view text, int64_t least = 0);

} // namespace pdlrt

#endif // PDLRT_CORE_DURATION_H
