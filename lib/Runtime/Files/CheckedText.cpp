//===- CheckedText.cpp - JSON with a checksum -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/CheckedText.h"

#include "Files/TemporaryFile.h"

#include <charconv>
#include <fmt/format.h>
#include <system_error>

using namespace pdlrt;

static constexpr std::string_view opening = "{\"version\": ";
static constexpr std::string_view middle = ", \"checksum\": \"";
static constexpr size_t hexDigits = 16;

std::string pdlrt::hexText(uint64_t number) {
  return fmt::format("{:016x}", number);
}

uint64_t pdlrt::parseHex(const std::string &text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

std::string pdlrt::joinChecked(int64_t version, std::string_view body) {
  const std::string tail = "\",\n" + std::string(body);
  return fmt::format("{}{}{}{}{}", opening, version, middle,
                     hexText(hashBytes(tail.data(), tail.size())), tail);
}

std::optional<CheckedText> pdlrt::splitChecked(std::string_view text) {
  if (!text.starts_with(opening))
    return std::nullopt;
  text.remove_prefix(opening.size());
  CheckedText found;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), found.version);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(size_t(rest - text.data()));
  if (!text.starts_with(middle) || text.size() < middle.size() + hexDigits)
    return found;
  text.remove_prefix(middle.size());
  const std::string_view sum = text.substr(0, hexDigits);
  text.remove_prefix(hexDigits);
  found.content = hexText(hashBytes(text.data(), text.size())) == sum
                      ? CheckedText::Content::Whole
                      : CheckedText::Content::Damaged;
  return found;
}
