//===- BlankTokens.h - Splits a line at blanks ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_BLANKTOKENS_H
#define LIB_RUNTIME_DATA_BLANKTOKENS_H

#include <cstddef>
#include <string_view>

namespace pdlrt {

/// Splits a line into tokens, which one or more blanks separate.
class BlankTokens {
public:
  explicit BlankTokens(std::string_view line)
      : begin(line.data()), at(begin), end(begin + line.size()) {}

  /// Moves to the next token. Returns false, and an empty token, at the end.
  bool next(std::string_view &token) {
    while (at != end && isBlank(*at))
      ++at;
    const char *const from = at;
    while (at != end && !isBlank(*at))
      ++at;
    token = {from, size_t(at - from)};
    return at != from;
  }
  /// Returns the byte of the line, from 1, at which a token begins.
  size_t columnOf(std::string_view token) const {
    return size_t(token.data() - begin) + 1;
  }

private:
  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  const char *begin, *at, *end;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_BLANKTOKENS_H
