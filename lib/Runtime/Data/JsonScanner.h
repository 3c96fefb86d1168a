//===- JsonScanner.h - Scans one JSON object --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Compiled programs are linked with archives only, and run where simdjson's
// shared library is not installed, so they scan JSON themselves. pdl-serve uses
// simdjson.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_JSONSCANNER_H
#define LIB_RUNTIME_DATA_JSONSCANNER_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace pdlrt {

/// Moves over the tokens of a JSON text (RFC 8259), which must stay valid. Does
/// not check that strings are UTF-8. Not thread-safe.
class JsonScanner {
public:
  /// Maximum number of nested arrays and objects.
  static constexpr int maxDepth = 64;

  explicit JsonScanner(std::string_view text)
      : begin(text.data()), next(text.data()), end(text.data() + text.size()) {}

  /// Returns the byte of the next token; after an error, the byte of the error.
  size_t at() const { return size_t(next - begin); }
  /// Skips blanks. Returns the next character, or 0 at the end.
  char peek() {
    while (next != end &&
           (*next == ' ' || *next == '\t' || *next == '\r' || *next == '\n'))
      ++next;
    return next == end ? '\0' : *next;
  }
  /// Passes `character`, which is not 0, if it comes next.
  bool pass(char character) {
    if (peek() != character)
      return false;
    ++next;
    return true;
  }
  /// Reads a string. `storage`: contains the text if it has escapes.
  Status readString(std::string_view &text, std::string &storage);
  /// Reads a number, `true`, `false` or `null`, as it is written.
  Status readLiteral(std::string_view &text);
  /// Skips a value of any kind. `depth`: number of arrays and objects that
  /// enclose it.
  Status skipValue(int depth);
  /// Returns an error that says what the text lacks here.
  Status expected(const std::string &what);

private:
  Status readEscaped(std::string &storage);
  Status readEscape(std::string &storage);
  bool readHex(unsigned &code);

  const char *begin, *next, *end;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_JSONSCANNER_H
