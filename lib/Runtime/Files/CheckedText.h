//===- CheckedText.h - JSON with a checksum ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON object whose first two members are the version of its format and the
// checksum (XXH3) of all bytes after it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_CHECKEDTEXT_H
#define LIB_RUNTIME_FILES_CHECKEDTEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pdlrt {

/// Returns a JSON object whose first two members are `version` and the
/// checksum. `body`: the other members of the object, followed by its closing
/// brace.
std::string joinChecked(int64_t version, std::string_view body);

/// Version and state of a checked text.
struct CheckedText {
  enum class Content {
    Whole,
    Damaged, ///< the content does not match the checksum
    Unknown  ///< no checksum: the version may belong to another program
  };
  int64_t version = 0;
  Content content = Content::Unknown;
};
/// Parses the version and the checksum at the beginning of `text`, and compares
/// the checksum with the content. Returns nothing if the text does not start
/// with a version. `text` may contain arbitrary bytes.
std::optional<CheckedText> splitChecked(std::string_view text);

/// Returns a checksum as text, with sixteen digits.
std::string hexText(uint64_t number);
/// Parses the text of a checksum. Returns 0 if it is malformed.
uint64_t parseHex(const std::string &text);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_CHECKEDTEXT_H
