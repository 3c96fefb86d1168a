//===- KafkaAddress.cpp - Addresses of topics of Kafka --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaAddress.h"

#include "pdlrt/Core/Duration.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <string_view>

using namespace pdlrt;

static constexpr std::string_view scheme = "kafka://";
static constexpr int32_t maxPartition = 99999;

/// Splits `text` at each `separator`.
static std::vector<std::string> piecesOf(std::string_view text,
                                         char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return pieces;
    text.remove_prefix(end + 1);
  }
}

/// Parses a time: milliseconds since 1970, or UTC as 2026-11-30T12:00:00Z.
static Expected<int64_t> parseTime(const std::string &text) {
  std::tm parts = {};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) ==
      text.c_str() + text.size()) {
    const std::tm given = parts;
    const std::time_t seconds = ::timegm(&parts);
    if (seconds >= 0 && parts.tm_mon == given.tm_mon &&
        parts.tm_mday == given.tm_mday && parts.tm_hour == given.tm_hour &&
        parts.tm_min == given.tm_min && parts.tm_sec == given.tm_sec)
      return int64_t(seconds) * 1000;
  }
  const auto number = parseWholeNumber(text, 0, INT64_MAX);
  if (number)
    return int64_t(*number);
  return Status::invalidArgument("'" + text +
                                 "' is no time; give 2026-11-30T12:00:00Z, or "
                                 "milliseconds since 1970");
}

static Expected<KafkaBound> parseBound(const std::string &text, bool isStart) {
  using Kind = KafkaBound::Kind;
  if (text == "end")
    return KafkaBound{Kind::End};
  if (text == "beginning" && isStart)
    return KafkaBound{Kind::Beginning};
  if (text == "never" && !isStart)
    return KafkaBound{};
  if (text.starts_with("offset:")) {
    const auto number =
        parseWholeNumber(std::string_view(text).substr(7), 0, INT64_MAX - 1);
    PDLRT_RETURN_IF_ERROR(number.status());
    return KafkaBound{Kind::Offset, int64_t(*number)};
  }
  if (text.starts_with("timestamp:")) {
    const auto time = parseTime(text.substr(10));
    PDLRT_RETURN_IF_ERROR(time.status());
    return KafkaBound{Kind::Time, *time};
  }
  return Status::invalidArgument(
      "'" + text + "' is no place in a partition; give " +
      (isStart ? "beginning" : "never") + ", end, offset:N or timestamp:TIME");
}

static std::string boundText(const KafkaBound &bound) {
  switch (bound.kind) {
  case KafkaBound::Kind::None:
    return "never";
  case KafkaBound::Kind::Beginning:
    return "beginning";
  case KafkaBound::Kind::End:
    return "end";
  case KafkaBound::Kind::Offset:
    return "offset:" + std::to_string(bound.value);
  case KafkaBound::Kind::Time:
    return "timestamp:" + std::to_string(bound.value);
  }
  return "";
}

/// Parses numbers and ranges, such as "0-3,7".
static Expected<std::vector<int32_t>> parsePartitions(const std::string &text) {
  std::vector<int32_t> numbers;
  for (const std::string &piece : piecesOf(text, ',')) {
    const size_t dash = piece.find('-');
    const auto first = parseWholeNumber(piece.substr(0, dash), 0, maxPartition);
    PDLRT_RETURN_IF_ERROR(first.status());
    const auto last =
        dash == std::string::npos
            ? first
            : parseWholeNumber(piece.substr(dash + 1), *first, maxPartition);
    PDLRT_RETURN_IF_ERROR(last.status());
    for (uint64_t number = *first; number <= *last; ++number)
      numbers.push_back(int32_t(number));
  }
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) != numbers.end())
    return Status::invalidArgument("'" + text +
                                   "' names a partition twice; name each once");
  return numbers;
}

/// Parses places: the offset, the line and the timestamp of each partition,
/// such as "1234.1.1760000000000,-". Line and timestamp may be left out.
static Expected<std::vector<KafkaPlace>> parsePlaces(const std::string &text) {
  std::vector<KafkaPlace> places;
  for (const std::string &piece : piecesOf(text, ',')) {
    KafkaPlace &place = places.emplace_back();
    if (piece == "-")
      continue;
    const std::vector<std::string> parts = piecesOf(piece, '.');
    if (parts.empty() || parts.size() > 3)
      return Status::invalidArgument(
          "'" + piece + "' is no place; write OFFSET, LINE and TIMESTAMP");
    const auto offset = parseWholeNumber(parts[0], 0, INT64_MAX - 2);
    PDLRT_RETURN_IF_ERROR(offset.status());
    place.offset = int64_t(*offset);
    if (parts.size() > 1) {
      const auto line = parseWholeNumber(parts[1], 1, INT64_MAX - 1);
      PDLRT_RETURN_IF_ERROR(line.status());
      place.line = int64_t(*line);
    }
    if (parts.size() > 2) {
      const auto time = parseWholeNumber(parts[2], 0, INT64_MAX);
      PDLRT_RETURN_IF_ERROR(time.status());
      place.time = int64_t(*time);
    }
  }
  return places;
}

/// Returns an error for properties that have no place in an address.
static Status checkProperty(const std::string &name) {
  static constexpr std::string_view own[] = {"bootstrap.servers",
                                             "metadata.broker.list",
                                             "group.id",
                                             "enable.auto.commit",
                                             "auto.offset.reset",
                                             "enable.auto.offset.store",
                                             "enable.partition.eof",
                                             "check.crcs"};
  if (std::ranges::find(own, name) != std::end(own))
    return Status::invalidArgument(
        "the property " + name +
        " is set by PDL, which assigns partitions itself and keeps offsets in "
        "its checkpoints; leave it out");
  static constexpr std::string_view secrets[] = {"password", "secret", ".pem",
                                                 "oauthbearer"};
  if (std::ranges::any_of(secrets, [&](std::string_view word) {
        return name.find(word) != std::string::npos;
      }))
    return Status::invalidArgument(
        "the property " + name +
        " may be secret, and command lines are visible to others; write it to "
        "a file as name=value, and name the file with config=FILE");
  return {};
}

/// Sets one `key=value` of an address.
static Status setParameter(KafkaAddress &address, const std::string &key,
                           const std::string &value) {
  const auto set = [](auto &member, auto parsed) -> Status {
    PDLRT_RETURN_IF_ERROR(parsed.status());
    member = *std::move(parsed);
    return {};
  };
  if (key == "partitions")
    return set(address.partitions, parsePartitions(value));
  if (key == "start")
    return set(address.start, parseBound(value, /*isStart=*/true));
  if (key == "end")
    return set(address.end, parseBound(value, /*isStart=*/false));
  if (key == "at")
    return set(address.places, parsePlaces(value));
  if (key == "idle")
    return set(address.idleMs, parseDuration(value));
  if (key == "deadline")
    return set(address.deadlineMs, parseDuration(value));
  if (key == "format" || key == "config") {
    if (value.empty())
      return Status::invalidArgument("it is empty; give a value");
    (key == "format" ? address.format : address.configFile) = value;
    return {};
  }
  if (key == "missing") {
    if (value != "fail" && value != "skip")
      return Status::invalidArgument("'" + value +
                                     "' is neither fail nor skip");
    address.skipsMissing = value == "skip";
    return {};
  }
  if (key.find('.') == std::string::npos)
    return Status::invalidArgument(
        "it is unknown; give partitions, start, end, format, idle, deadline, "
        "missing, config, or a property of librdkafka with a dot in its name");
  PDLRT_RETURN_IF_ERROR(checkProperty(key));
  address.properties.emplace_back(key, value);
  return {};
}

bool pdlrt::isKafkaAddress(const std::string &path) {
  return path.starts_with(scheme);
}

Expected<KafkaAddress> KafkaAddress::parse(const std::string &text) {
  KafkaAddress address;
  const size_t question = text.find('?');
  const std::string place = text.substr(0, question);
  const size_t slash = place.find('/', scheme.size());
  if (!isKafkaAddress(text) || slash == std::string::npos ||
      slash == scheme.size() || slash + 1 == place.size())
    return Status::invalidArgument(
        place + ": is no address of a topic; write "
                "kafka://HOST:PORT,HOST:PORT/TOPIC?start=...&end=...");
  address.brokers = place.substr(scheme.size(), slash - scheme.size());
  address.topic = place.substr(slash + 1);
  const auto isNameCharacter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (!std::ranges::all_of(address.topic, isNameCharacter))
    return Status::invalidArgument(
        place + ": the topic `" + address.topic +
        "` has characters that Kafka does not allow; use letters, digits, "
        "`.`, `_` and `-`");
  if (question == std::string::npos)
    return address;
  for (const std::string &piece :
       piecesOf(std::string_view(text).substr(question + 1), '&')) {
    const size_t equals = piece.find('=');
    const std::string key = piece.substr(0, equals);
    if (equals == std::string::npos || key.empty())
      return Status::invalidArgument(place + ": `" + key +
                                     "` has no value; write key=value, and & "
                                     "between two of them");
    PDLRT_RETURN_IF_ERROR(setParameter(address, key, piece.substr(equals + 1))
                              .withContext(place + ": " + key));
  }
  if (!address.places.empty() &&
      address.places.size() != address.partitions.size())
    return Status::invalidArgument(
        place + ": at= has " + std::to_string(address.places.size()) +
        " places; give one for each number of partitions=");
  return address;
}

static std::string partitionsText(const std::vector<int32_t> &partitions) {
  std::string text;
  for (const int32_t number : partitions)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::string KafkaAddress::text() const {
  std::string text = topicName() + "?start=" + boundText(start) +
                     "&end=" + boundText(end) +
                     "&idle=" + std::to_string(idleMs) +
                     "ms&deadline=" + std::to_string(deadlineMs) +
                     "ms&missing=" + (skipsMissing ? "skip" : "fail");
  if (!partitions.empty())
    text += "&partitions=" + partitionsText(partitions);
  std::string at;
  for (const KafkaPlace &place : places)
    at += (at.empty() ? "" : ",") +
          (place.offset < 0 ? "-"
                            : std::to_string(place.offset) + "." +
                                  std::to_string(place.line) + "." +
                                  std::to_string(place.time));
  if (!at.empty())
    text += "&at=" + at;
  if (!format.empty())
    text += "&format=" + format;
  if (!configFile.empty())
    text += "&config=" + configFile;
  for (const auto &[name, value] : properties)
    text.append("&").append(name).append("=").append(value);
  return text;
}

std::string KafkaAddress::topicName() const {
  return std::string(scheme) + brokers + "/" + topic;
}

std::string KafkaAddress::name() const {
  return topicName() +
         (partitions.empty() ? "" : "[" + partitionsText(partitions) + "]");
}

std::string pdlrt::kafkaName(const std::string &address) {
  const auto parsed = KafkaAddress::parse(address);
  return parsed ? parsed->name() : address.substr(0, address.find('?'));
}

std::string pdlrt::kafkaIdentity(const std::string &address) {
  const auto parsed = KafkaAddress::parse(address);
  return parsed ? parsed->topic + "[" + partitionsText(parsed->partitions) + "]"
                : address;
}

bool pdlrt::kafkaHasEnd(const std::string &address) {
  const auto parsed = KafkaAddress::parse(address);
  return parsed && parsed->end.kind != KafkaBound::Kind::None;
}

std::string pdlrt::kafkaFormat(const std::string &address) {
  const auto parsed = KafkaAddress::parse(address);
  return parsed ? parsed->format : "";
}
