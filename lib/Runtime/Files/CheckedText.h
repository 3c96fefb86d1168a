//===- CheckedText.h - JSON that knows its checksum -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON object whose first two members are the version of its format and the
// checksum (XXH3) of all bytes behind that one.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_CHECKEDTEXT_H
#define LIB_RUNTIME_FILES_CHECKEDTEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pdlrt {

/// The object with these two, and with the members `body`, which ends with the
/// object's brace.
std::string joinChecked(int64_t version, std::string_view body);

/// How such a text begins.
struct CheckedText {
  enum class Content {
    Whole,
    Damaged, ///< another one than that of which the checksum is
    Unknown  ///< there is none: the version may be another one's
  };
  int64_t version = 0;
  Content content = Content::Unknown;
};
/// None where the text does not begin with a version. Any bytes are safe.
std::optional<CheckedText> splitChecked(std::string_view text);

/// A checksum as texts have it, sixteen digits.
std::string hexText(uint64_t number);
/// Back; 0 where it is none.
uint64_t parseHex(const std::string &text);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_CHECKEDTEXT_H
