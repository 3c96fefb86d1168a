//===- KafkaMetrics.h - Registered metrics of a partition -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_KAFKAMETRICS_H
#define LIB_RUNTIME_DATA_KAFKAMETRICS_H

#include "pdlrt/Core/MetricRegistry.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Metrics of one partition that this process reads. Not thread-safe.
class KafkaMetrics {
public:
  KafkaMetrics(const std::string &topic, int32_t partition);

  /// Records a message that was taken: the offset after it, and its timestamp
  /// in milliseconds since 1970.
  void noteMessage(int64_t nextOffset, int64_t timeMs);
  /// Records a message without content.
  void noteNull() { ++nulls; }
  /// Records the next offset, if offsets have no message.
  void noteNext(int64_t nextOffset);
  /// Records the end of the partition that the broker has named.
  void noteEnd(int64_t end);

private:
  void setLag();

  Counter messages, nulls;
  Gauge lag, next, end, eventTime;
};

/// Declares the metrics, so that they appear in lists of metrics before a topic
/// is read.
void declareKafkaMetrics();

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_KAFKAMETRICS_H
