//===- KafkaRows.cpp - The rows of partitions of a topic ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaRows.h"

#include "Data/DataFlags.h"
#include "Data/KafkaMetrics.h"
#include "Data/RecordStream.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

using namespace pdlrt;
using Kind = KafkaBound::Kind;

/// Maximum time of one wait, in milliseconds. Then all partitions are examined
/// again.
static constexpr int64_t longestWaitMs = 500;

/// Returns the time in milliseconds since 1970.
static int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Expected<std::vector<std::string>>
pdlrt::expandKafkaAddress(const std::string &text) {
  auto address = KafkaAddress::parse(text);
  PDLRT_RETURN_IF_ERROR(address.status());
  // A wrong format is found before a broker that does not answer.
  PDLRT_RETURN_IF_ERROR(checkKafkaFormat(*address));
  const bool needsEnds = address->end.kind == Kind::End;
  auto client = KafkaClient::create(*address, nullptr);
  PDLRT_RETURN_IF_ERROR(client.status());
  auto known = (*client)->findPartitions();
  PDLRT_RETURN_IF_ERROR(known.status());
  for (const int32_t number : address->partitions)
    if (std::ranges::find(*known, number) == known->end())
      return Status::notFound((*client)->nameOf(number) +
                              ": the topic has no such partition, only " +
                              std::to_string(known->size()) +
                              "; name others with partitions=");
  if (address->partitions.empty())
    address->partitions = *std::move(known);
  std::vector<std::string> files;
  for (const int32_t number : address->partitions) {
    KafkaAddress one = *address;
    one.partitions = {number};
    if (needsEnds) {
      auto range = (*client)->rangeOf(number);
      PDLRT_RETURN_IF_ERROR(range.status());
      one.end = {Kind::Offset, range->end};
    }
    files.push_back(one.text());
  }
  return files;
}

Expected<std::string>
pdlrt::joinKafkaAddresses(const std::vector<std::string> &addresses,
                          std::vector<KafkaPlace> places) {
  auto joined = KafkaAddress::parse(addresses.front());
  PDLRT_RETURN_IF_ERROR(joined.status());
  std::vector<int32_t> partitions;
  partitions.swap(joined->partitions);
  for (size_t i = 1; i < addresses.size(); ++i) {
    auto address = KafkaAddress::parse(addresses[i]);
    PDLRT_RETURN_IF_ERROR(address.status());
    partitions.insert(partitions.end(), address->partitions.begin(),
                      address->partitions.end());
    address->partitions.clear();
    if (address->text() != joined->text())
      return Status::invalidArgument(
          address->topicName() + " and " + joined->topicName() +
          ": topics without end are read together, which needs one topic with "
          "the same parameters; give one address in --data");
  }
  if (std::ranges::adjacent_find(partitions, std::greater_equal()) !=
      partitions.end())
    return Status::invalidArgument(
        joined->topicName() + ": a topic without end is named twice; give one "
                              "address, with partitions=, in --data");
  joined->partitions = std::move(partitions);
  joined->places = std::move(places);
  return joined->text();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<KafkaRows>> KafkaRows::open(const std::string &address,
                                                     ReadWait *wait) {
  auto parsed = KafkaAddress::parse(address);
  PDLRT_RETURN_IF_ERROR(parsed.status());
  auto client = KafkaClient::create(*parsed, wait);
  PDLRT_RETURN_IF_ERROR(client.status());
  std::unique_ptr<KafkaRows> rows(new KafkaRows);
  rows->client = *std::move(client);
  for (const int32_t number : parsed->partitions) {
    Partition &partition = rows->partitions.emplace_back();
    partition.number = number;
    if (!parsed->places.empty())
      partition.place = parsed->places[rows->partitions.size() - 1];
    partition.metrics = std::make_unique<KafkaMetrics>(parsed->topic, number);
  }
  for (Partition &partition : rows->partitions)
    rows->waiting.push_back(&partition);
  return rows;
}

KafkaRows::~KafkaRows() {
  if (message)
    client->destroy(message);
  for (Partition &partition : partitions)
    drop(partition);
}

/// Stops fetching, and forgets messages that have arrived.
void KafkaRows::drop(Partition &partition) {
  partition.fetch.reset();
  for (size_t i = partition.nextMessage; i < partition.messages.size(); ++i)
    client->destroy(partition.messages[i]);
  partition.messages.clear();
  partition.nextMessage = 0;
  partition.isAtEnd = false;
}

RowPlace KafkaRows::following() const {
  const KafkaPlace &place = (active ? *active : partitions.front()).place;
  return {0, place.offset + 1, place.line};
}

std::vector<KafkaPlace> KafkaRows::places() const {
  std::vector<KafkaPlace> all;
  for (const Partition &partition : partitions)
    all.push_back(partition.place);
  return all;
}

std::optional<int64_t> KafkaRows::sample() const {
  if (!active || client->address().end.kind != Kind::None)
    return std::nullopt;
  const int64_t first =
      (int64_t(active->number) << sampleRowBits) | rowOfSample(currentOffset);
  return sampleOfMessageRow(first, std::max<int64_t>(line, 1) - 1);
}

std::string KafkaRows::placeText() const {
  if (!active)
    return client->address().name();
  return client->nameOf(active->number) + "@" + std::to_string(currentOffset) +
         (line > 1 ? "." + std::to_string(line) : "");
}

Expected<bool> KafkaRows::moveTo(const RowPlace &place) {
  if (partitions.size() != 1 || place.byte < 1 || place.line < 1)
    return false;
  Partition &only = partitions.front();
  drop(only);
  if (message)
    client->destroy(message);
  message = nullptr;
  hasLines = false;
  only.place = {place.byte - 1, place.line, only.place.time};
  only.isDone = false;
  ready.clear();
  waiting = {&only};
  return true;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Returns the offset at which the address starts. It may be one of the
/// negative numbers with which librdkafka names the first message and the end.
Expected<int64_t> KafkaRows::startOf(int32_t partition) {
  const KafkaBound &start = client->address().start;
  if (start.kind == Kind::Offset)
    return start.value;
  if (start.kind == Kind::Time)
    return client->offsetAt(partition, start.value);
  return int64_t(start.kind == Kind::End ? RD_KAFKA_OFFSET_END
                                         : RD_KAFKA_OFFSET_BEGINNING);
}

/// Determines the first offset, and starts to fetch.
Status KafkaRows::prepare(Partition &partition) {
  KafkaPlace &place = partition.place;
  if (place.offset < 0) {
    auto start = startOf(partition.number);
    PDLRT_RETURN_IF_ERROR(start.status());
    partition.offset = *start;
    // Otherwise the first answer names the offset.
    if (*start >= 0)
      place = {*start, 1, place.time};
  } else {
    partition.offset = place.offset;
    partition.skipsLines = place.line - 1;
  }
  const KafkaBound &end = client->address().end;
  if (end.kind == Kind::Offset)
    partition.endOffset = end.value;
  if (end.kind == Kind::End && !partition.endOffset) {
    auto range = client->rangeOf(partition.number);
    PDLRT_RETURN_IF_ERROR(range.status());
    partition.endOffset = range->end;
  }
  checkEnd(partition);
  if (partition.isDone)
    return {};
  auto fetch = client->fetch(partition.number, partition.offset);
  PDLRT_RETURN_IF_ERROR(fetch.status());
  partition.fetch = *std::move(fetch);
  return {};
}

/// Moves to the next message that has arrived, if there is one.
Status KafkaRows::receive(Partition &partition) {
  while (!partition.isDone) {
    if (partition.nextMessage == partition.messages.size()) {
      partition.messages.clear();
      partition.nextMessage = 0;
      partition.fetch->take(partition.messages);
      if (partition.messages.empty())
        return {};
      partition.arrival = nowMs();
      if (const auto end = client->knownEnd(partition.number))
        partition.metrics->noteEnd(*end);
    }
    rd_kafka_message_t *const head = partition.head();
    if (head->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      partition.isAtEnd = false;
      client->noteAnswer();
      // Earlier messages arrive if fetching is restarted, or if reading starts
      // within a batch of messages.
      if (head->offset >= partition.offset) {
        checkEnd(partition);
        return {};
      }
    }
    ++partition.nextMessage;
    Status status;
    if (head->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      status = handleError(partition, *head);
    client->destroy(head);
    PDLRT_RETURN_IF_ERROR(std::move(status));
  }
  return {};
}

Status KafkaRows::handleError(Partition &partition,
                              const rd_kafka_message_t &error) {
  switch (error.err) {
  case RD_KAFKA_RESP_ERR__PARTITION_EOF:
    partition.isAtEnd = true;
    // Some offsets have no message: the markers of transactions, and messages
    // that compaction has removed.
    partition.offset = std::max(partition.offset, error.offset);
    if (partition.place.offset < 0)
      partition.place = {partition.offset, 1, partition.place.time};
    partition.metrics->noteEnd(error.offset);
    partition.metrics->noteNext(partition.offset);
    client->noteAnswer();
    checkEnd(partition);
    return {};
  case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
  case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    return findMissing(partition);
  case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    return Status::invalidArgument(
        client->nameOf(partition.number) + "@" + std::to_string(error.offset) +
        ": the message is larger than librdkafka accepts; add "
        "message.max.bytes=N and receive.message.max.bytes=N to the address");
  default:
    return client->noteError(partition.number, error.err,
                             error.payload
                                 ? static_cast<const char *>(error.payload)
                                 : "unknown error");
  }
}

/// Handles an offset that the broker does not have.
Status KafkaRows::findMissing(Partition &partition) {
  auto range = client->rangeOf(partition.number);
  PDLRT_RETURN_IF_ERROR(range.status());
  const std::string name = client->nameOf(partition.number);
  const std::string has = "the broker has offsets " +
                          std::to_string(range->first) + " to " +
                          std::to_string(range->end);
  if (partition.offset > range->end)
    return Status::failedPrecondition(
        name + ": reading continues at offset " +
        std::to_string(partition.offset) + ", but " + has +
        ": the topic is another one, or was created anew; start a new "
        "training on it");
  if (partition.offset >= range->first) {
    // A broker that has just become the leader may lag.
    client->noteAnswer();
  } else if (!client->address().skipsMissing) {
    return Status::dataLoss(
        name + ": reading continues at offset " +
        std::to_string(partition.offset) + ", but " + has +
        ": the messages between were removed by retention; keep messages "
        "longer, or skip the missing ones with missing=skip in the address");
  } else {
    logWarning(name + ": offsets " + std::to_string(partition.offset) + " to " +
               std::to_string(range->first - 1) +
               " were removed by retention, and are skipped");
    partition.place = {range->first, 1, partition.place.time};
    partition.offset = range->first;
    partition.skipsLines = 0;
  }
  drop(partition);
  auto fetch = client->fetch(partition.number, partition.offset);
  PDLRT_RETURN_IF_ERROR(fetch.status());
  partition.fetch = *std::move(fetch);
  return {};
}

/// Finds out whether a partition has reached its end.
void KafkaRows::checkEnd(Partition &partition) const {
  const KafkaBound &end = client->address().end;
  const rd_kafka_message_t *const head = partition.head();
  const bool hasHead = head && head->err == RD_KAFKA_RESP_ERR_NO_ERROR;
  bool isOver = false;
  if (partition.endOffset)
    isOver =
        (hasHead ? head->offset : partition.offset) >= *partition.endOffset;
  else if (end.kind == Kind::Time)
    isOver = hasHead ? client->timeOf(*head) >= end.value
                     : partition.isAtEnd &&
                           nowMs() >= end.value + client->address().idleMs;
  partition.isDone |= isOver;
}

/// Receives messages of the partitions that have no next message. Those that
/// have one then become ready, and those at their end are forgotten.
Status KafkaRows::receiveWaiting() {
  for (auto each = waiting.begin(); each != waiting.end();) {
    Partition &partition = **each;
    if (!partition.fetch && !partition.isDone)
      PDLRT_RETURN_IF_ERROR(prepare(partition));
    if (!partition.isDone) {
      PDLRT_RETURN_IF_ERROR(receive(partition));
      checkEnd(partition);
    }
    const rd_kafka_message_t *const head = partition.head();
    if (!partition.isDone && !head) {
      ++each;
      continue;
    }
    each = waiting.erase(each);
    if (partition.isDone)
      continue;
    ready.push_back({client->timeOf(*head), &partition});
    std::ranges::push_heap(ready, std::greater());
  }
  return {};
}

/// Returns for how many milliseconds the next message waits for messages of the
/// partitions that have none; not more than 0: it does not wait.
int64_t KafkaRows::remainingWait() const {
  const bool isLoading = std::ranges::any_of(
      waiting, [](const Partition *each) { return !each->isAtEnd; });
  if (ready.empty() || isLoading)
    return longestWaitMs;
  const Ready &best = ready.front();
  const int64_t due =
      std::min(best.time, best.partition->arrival) + client->address().idleMs;
  return std::min(longestWaitMs, due - nowMs());
}

/// Returns the partition of the next message; null at the end of all
/// partitions. Takes time O(log(partitions)) if all of them have a message.
Expected<KafkaRows::Partition *> KafkaRows::choose() {
  while (true) {
    PDLRT_RETURN_IF_ERROR(receiveWaiting());
    if (ready.empty() && waiting.empty())
      return nullptr;
    const int64_t limit = waiting.empty() ? 0 : remainingWait();
    if (limit <= 0)
      break;
    PDLRT_RETURN_IF_ERROR(client->await(limit));
  }
  Partition *const best = ready.front().partition;
  std::ranges::pop_heap(ready, std::greater());
  ready.pop_back();
  waiting.push_back(best);
  return best;
}

/// Makes the next message of a partition the current one.
void KafkaRows::beginMessage(Partition &partition) {
  if (message)
    client->destroy(message);
  message = partition.messages[partition.nextMessage++];
  active = &partition;
  currentOffset = message->offset;
  partition.offset = message->offset + 1;
  const int64_t time = client->timeOf(*message);
  partition.place = {message->offset + 1, 1,
                     std::max(partition.place.time, time)};
  line = 0;
  partition.metrics->noteMessage(message->offset + 1, time);
  hasLines = false;
  if (!message->payload)
    partition.metrics->noteNull();
}

/// Begins with the lines of the current message that were not read before.
Status KafkaRows::beginLines() {
  hasLines = message->payload != nullptr;
  if (!hasLines)
    return {};
  Partition &partition = *active;
  lines = {static_cast<const char *>(message->payload), message->len};
  while (lines.ends_with('\n') || lines.ends_with('\r'))
    lines.remove_suffix(1);
  for (; partition.skipsLines > 0; --partition.skipsLines) {
    const size_t end = lines.find('\n');
    if (end == std::string_view::npos)
      return Status::failedPrecondition(
          placeText() + ": the message has fewer lines than before; the topic "
                        "is another one");
    lines.remove_prefix(end + 1);
    ++line;
  }
  return {};
}

/// Takes the next line of the current message.
bool KafkaRows::takeLine(std::string_view &row) {
  if (!hasLines)
    return false;
  const size_t end = lines.find('\n');
  row = lines.substr(0, end);
  hasLines = end != std::string_view::npos;
  if (hasLines)
    lines.remove_prefix(end + 1);
  if (row.ends_with('\r'))
    row.remove_suffix(1);
  ++line;
  currentPlace = {0, currentOffset + 1, line};
  KafkaPlace &place = active->place;
  place.offset = hasLines ? currentOffset : currentOffset + 1;
  place.line = hasLines ? line + 1 : 1;
  return true;
}

Expected<bool> KafkaRows::next(std::string_view &row) {
  while (!takeLine(row)) {
    auto chosen = choose();
    PDLRT_RETURN_IF_ERROR(chosen.status());
    if (!*chosen)
      return false;
    beginMessage(**chosen);
    PDLRT_RETURN_IF_ERROR(beginLines());
  }
  return true;
}

Expected<bool> KafkaRows::nextMessage(std::string_view &bytes,
                                      int64_t &passed) {
  do {
    auto chosen = choose();
    PDLRT_RETURN_IF_ERROR(chosen.status());
    if (!*chosen)
      return false;
    beginMessage(**chosen);
  } while (!message->payload);
  bytes = {static_cast<const char *>(message->payload), message->len};
  passed = std::exchange(active->skipsLines, 0);
  active->place.offset = currentOffset;
  active->place.line = passed + 1;
  return true;
}

void KafkaRows::takeRows(int64_t number, int64_t count) {
  line = number;
  currentPlace = {0, currentOffset + 1, line};
  KafkaPlace &place = active->place;
  place.offset = number < count ? currentOffset : currentOffset + 1;
  place.line = number < count ? number + 1 : 1;
}
