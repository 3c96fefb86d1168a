//===- KafkaMetrics.cpp - Registered metrics of a partition ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaMetrics.h"

#include <algorithm>
#include <vector>

using namespace pdlrt;

namespace {

/// The metric families of partitions.
struct KafkaFamilies {
  const CounterFamily messages{
      {.name = "pdl_data_kafka_messages_total",
       .unit = "messages",
       .help = "Messages of a partition that were read. A message that is read "
               "again after a restart counts again",
       .labels = {"partition", "topic"}}};
  const CounterFamily nulls{
      {.name = "pdl_data_kafka_null_messages_total",
       .unit = "messages",
       .help = "Messages without content (tombstones), which are no rows",
       .labels = {"partition", "topic"}}};
  const GaugeFamily lag{
      {.name = "pdl_data_kafka_lag_messages",
       .unit = "messages",
       .help = "Offsets between the next message to read and the high-water "
               "mark of the partition",
       .labels = {"partition", "topic"}}};
  const GaugeFamily next{
      {.name = "pdl_data_kafka_next_offset",
       .unit = "",
       .help = "Offset of the next message to read. Checkpoints have the "
               "offset of the next message to train, which may be lower",
       .labels = {"partition", "topic"}}};
  const GaugeFamily end{
      {.name = "pdl_data_kafka_high_watermark",
       .unit = "",
       .help = "High-water mark of the partition: the offset after the last "
               "message that can be read",
       .labels = {"partition", "topic"}}};
  const GaugeFamily eventTime{
      {.name = "pdl_data_kafka_event_time_seconds",
       .unit = "seconds",
       .help = "Timestamp of the last message that was read, since 1970",
       .labels = {"partition", "topic"}}};
};

} // namespace

static const KafkaFamilies &kafkaFamilies() {
  return processMetrics<KafkaFamilies>();
}

void pdlrt::declareKafkaMetrics() { kafkaFamilies(); }

static std::vector<std::string> labelsOf(const std::string &topic,
                                         int32_t partition) {
  return {std::to_string(partition), topic};
}

KafkaMetrics::KafkaMetrics(const std::string &topic, int32_t partition)
    : messages(kafkaFamilies().messages.add(labelsOf(topic, partition))),
      nulls(kafkaFamilies().nulls.add(labelsOf(topic, partition))),
      lag(kafkaFamilies().lag.add(labelsOf(topic, partition))),
      next(kafkaFamilies().next.add(labelsOf(topic, partition))),
      end(kafkaFamilies().end.add(labelsOf(topic, partition))),
      eventTime(kafkaFamilies().eventTime.add(labelsOf(topic, partition))) {}

void KafkaMetrics::noteMessage(int64_t nextOffset, int64_t timeMs) {
  ++messages;
  noteNext(nextOffset);
  eventTime.set(double(timeMs) / 1000);
}

void KafkaMetrics::noteNext(int64_t nextOffset) {
  next.set(double(nextOffset));
  setLag();
}

void KafkaMetrics::noteEnd(int64_t newEnd) {
  end.set(double(newEnd));
  setLag();
}

void KafkaMetrics::setLag() {
  lag.set(std::max(end.value() - next.value(), 0.0));
}
