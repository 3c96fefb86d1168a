//===- KeyText.cpp - Keys given as text -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyText.h"

#include "pdlabi/hash.h"
#include "pdlrt/Checkpoint/ModelParts.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <system_error>

using namespace pdlrt;

std::vector<Flag> keyFlags(KeyFlags &flags) {
  return {{.names = "--salt",
           .placeholder = "N",
           .value = FlagValue::number(flags.salt),
           .help = "Hash ids with this salt: one of the salts of the table's "
                   "fields, or the position of the text's column, from 0, in "
                   "a field with salt = slot (default: the salt that the "
                   "checkpoint names, if it names one)"},
          {.names = "--ready",
           .value = FlagValue::isGiven(flags.isReady),
           .help = "Ids are ready keys, which are not hashed: 64-bit integers, "
                   "as the commands print them",
           .excludes = {"--salt"}}};
}

namespace {

/// Ways in which fields become the keys of a table.
struct Ways {
  /// Salts of fields that hash texts.
  std::set<uint64_t> salts;
  /// True if there is a field that hashes texts with their positions as salts,
  /// or a field of integers.
  bool isBySlot = false, isInteger = false;
  /// Other ways, such as feature crosses.
  std::vector<std::string_view> others;
};

} // namespace

/// Returns true if `line` begins with the words `begin`. Removes these words.
static bool consumeWords(std::string_view &line, std::string_view begin) {
  if (!line.starts_with(begin) ||
      (line.size() > begin.size() && line[begin.size()] != ' '))
    return false;
  line.remove_prefix(std::min(line.size(), begin.size() + 1));
  return true;
}

/// Reads a description of the compiler, which has one way in each line.
static Ways waysOf(std::string_view text) {
  Ways ways;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::string_view rest = line;
    uint64_t salt = 0;
    if (consumeWords(rest, "integer"))
      ways.isInteger = true;
    else if (consumeWords(rest, "text by xxh64 salt slot"))
      ways.isBySlot = true;
    else if (consumeWords(rest, "text by xxh64 salt") &&
             std::from_chars(rest.data(), rest.data() + rest.size(), salt).ec ==
                 std::errc())
      ways.salts.insert(salt);
    else
      ways.others.push_back(line);
  }
  return ways;
}

Expected<KeyTexts> KeyTexts::of(const CheckpointManifest &manifest,
                                const std::string &table,
                                const KeyFlags &flags) {
  KeyTexts texts;
  const ModelPart *part = keysOf(manifest.modelParts, table);
  const Ways ways = part ? waysOf(part->value) : Ways();
  if (flags.isReady) {
    texts.description = "a ready key (--ready)";
    return texts;
  }
  if (flags.salt) {
    if (part && ways.salts.empty() && !ways.isBySlot)
      return Status::invalidArgument(fmt::format(
          "--salt: no field hashes texts to keys of @{}; these come from `{}`",
          table, ways.isInteger ? "integer" : ways.others.front()));
    if (part && !ways.isBySlot && !ways.salts.contains(*flags.salt))
      return Status::invalidArgument(fmt::format(
          "--salt {}: no field of @{} has this salt; give one of {}",
          *flags.salt, table, fmt::join(ways.salts, ", ")));
    texts.salt = flags.salt;
    texts.description = fmt::format("hashed with salt {}", *flags.salt);
    return texts;
  }
  const size_t count =
      ways.salts.size() + size_t(ways.isBySlot) + size_t(ways.isInteger);
  if (count > 1 || ways.isBySlot) {
    std::vector<std::string> choices;
    for (uint64_t salt : ways.salts)
      choices.push_back(fmt::format("--salt {}", salt));
    if (ways.isBySlot)
      choices.push_back("--salt POSITION, the position of the text's column");
    if (ways.isInteger)
      choices.push_back("--ready for integers");
    return Status::invalidArgument(fmt::format(
        "the keys of @{} come from fields in several ways; choose one: {}",
        table, fmt::join(choices, "; ")));
  }
  if (count == 0) {
    texts.description =
        part ? fmt::format("a ready key, because the keys of @{} come from "
                           "`{}`",
                           table, ways.others.front())
             : fmt::format("a ready key, because the checkpoint does not say "
                           "how the keys of @{} come from fields",
                           table);
    return texts;
  }
  if (ways.isInteger) {
    texts.description = "an integer id";
    return texts;
  }
  texts.salt = *ways.salts.begin();
  texts.description =
      fmt::format("hashed with salt {}, as the field does", *texts.salt);
  return texts;
}

Expected<int64_t> KeyTexts::keyOf(const std::string &text) const {
  constexpr std::string_view blanks = " \t\r";
  std::string_view id = text;
  id.remove_prefix(std::min(id.size(), id.find_first_not_of(blanks)));
  id = id.substr(0, id.find_last_not_of(blanks) + 1);
  if (salt)
    return int64_t(pdlabi::hashText(id, *salt));
  // Integers above 2^63 - 1 wrap, as in data files.
  const char *const end = id.data() + id.size();
  int64_t key = 0;
  uint64_t large = 0;
  if (const auto [rest, error] = std::from_chars(id.data(), end, key);
      error == std::errc() && rest == end)
    return key;
  if (const auto [rest, error] = std::from_chars(id.data(), end, large);
      error == std::errc() && rest == end)
    return int64_t(large);
  return Status::invalidArgument(fmt::format(
      "'{}' is no integer from -2^63 to 2^64 - 1, but is {}", id, description));
}
