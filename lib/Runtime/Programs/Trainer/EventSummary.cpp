//===- EventSummary.cpp - Values for TensorBoard -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EventSummary.h"

#include "Data/WireWriter.h"
#include "pdlabi/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace pdlrt;

namespace {

/// Numbers of fields in TensorFlow's summary.proto, tensor.proto and
/// tensor_shape.proto, and in TensorBoard's plugin_data.proto of curves.
enum SummaryField : uint64_t {
  SummaryValue = 1,
  ValueTag = 1,
  ValueScalar = 2,
  ValueHistogram = 5,
  ValueTensor = 8,
  ValueMetadata = 9,
  HistogramMin = 1,
  HistogramMax = 2,
  HistogramCount = 3,
  HistogramSum = 4,
  HistogramSquares = 5,
  HistogramLimits = 6,
  HistogramCounts = 7,
  TensorType = 1,
  TensorShape = 2,
  TensorFloats = 5,
  ShapeDimension = 2,
  DimensionSize = 1,
  MetadataPlugin = 1,
  PluginName = 1,
  PluginContent = 2,
  CurveThresholds = 2
};

/// Rows of the tensor of a curve, in the order of TensorBoard.
enum CurveRow : size_t {
  TruePositives,
  FalsePositives,
  TrueNegatives,
  FalseNegatives,
  Precision,
  Recall,
  CurveRows
};

} // namespace

void EventSummary::add(const std::string &tag, const std::string &content,
                       const std::string &metadata) {
  std::string value;
  appendBytes(ValueTag, tag, value);
  value += content;
  if (!metadata.empty())
    appendBytes(ValueMetadata, metadata, value);
  appendBytes(SummaryValue, value, bytes);
}

void EventSummary::addScalar(const std::string &tag, double value) {
  std::string content;
  appendReal(ValueScalar, float(value), content);
  add(tag, content);
}

void EventSummary::addFigures(const std::string &tag,
                              const nlohmann::ordered_json &figures) {
  for (const auto &[name, value] : figures.items()) {
    const std::string path = tag + "/" + name;
    if (value.is_object())
      addFigures(path, value);
    // A scalar has 32 bits.
    else if (value.is_number() && std::isfinite(float(value.get<double>())))
      addScalar(path, value.get<double>());
  }
}

/// Returns the encoded histogram of `values`, without those that are not
/// finite; empty if no value is left.
template <typename T>
static std::string histogramOf(std::span<const T> values) {
  double smallest = INFINITY, largest = -INFINITY, count = 0, sum = 0,
         squares = 0;
  for (const double value : values) {
    if (!std::isfinite(value))
      continue;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
    ++count;
    sum += value;
    squares += value * value;
  }
  if (count == 0)
    return {};
  // As in TensorFlow, all buckets have the same width.
  constexpr size_t buckets = 30;
  // The difference of extreme values is not finite, but that of their halves
  // is.
  const double scale = std::isfinite(largest - smallest) ? 1.0 : 0.5;
  const double width = (scale * largest - scale * smallest) / double(buckets);
  std::array<double, buckets> counts = {}, limits = {};
  for (size_t b = 0; b < buckets; ++b)
    limits[b] = b + 1 == buckets
                    ? largest
                    : (scale * smallest + width * double(b + 1)) / scale;
  for (const double value : values)
    if (std::isfinite(value)) {
      const double place =
          width > 0 ? (scale * value - scale * smallest) / width : 0.0;
      ++counts[std::min(size_t(place), buckets - 1)];
    }
  std::string histogram, limitBytes, countBytes;
  for (size_t b = 0; b < buckets; ++b) {
    limitBytes += bytesOf(limits[b]);
    countBytes += bytesOf(counts[b]);
  }
  appendReal(HistogramMin, smallest, histogram);
  appendReal(HistogramMax, largest, histogram);
  appendReal(HistogramCount, count, histogram);
  appendReal(HistogramSum, sum, histogram);
  appendReal(HistogramSquares, squares, histogram);
  appendBytes(HistogramLimits, limitBytes, histogram);
  appendBytes(HistogramCounts, countBytes, histogram);
  std::string content;
  appendBytes(ValueHistogram, histogram, content);
  return content;
}

void EventSummary::addHistogram(const std::string &tag,
                                std::span<const float> values) {
  if (const std::string content = histogramOf(values); !content.empty())
    add(tag, content);
}

void EventSummary::addHistogram(const std::string &tag,
                                std::span<const double> values) {
  if (const std::string content = histogramOf(values); !content.empty())
    add(tag, content);
}

/// Returns a share, or 0 if there is no whole.
static double shareOf(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

void EventSummary::addPrecisionRecall(const std::string &tag,
                                      std::span<const double> buckets) {
  // TensorBoard expects thresholds that divide [0, 1] into equal parts.
  constexpr size_t thresholds = 201;
  const size_t count = buckets.size() / 2;
  // Weights of the samples in each bucket and all later ones.
  std::vector<double> negatives(count + 1), positives(count + 1);
  for (size_t b = count; b-- > 0;) {
    negatives[b] = negatives[b + 1] + buckets[b];
    positives[b] = positives[b + 1] + buckets[count + b];
  }
  std::vector<float> curve(size_t(CurveRows) * thresholds);
  for (size_t t = 0; t < thresholds; ++t) {
    const double threshold = double(t) / double(thresholds - 1);
    const auto bucket = size_t(pdlabi::AreaUnderCurve::bucketOf(
        pdlabi::positionOfOdds(threshold), double(count)));
    const double hits = positives[bucket], alarms = negatives[bucket];
    const auto set = [&](CurveRow row, double value) {
      curve[size_t(row) * thresholds + t] = float(value);
    };
    set(TruePositives, hits);
    set(FalsePositives, alarms);
    set(TrueNegatives, negatives[0] - alarms);
    set(FalseNegatives, positives[0] - hits);
    set(Precision, shareOf(hits, hits + alarms));
    set(Recall, shareOf(hits, positives[0]));
  }
  std::string shape, floats, tensor, content;
  for (const size_t size : {size_t(CurveRows), thresholds}) {
    std::string dimension;
    appendInteger(DimensionSize, int64_t(size), dimension);
    appendBytes(ShapeDimension, dimension, shape);
  }
  for (const float value : curve)
    floats += bytesOf(value);
  constexpr int64_t typeFloat = 1;
  appendInteger(TensorType, typeFloat, tensor);
  appendBytes(TensorShape, shape, tensor);
  appendBytes(TensorFloats, floats, tensor);
  appendBytes(ValueTensor, tensor, content);
  std::string data, plugin, metadata;
  appendInteger(CurveThresholds, int64_t(thresholds), data);
  appendBytes(PluginName, "pr_curves", plugin);
  appendBytes(PluginContent, data, plugin);
  appendBytes(MetadataPlugin, plugin, metadata);
  add(tag, content, metadata);
}
