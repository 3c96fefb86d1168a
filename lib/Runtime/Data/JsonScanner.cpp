//===- JsonScanner.cpp - Scans JSON text ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/JsonScanner.h"

#include "Data/CellParser.h"

#include <cctype>

using namespace pdlrt;

Status JsonScanner::expected(const std::string &what) {
  const char found = peek();
  if (next == end)
    return Status::invalidArgument("the JSON ends where " + what +
                                   " should be; write each object on one line");
  return Status::invalidArgument(quoteText(std::string_view(&found, 1)) +
                                 " is where " + what + " should be");
}

Status JsonScanner::readString(std::string_view &text, std::string &storage) {
  if (!pass('"'))
    return expected("a string");
  const char *from = next;
  while (next != end && *next != '"' && *next != '\\' &&
         static_cast<unsigned char>(*next) >= ' ')
    ++next;
  if (next != end && *next == '"') {
    text = {from, size_t(next++ - from)};
    return {};
  }
  storage.assign(from, next);
  PDLRT_RETURN_IF_ERROR(readEscaped(storage));
  text = storage;
  return {};
}

/// Appends the rest of a string up to its closing quote.
Status JsonScanner::readEscaped(std::string &storage) {
  while (next != end && *next != '"') {
    if (static_cast<unsigned char>(*next) < ' ')
      return Status::invalidArgument(
          quoteText(std::string_view(next, 1)) +
          " is a control character in a string; escape it");
    if (*next == '\\')
      PDLRT_RETURN_IF_ERROR(readEscape(storage));
    else
      storage += *next++;
  }
  if (next == end)
    return Status::invalidArgument(
        "the line ends inside a string; close its quote, "
        "and write line breaks as \\n");
  ++next;
  return {};
}

bool JsonScanner::readHex(unsigned &code) {
  code = 0;
  for (int i = 0; i < 4; ++i, ++next) {
    if (next == end || !std::isxdigit(static_cast<unsigned char>(*next)))
      return false;
    const auto digit = static_cast<unsigned char>(*next);
    code = 16 * code +
           unsigned(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
  }
  return true;
}

static void appendUtf8(unsigned code, std::string &text) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  const int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
  text += char(first[following] | (code >> (6 * following)));
  for (int i = following - 1; i >= 0; --i)
    text += char(0x80 | ((code >> (6 * i)) & 0x3f));
}

Status JsonScanner::readEscape(std::string &storage) {
  const char *const escape = next++;
  const char kind = next == end ? '\0' : *next++;
  static constexpr std::string_view letters = "\"\\/bfnrt";
  static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (const size_t found = letters.find(kind);
      kind != '\0' && found != std::string_view::npos) {
    storage += meanings[found];
    return {};
  }
  unsigned code = 0, low = 0;
  bool isValid = kind == 'u' && readHex(code) && (code & 0xfc00) != 0xdc00;
  // Two escapes stand for a character outside of the first 65,536.
  if (isValid && (code & 0xfc00) == 0xd800) {
    isValid = end - next >= 2 && next[0] == '\\' && next[1] == 'u';
    next += isValid ? 2 : 0;
    isValid = isValid && readHex(low) && (low & 0xfc00) == 0xdc00;
    code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
  }
  if (!isValid) {
    next = escape;
    return Status::invalidArgument(
        "the string has an invalid escape; JSON has \\\", "
        "\\\\, \\/, \\b, \\f, \\n, \\r, \\t and \\uXXXX");
  }
  appendUtf8(code, storage);
  return {};
}

/// Returns true if `text` is a number in the grammar of JSON.
static bool isJsonNumber(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  const auto passDigits = [&] {
    const size_t first = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9')
      ++i;
    return i > first;
  };
  const bool startsWithZero = i < text.size() && text[i] == '0';
  const size_t first = i;
  if (!passDigits() || (startsWithZero && i > first + 1))
    return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!passDigits())
      return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    i += i < text.size() && (text[i] == '+' || text[i] == '-') ? 1 : 0;
    if (!passDigits())
      return false;
  }
  return i == text.size();
}

Status JsonScanner::readLiteral(std::string_view &text) {
  const char *const from = next;
  while (next != end && (std::isalnum(static_cast<unsigned char>(*next)) ||
                         *next == '.' || *next == '+' || *next == '-'))
    ++next;
  text = {from, size_t(next - from)};
  if (text == "null" || text == "true" || text == "false" || isJsonNumber(text))
    return {};
  next = from;
  if (text.empty())
    return expected("a value");
  std::string lower(text);
  for (char &c : lower)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return Status::invalidArgument(quoteText(text) + " is no JSON value; " +
                                 (lower.ends_with("nan") || lower == "none"
                                      ? "write null for a missing value"
                                      : "write texts in double quotes"));
}

Status JsonScanner::skipValue(int depth) {
  const char first = peek();
  std::string_view text;
  std::string storage;
  if (first == '"')
    return readString(text, storage);
  if (first != '{' && first != '[')
    return readLiteral(text);
  if (depth >= maxDepth)
    return Status::invalidArgument(
        "the JSON has more than " + std::to_string(maxDepth) +
        " arrays and objects in each other; flatten it");
  ++next;
  const char last = first == '{' ? '}' : ']';
  if (pass(last))
    return {};
  while (true) {
    if (first == '{') {
      PDLRT_RETURN_IF_ERROR(readString(text, storage));
      if (!pass(':'))
        return expected("`:`");
    }
    PDLRT_RETURN_IF_ERROR(skipValue(depth + 1));
    if (pass(last))
      return {};
    if (!pass(','))
      return expected(first == '{' ? "`,` or `}`" : "`,` or `]`");
  }
}
