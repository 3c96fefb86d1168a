//===- EventSummary.h - Values for TensorBoard ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_EVENTSUMMARY_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_EVENTSUMMARY_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Values of one step for TensorBoard: a message `Summary` of TensorFlow's
/// summary.proto. Not thread-safe.
class EventSummary {
public:
  void addScalar(const std::string &tag, double value);
  /// Adds each number in `figures` as a scalar. Its tag is the path of its
  /// member, below `tag`: "test/metrics/auc". Leaves out other members.
  void addFigures(const std::string &tag,
                  const nlohmann::ordered_json &figures);
  /// Adds the distribution of `values`. Leaves out values that are not finite.
  /// Adds nothing if no value is left.
  void addHistogram(const std::string &tag, std::span<const float> values);
  void addHistogram(const std::string &tag, std::span<const double> values);
  /// Adds a curve of precision and recall. `buckets` has the sums of a metric
  /// of kind AUC (AreaUnderCurve.h): predictions of negatives, then of
  /// positives. A threshold within a bucket is moved to the beginning of the
  /// bucket.
  void addPrecisionRecall(const std::string &tag,
                          std::span<const double> buckets);

  bool isEmpty() const { return bytes.empty(); }
  /// Returns the encoded message.
  const std::string &message() const { return bytes; }

private:
  void add(const std::string &tag, const std::string &content,
           const std::string &metadata = {});

  std::string bytes;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_EVENTSUMMARY_H
