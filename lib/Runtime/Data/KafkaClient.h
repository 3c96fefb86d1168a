//===- KafkaClient.h - A connection to the brokers of a topic ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_KAFKACLIENT_H
#define LIB_RUNTIME_DATA_KAFKACLIENT_H

#include "Data/KafkaAddress.h"
#include "Data/KafkaLibrary.h"
#include "Data/ReadWait.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// A connection to the brokers of a topic. It assigns partitions to itself and
/// never joins a consumer group, so brokers keep no offsets for it. While no
/// broker answers, all functions try again until the deadline of the address.
/// Not thread-safe.
class KafkaClient {
public:
  /// Prepares a connection; brokers are not contacted yet. `wait` limits
  /// waiting and must outlive the client; null: no limit.
  static Expected<std::unique_ptr<KafkaClient>>
  create(const KafkaAddress &address, ReadWait *wait);
  ~KafkaClient();
  KafkaClient(const KafkaClient &) = delete;
  KafkaClient &operator=(const KafkaClient &) = delete;

  const KafkaAddress &address() const { return from; }
  /// Returns the name of a partition in messages.
  std::string nameOf(int32_t partition) const;

  /// Returns the numbers of the topic's partitions, ascending.
  Expected<std::vector<int32_t>> findPartitions();
  /// Offsets of a partition: the first one that the broker has, and the one
  /// after the last.
  struct Range {
    int64_t first = 0, end = 0;
  };
  Expected<Range> rangeOf(int32_t partition);
  /// Returns the offset of the first message with that timestamp or a later
  /// one; the end of the partition if there is none.
  Expected<int64_t> offsetAt(int32_t partition, int64_t time);

  /// Messages of a partition, from an offset on. Must be destroyed before the
  /// client.
  class Fetch {
  public:
    ~Fetch();
    Fetch(const Fetch &) = delete;
    Fetch &operator=(const Fetch &) = delete;
    /// Moves messages and errors that have arrived into `into`, which is empty.
    /// Does not wait. The caller destroys them.
    void take(std::vector<rd_kafka_message_t *> &into);

  private:
    friend class KafkaClient;
    Fetch(KafkaClient &client, int32_t partition)
        : client(client), partition(partition) {}
    KafkaClient &client;
    const int32_t partition;
    rd_kafka_queue_t *queue = nullptr;
  };
  /// Starts to fetch messages. A partition can have one `Fetch` at a time.
  Expected<std::unique_ptr<Fetch>> fetch(int32_t partition, int64_t offset);
  /// Returns the end of a partition that the last answer has named; none if
  /// there was no answer yet.
  std::optional<int64_t> knownEnd(int32_t partition) const;
  /// Returns the timestamp of a message in milliseconds since 1970; 0 if it has
  /// none.
  int64_t timeOf(const rd_kafka_message_t &message) const;
  void destroy(rd_kafka_message_t *message) const {
    library->message_destroy_(message);
  }

  /// Waits for messages for at most `milliseconds`. Returns an error if the
  /// process is asked to stop, if waiting was ended, if it takes too long
  /// (`ReadWait::isLate`), or if no broker has answered until the deadline.
  Status await(int64_t milliseconds);
  /// Returns the error of an answer. If the cause may be temporary, records it
  /// and returns success.
  Status noteError(int32_t partition, rd_kafka_resp_err_t error,
                   const char *text);
  /// Records that a broker has answered.
  void noteAnswer();

private:
  using Clock = std::chrono::steady_clock;
  KafkaClient(const KafkaAddress &address, const kafka::Library *library,
              ReadWait *wait)
      : from(address), library(library), wait(wait) {}
  Status connect();
  Status configure(rd_kafka_conf_t *conf) const;
  Status readProperties(rd_kafka_conf_t *conf) const;
  Status retry(int32_t partition,
               const std::function<rd_kafka_resp_err_t(int)> &call);
  Status checkDeadline();
  void noteDown(const std::string &reason);
  static void onError(rd_kafka_t *, int error, const char *reason,
                      void *client);
  static void onLog(const rd_kafka_t *, int level, const char *facility,
                    const char *text);
  Expected<int64_t> timeAt(int32_t partition, int64_t offset);

  const KafkaAddress from;
  const kafka::Library *const library;
  ReadWait *const wait;
  rd_kafka_t *handle = nullptr;
  rd_kafka_topic_t *topic = nullptr;
  /// Becomes readable when messages arrive.
  int event = -1;
  /// Partitions that are fetched.
  std::vector<int32_t> fetched;
  /// Error that trying again does not remove.
  Status failure;
  /// Time since which no broker has answered, with the reason.
  std::optional<Clock::time_point> downSince;
  std::string downReason;
  bool hasWarned = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_KAFKACLIENT_H
