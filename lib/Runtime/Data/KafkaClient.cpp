//===- KafkaClient.cpp - A connection to the brokers of a topic -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaClient.h"

#include "pdlrt/Core/BlockedSignals.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace pdlrt;
using std::chrono::milliseconds;

/// Maximum duration of one request, in milliseconds. A process that is asked to
/// stop waits for the end of the request.
static constexpr int requestMs = 1000;
/// Number of messages that are taken at once.
static constexpr size_t fetchedAtOnce = 512;
/// Partition number of errors that do not belong to one partition.
static constexpr int32_t noPartition = RD_KAFKA_PARTITION_UA;

Expected<std::unique_ptr<KafkaClient>>
KafkaClient::create(const KafkaAddress &address, ReadWait *wait) {
  auto library = kafka::openLibrary();
  if (!library)
    return Status(library.status()).withContext(address.name());
  std::unique_ptr<KafkaClient> client(new KafkaClient(address, *library, wait));
  PDLRT_RETURN_IF_ERROR(client->connect());
  return client;
}

KafkaClient::~KafkaClient() {
  if (topic)
    library->topic_destroy_(topic);
  if (handle)
    library->destroy_(handle);
  if (event >= 0)
    ::close(event);
}

std::string KafkaClient::nameOf(int32_t partition) const {
  return from.topicName() + (partition == noPartition
                                 ? ""
                                 : "[" + std::to_string(partition) + "]");
}

/// Sets the properties of a file. Messages do not contain values, which may be
/// secret.
Status KafkaClient::readProperties(rd_kafka_conf_t *conf) const {
  std::ifstream stream(from.configFile);
  if (!stream)
    return Status::notFound(from.configFile +
                            ": cannot be read as properties of librdkafka; "
                            "name a file that can with config=");
  int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.ends_with('\r'))
      line.pop_back();
    if (line.empty() || line.starts_with('#'))
      continue;
    const size_t equals = line.find('=');
    const std::string name = line.substr(0, equals);
    char text[512];
    if (equals == std::string::npos ||
        library->conf_set_(conf, name.c_str(), line.c_str() + equals + 1, text,
                           sizeof(text)) != RD_KAFKA_CONF_OK)
      return Status::invalidArgument(
          from.configFile + ":" + std::to_string(number) + ": " +
          (equals == std::string::npos
               ? "is no property; write name=value"
               : "librdkafka refuses the property " + name +
                     ": it has no such property, or the value is wrong"));
  }
  return {};
}

Status KafkaClient::configure(rd_kafka_conf_t *conf) const {
  const auto set = [&](const std::string &name, const std::string &value) {
    char text[512];
    return library->conf_set_(conf, name.c_str(), value.c_str(), text,
                              sizeof(text)) == RD_KAFKA_CONF_OK
               ? Status()
               : Status::invalidArgument(from.name() + ": " + text);
  };
  PDLRT_RETURN_IF_ERROR(set("client.id", "pdl"));
  // Some requests to a broker that is down wait for this long.
  PDLRT_RETURN_IF_ERROR(set("socket.timeout.ms", "5000"));
  if (!from.configFile.empty())
    PDLRT_RETURN_IF_ERROR(readProperties(conf));
  for (const auto &[name, value] : from.properties)
    PDLRT_RETURN_IF_ERROR(set(name, value));
  // Offsets are in checkpoints only. An offset that the broker does not have
  // is an error, not a reason to continue elsewhere.
  static constexpr std::pair<const char *, const char *> fixed[] = {
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"enable.partition.eof", "true"},
      {"check.crcs", "true"}};
  for (const auto &[name, value] : fixed)
    PDLRT_RETURN_IF_ERROR(set(name, value));
  return set("bootstrap.servers", from.brokers);
}

Status KafkaClient::connect() {
  event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0)
    return Status::ofErrno(errno, from.name() + ": cannot wait for messages: " +
                                      std::strerror(errno));
  rd_kafka_conf_t *const conf = library->conf_new_();
  library->conf_set_opaque_(conf, this);
  library->conf_set_error_cb_(conf, onError);
  library->conf_set_log_cb_(conf, onLog);
  if (Status status = configure(conf); !status.ok()) {
    library->conf_destroy_(conf);
    return status;
  }
  char text[512];
  const BlockedSignals blocked;
  handle = library->new_(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
  if (!handle) {
    library->conf_destroy_(conf);
    return Status::invalidArgument(from.name() + ": " + text);
  }
  topic = library->topic_new_(handle, from.topic.c_str(), nullptr);
  return topic ? Status()
               : Status::invalidArgument(
                     from.name() + ": " +
                     library->err2str_(library->last_error_()));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Returns true if the same request may succeed later.
static bool isTemporary(rd_kafka_resp_err_t error) {
  static constexpr rd_kafka_resp_err_t all[] = {
      RD_KAFKA_RESP_ERR__TRANSPORT,
      RD_KAFKA_RESP_ERR__TIMED_OUT,
      RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
      RD_KAFKA_RESP_ERR__RESOLVE,
      RD_KAFKA_RESP_ERR__BAD_MSG,
      RD_KAFKA_RESP_ERR__WAIT_CACHE,
      RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
      RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
      RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
      RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
      RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
      RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_PREFERRED_LEADER_NOT_AVAILABLE};
  return std::ranges::find(all, error) != std::end(all);
}

void KafkaClient::onError(rd_kafka_t *, int error, const char *reason,
                          void *client) {
  auto &self = *static_cast<KafkaClient *>(client);
  if (isTemporary(rd_kafka_resp_err_t(error)))
    self.noteDown(reason);
  else if (self.failure.ok())
    self.failure = Status::failedPrecondition(
        self.from.name() + ": " + reason +
        "; mend the address or the properties of config=");
}

void KafkaClient::onLog(const rd_kafka_t *, int level, const char *facility,
                        const char *text) {
  // Errors are reported by `onError`. Other lines are requested by the property
  // `debug`.
  constexpr int debugLevel = 7;
  if (level == debugLevel)
    logInfo(std::string("librdkafka ") + facility + ": " + text);
}

Status KafkaClient::noteError(int32_t partition, rd_kafka_resp_err_t error,
                              const char *text) {
  if (isTemporary(error)) {
    noteDown(text);
    return {};
  }
  const std::string name = nameOf(partition);
  switch (error) {
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
  case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    return Status::notFound(name + ": the brokers have no such " +
                            (partition == noPartition ? "topic" : "partition") +
                            "; check the name, or create it");
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    return Status::failedPrecondition(
        name + ": the brokers do not let this user read the topic; grant it, "
               "or give another user with config=FILE");
  default:
    return Status::unavailable(name + ": " + text);
  }
}

void KafkaClient::noteDown(const std::string &reason) {
  downReason = reason;
  if (!downSince)
    downSince = Clock::now();
}

void KafkaClient::noteAnswer() {
  if (hasWarned)
    logInfo(from.name() + ": the broker answers again");
  downSince.reset();
  hasWarned = false;
}

/// Reports that no broker answers, and returns an error after the deadline.
Status KafkaClient::checkDeadline() {
  PDLRT_RETURN_IF_ERROR(failure);
  if (!downSince)
    return {};
  const auto down = Clock::now() - *downSince;
  const auto left = milliseconds(from.deadlineMs) - down;
  // Connections may be closed and opened again without any harm.
  if (!hasWarned && down > milliseconds(requestMs)) {
    hasWarned = true;
    logWarning(from.name() + ": a broker does not answer (" + downReason +
               "); trying again for " +
               std::to_string(std::max<int64_t>(
                   std::chrono::ceil<std::chrono::seconds>(left).count(), 0)) +
               " s");
  }
  if (left > milliseconds(0))
    return {};
  // Brokers may have nothing to send, so ask them.
  const auto answers = [&](int32_t partition) {
    int64_t first = 0, end = 0;
    return library->query_watermark_offsets_(
               handle, from.topic.c_str(), partition, &first, &end,
               requestMs) == RD_KAFKA_RESP_ERR_NO_ERROR;
  };
  if (!fetched.empty() && std::ranges::all_of(fetched, answers)) {
    noteAnswer();
    return {};
  }
  return Status::deadlineExceeded(
      from.name() + ": the broker has not answered for " +
      std::to_string(from.deadlineMs / 1000) + " s: " + downReason +
      "; check the address and the brokers, or wait longer with deadline=");
}

Status KafkaClient::await(int64_t limit) {
  const auto begin = Clock::now();
  pollfd events[] = {{event, POLLIN, 0},
                     {stopDescriptor(), POLLIN, 0},
                     {wait ? wait->descriptor() : -1, POLLIN, 0}};
  while (true) {
    library->poll_(handle, 0);
    PDLRT_RETURN_IF_ERROR(checkDeadline());
    const int64_t passed =
        std::chrono::floor<milliseconds>(Clock::now() - begin).count();
    const int64_t patience = wait ? wait->timeout() : -1;
    int64_t left = std::clamp<int64_t>(limit - passed, 0, 200);
    if (patience >= 0)
      left = std::min(left, patience);
    if (::poll(events, std::size(events), int(left)) < 0) {
      if (errno == EINTR)
        continue;
      return Status::ofErrno(
          errno, from.name() + ": cannot wait: " + std::strerror(errno));
    }
    if (events[0].revents != 0) {
      uint64_t count = 0;
      (void)!::read(event, &count, sizeof(count));
      return {};
    }
    if (events[1].revents != 0)
      return Status::cancelled(from.name() +
                               ": was not read to its end, because the "
                               "process was told to stop");
    if (events[2].revents != 0)
      return Status::cancelled(from.name() +
                               ": was not read to its end, because no "
                               "reader wants the rest of it");
    if (wait && wait->timeout() == 0) {
      wait->noteLate();
      return Status::unavailable(from.name() +
                                 ": has no more messages for now");
    }
    if (passed >= limit)
      return {};
  }
}

/// Calls `call`, which gets the maximum time in milliseconds, until it
/// succeeds.
Status KafkaClient::retry(int32_t partition,
                          const std::function<rd_kafka_resp_err_t(int)> &call) {
  while (true) {
    const rd_kafka_resp_err_t error = call(requestMs);
    library->poll_(handle, 0);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      noteAnswer();
      return {};
    }
    // A more exact reason may be known from the connection.
    const std::string reason =
        downSince && error == RD_KAFKA_RESP_ERR__TRANSPORT
            ? downReason
            : library->err2str_(error);
    PDLRT_RETURN_IF_ERROR(noteError(partition, error, reason.c_str()));
    PDLRT_RETURN_IF_ERROR(await(100));
  }
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Expected<std::vector<int32_t>> KafkaClient::findPartitions() {
  std::vector<int32_t> numbers;
  PDLRT_RETURN_IF_ERROR(retry(noPartition, [&](int limit) {
    const struct rd_kafka_metadata *found = nullptr;
    rd_kafka_resp_err_t error =
        library->metadata_(handle, 0, topic, &found, limit);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
      return error;
    numbers.clear();
    for (int t = 0; t < found->topic_cnt; ++t) {
      const rd_kafka_metadata_topic_t &each = found->topics[t];
      error = each.err;
      for (int p = 0; p < each.partition_cnt; ++p)
        numbers.push_back(each.partitions[p].id);
    }
    library->metadata_destroy_(found);
    return error == RD_KAFKA_RESP_ERR_NO_ERROR && numbers.empty()
               ? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
               : error;
  }));
  std::ranges::sort(numbers);
  return numbers;
}

Expected<KafkaClient::Range> KafkaClient::rangeOf(int32_t partition) {
  Range range;
  PDLRT_RETURN_IF_ERROR(retry(partition, [&](int limit) {
    return library->query_watermark_offsets_(
        handle, from.topic.c_str(), partition, &range.first, &range.end, limit);
  }));
  return range;
}

/// Returns the timestamp of the first message from `offset` on.
Expected<int64_t> KafkaClient::timeAt(int32_t partition, int64_t offset) {
  auto messages = fetch(partition, offset);
  PDLRT_RETURN_IF_ERROR(messages.status());
  std::vector<rd_kafka_message_t *> taken;
  std::optional<int64_t> time;
  Status status;
  while (!time && status.ok()) {
    (*messages)->take(taken);
    for (rd_kafka_message_t *message : taken) {
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && !time)
        time = timeOf(*message);
      else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && !time)
        time = INT64_MAX;
      else if (message->err && !time && status.ok())
        status =
            noteError(partition, message->err, library->err2str_(message->err));
      destroy(message);
    }
    taken.clear();
    if (!time && status.ok())
      status = await(requestMs);
  }
  PDLRT_RETURN_IF_ERROR(std::move(status));
  return *time;
}

Expected<int64_t> KafkaClient::offsetAt(int32_t partition, int64_t time) {
  int64_t found = RD_KAFKA_OFFSET_END;
  PDLRT_RETURN_IF_ERROR(retry(partition, [&](int limit) {
    rd_kafka_topic_partition_list_t *const list =
        library->topic_partition_list_new_(1);
    rd_kafka_topic_partition_t *const entry =
        library->topic_partition_list_add_(list, from.topic.c_str(), partition);
    entry->offset = time;
    rd_kafka_resp_err_t error =
        library->offsets_for_times_(handle, list, limit);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
      error = entry->err;
    found = entry->offset;
    library->topic_partition_list_destroy_(list);
    return error;
  }));
  if (found >= 0)
    return found;
  auto range = rangeOf(partition);
  PDLRT_RETURN_IF_ERROR(range.status());
  // Some brokers have no index of timestamps and always name the end. Check the
  // last message, and search by bisection if it is late enough.
  int64_t first = range->first, end = range->end;
  bool isSearched = false;
  while (first < end) {
    const int64_t middle = isSearched ? first + (end - first) / 2 : end - 1;
    auto there = timeAt(partition, middle);
    PDLRT_RETURN_IF_ERROR(there.status());
    if (*there >= time)
      end = middle;
    else
      first = middle + 1;
    isSearched = true;
  }
  return end;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<KafkaClient::Fetch>>
KafkaClient::fetch(int32_t partition, int64_t offset) {
  std::unique_ptr<Fetch> messages(new Fetch(*this, partition));
  rd_kafka_queue_t *const queue = library->queue_new_(handle);
  static constexpr uint64_t one = 1;
  library->queue_io_event_enable_(queue, event, &one, sizeof(one));
  if (library->consume_start_queue_(topic, partition, offset, queue) != 0) {
    const std::string text = library->err2str_(library->last_error_());
    library->queue_destroy_(queue);
    return Status::invalidArgument(nameOf(partition) + ": " + text);
  }
  messages->queue = queue;
  fetched.push_back(partition);
  return messages;
}

KafkaClient::Fetch::~Fetch() {
  if (!queue)
    return;
  std::erase(client.fetched, partition);
  client.library->consume_stop_(client.topic, partition);
  client.library->queue_io_event_enable_(queue, -1, nullptr, 0);
  client.library->queue_destroy_(queue);
}

void KafkaClient::Fetch::take(std::vector<rd_kafka_message_t *> &into) {
  into.resize(fetchedAtOnce);
  const ssize_t count =
      client.library->consume_batch_queue_(queue, 0, into.data(), into.size());
  into.resize(size_t(std::max<ssize_t>(count, 0)));
}

std::optional<int64_t> KafkaClient::knownEnd(int32_t partition) const {
  int64_t first = 0, end = -1;
  if (library->get_watermark_offsets_(handle, from.topic.c_str(), partition,
                                      &first,
                                      &end) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      end < 0)
    return std::nullopt;
  return end;
}

int64_t KafkaClient::timeOf(const rd_kafka_message_t &message) const {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t time = library->message_timestamp_(&message, &type);
  return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? 0
                                                  : std::max<int64_t>(time, 0);
}
