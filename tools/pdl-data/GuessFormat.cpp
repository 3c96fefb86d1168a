//===- GuessFormat.cpp - Guesses the format of a file ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GuessFormat.h"

#include "Data/FileFormat.h"
#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "Data/RecordReader.h"
#include "Data/TFRecordFile.h"
#include "Data/Unpacker.h"
#include "pdlrt/Data/BatchSource.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <set>
#include <vector>

using namespace pdlrt;

using Words = std::vector<std::string_view>;

static bool isNumber(std::string_view text) {
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && !text.empty();
}

static bool isCount(std::string_view text) {
  return !text.empty() && text.size() < 20 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

static Words wordsOf(std::string_view text, std::string_view separators) {
  Words words;
  while (true) {
    text.remove_prefix(
        std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty())
      return words;
    const size_t size = std::min(text.find_first_of(separators), text.size());
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
}

/// Returns the first lines that are neither blank nor comments of libsvm.
static Words linesOf(std::string_view begin, bool isWhole) {
  constexpr size_t maxLines = 200;
  Words lines;
  while (!begin.empty() && lines.size() < maxLines) {
    const size_t end = begin.find('\n');
    if (end == std::string_view::npos && !isWhole && !lines.empty())
      break;
    std::string_view line = begin.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos &&
        !line.starts_with('#'))
      lines.push_back(line);
    begin.remove_prefix(end == std::string_view::npos ? begin.size() : end + 1);
  }
  return lines;
}

template <typename T> static T readAs(std::string_view bytes) {
  T value = {};
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

/// Returns the format of a file that is no text; empty if it is unknown.
static std::string guessBinary(std::string_view begin) {
  if (begin.starts_with("PAR1"))
    return "parquet";
  if (begin.starts_with("ARROW1") || begin.starts_with("\xff\xff\xff\xff"))
    return "arrow";
  constexpr size_t sizeBytes = sizeof(uint64_t);
  if (begin.size() > sizeBytes && begin[sizeBytes] == '{' &&
      readAs<uint64_t>(begin) < (uint64_t(1) << 32))
    return "safetensors";
  if (begin.size() >= sizeBytes + sizeof(uint32_t) &&
      maskedCrc32c(begin.substr(0, sizeBytes)) ==
          readAs<uint32_t>(begin.substr(sizeBytes)))
    return "tfrecord";
  return {};
}

/// Returns true if `line` is a number, and then pairs or triples of numbers.
static bool isSparse(std::string_view line, size_t parts) {
  Words words = wordsOf(line.substr(0, line.find('#')), " \t");
  if (words.size() < 2 || !isNumber(words[0]))
    return false;
  if (parts == 2 && words[1].starts_with("qid:"))
    words.erase(words.begin());
  return std::all_of(words.begin() + 1, words.end(), [&](std::string_view w) {
    const Words found = wordsOf(w, ":");
    return found.size() == parts &&
           std::all_of(found.begin(), found.end() - 1, isCount) &&
           isNumber(found.back());
  });
}

/// Returns true if the indices of a line of libsvm grow, or all values are 1.
static bool hasIndices(std::string_view line) {
  const Words words = wordsOf(line.substr(0, line.find('#')), " \t");
  if (std::all_of(words.begin() + 1, words.end(),
                  [](std::string_view word) { return word.ends_with(":1"); }))
    return true;
  int64_t last = -1;
  for (const std::string_view word : words) {
    int64_t index = 0;
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos || word.starts_with("qid:"))
      continue;
    std::from_chars(word.data(), word.data() + colon, index);
    if (index <= last)
      return false;
    last = index;
  }
  return true;
}

/// Returns the format of lines of pairs; empty if they are none. Slots have
/// fewer different names than values.
static std::string guessPairs(const Words &lines) {
  constexpr size_t maxBefore = 3;
  std::set<std::string_view> first, second;
  bool areNamed = false, areNamedLast = false;
  for (const std::string_view line : lines) {
    const Words words = wordsOf(line, " \t");
    size_t pairs = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      const size_t colon = words[i].find(':');
      if (colon == std::string_view::npos && i < maxBefore && pairs == 0)
        continue;
      // Cells of delimited text may contain colons, as times and addresses do.
      if (colon == 0 || colon == std::string_view::npos ||
          colon + 1 == words[i].size() ||
          words[i].find_first_of(",;|") != std::string_view::npos)
        return {};
      ++pairs;
      const std::string_view left = words[i].substr(0, colon);
      const std::string_view right = words[i].substr(words[i].rfind(':') + 1);
      areNamed |= !isNumber(left);
      areNamedLast |= !isNumber(right);
      first.insert(left);
      second.insert(right);
    }
    if (pairs == 0)
      return {};
  }
  if (areNamed != areNamedLast)
    return areNamed ? "slots" : "signs";
  return first.size() <= second.size() ? "slots" : "signs";
}

/// Returns the number of slots of a line of MultiSlot; 0 if it is none.
static size_t slotsOf(std::string_view line) {
  const Words words = wordsOf(line, " ");
  size_t slots = 0;
  for (size_t at = 0; at < words.size(); ++slots) {
    uint64_t count = 0;
    if (!isCount(words[at]))
      return 0;
    std::from_chars(words[at].data(), words[at].data() + words[at].size(),
                    count);
    if (count > words.size() - at - 1)
      return 0;
    at += 1 + size_t(count);
  }
  return slots;
}

/// Returns the character that divides all lines into as many cells; 0: none.
static char guessDelimiter(const Words &lines) {
  for (const char delimiter : {'\t', ',', ';', '|', ' '}) {
    const auto count = std::ranges::count(lines.front(), delimiter);
    if (count > 0 && std::ranges::all_of(lines, [&](std::string_view line) {
          return std::ranges::count(line, delimiter) == count;
        }))
      return delimiter;
  }
  return 0;
}

FormatGuess guessFormat(std::string_view begin, bool isWhole) {
  if (std::string format = guessBinary(begin); !format.empty())
    return {.format = std::move(format)};
  const Words lines = linesOf(begin, isWhole);
  if (lines.empty() || begin.find('\0') != std::string_view::npos)
    return {};
  const auto areAll = [&](const auto &test) {
    return std::ranges::all_of(lines, test);
  };
  if (areAll([](std::string_view line) {
        return line.starts_with('{') && line.ends_with('}');
      }))
    return {.format = "jsonl"};
  if (areAll([](std::string_view line) { return isSparse(line, 3); }))
    return {.format = "libffm"};
  if (areAll([](std::string_view line) {
        return isSparse(line, 2) && hasIndices(line);
      }))
    return {.format = "libsvm"};
  if (std::string format = guessPairs(lines); !format.empty())
    return {.format = std::move(format)};
  const size_t slots = slotsOf(lines.front());
  if (slots > 1 && lines.size() > 1 &&
      areAll([&](std::string_view line) { return slotsOf(line) == slots; }))
    return {.format = "multislot"};
  if (const char delimiter = guessDelimiter(lines))
    return {.format = "text", .delimiter = delimiter};
  return {};
}

/// Returns true if the name of a file says what is in it.
static bool hasTellingName(const std::string &path) {
  const std::string_view name = unpackedName(path);
  for (const FileFormat *format : fileFormats())
    for (const std::string_view suffix : format->suffixes())
      if (suffix != ".txt" && name.ends_with(suffix))
        return true;
  return false;
}

Expected<std::string> chooseFormat(DataOptions &data) {
  constexpr size_t examinedBytes = size_t(1) << 16;
  const std::string &first = data.files.front();
  if (!data.format.empty() || data.delimiter ||
      !std::ranges::all_of(data.files, canBeReadAgain) ||
      std::ranges::any_of(data.files, isKafkaAddress) ||
      std::ranges::any_of(data.files, hasTellingName))
    return std::string();
  InputFile file;
  PDLRT_RETURN_IF_ERROR(file.open(first, {.pipe = data.pipe}));
  std::string begin(examinedBytes, '\0');
  size_t size = 0;
  while (size < begin.size()) {
    auto read = file.read(begin.data() + size, begin.size() - size);
    PDLRT_RETURN_IF_ERROR(read.status());
    if (*read == 0)
      break;
    size += *read;
  }
  const bool isWhole = size < begin.size();
  begin.resize(size);
  const FormatGuess guess = guessFormat(begin, isWhole);
  // The name says the same.
  const bool isText = unpackedName(first).ends_with(".txt");
  if (guess.format.empty() || (isText && guess.delimiter == '\t'))
    return std::string();
  data.format = guess.format;
  data.delimiter = guess.delimiter;
  if (!guess.delimiter)
    return fmt::format("{}: the content looks like {}, so it is read with "
                       "--format {}; give another --format if it is not",
                       first, fileFormatOf(first, data).name(), guess.format);
  const std::string delimiter = guess.delimiter == '\t'  ? "tab"
                                : guess.delimiter == ' ' ? "space"
                                : guess.delimiter == ','
                                    ? "comma"
                                    : std::string(1, guess.delimiter);
  return fmt::format("{}: the content looks like delimited text, so it is read "
                     "with --delimiter '{}'; give --format or another "
                     "--delimiter if it is not",
                     first, delimiter);
}
