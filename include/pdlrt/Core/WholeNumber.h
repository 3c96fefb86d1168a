//===- WholeNumber.h - Decimal numbers that users write ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_WHOLENUMBER_H
#define PDLRT_CORE_WHOLENUMBER_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string_view>

namespace pdlrt {

/// Parses `text` as a decimal number. It must consist of the digits 0 to 9
/// only; leading zeros are allowed. If it is not such a number, or if the
/// number is not in [`least`, `most`], returns an error that quotes the text.
Expected<uint64_t> parseWholeNumber(std::string_view text, uint64_t least = 0,
                                    uint64_t most = UINT64_MAX);

} // namespace pdlrt

#endif // PDLRT_CORE_WHOLENUMBER_H
