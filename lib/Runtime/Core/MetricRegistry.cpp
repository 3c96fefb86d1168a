//===- MetricRegistry.cpp - Counters, gauges and histograms ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/Mutex.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

using namespace pdlrt;

std::string_view pdlrt::nameOf(MetricType type) {
  switch (type) {
  case MetricType::Counter:
    return "counter";
  case MetricType::Gauge:
    return "gauge";
  case MetricType::Histogram:
    return "histogram";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// Cells of a family that have the same labels.
struct pdlrt::MetricSeries {
  MetricSeries(const std::vector<std::string> &labels, size_t buckets)
      : ended{labels, 0, 0, std::vector<int64_t>(buckets)} {}

  std::vector<const MetricCell *> cells;
  /// The labels, and the sums of cells that were destroyed.
  MetricValue ended;
};

static void addTo(MetricValue &sum, const MetricCell &cell) {
  sum.whole += cell.whole.load(std::memory_order_relaxed);
  sum.real += cell.real.load(std::memory_order_relaxed);
  for (size_t b = 0; b < cell.buckets.size(); ++b)
    sum.buckets[b] += cell.buckets[b].load(std::memory_order_relaxed);
}

/// A family of metrics. The registry and the handles of its cells share it.
class pdlrt::MetricFamilyState {
public:
  MetricFamilyState(MetricType type, MetricInfo info)
      : type(type), info(std::move(info)) {}

  MetricSeries *add(const std::vector<std::string> &labels,
                    const MetricCell &cell) {
    const MutexLock lock(mutex);
    MetricSeries &found =
        series.try_emplace(labels, labels, cell.buckets.size()).first->second;
    found.cells.push_back(&cell);
    return &found;
  }

  void remove(MetricSeries &from, const MetricCell &cell) {
    const MutexLock lock(mutex);
    std::erase(from.cells, &cell);
    const bool isGauge = type == MetricType::Gauge;
    if (from.cells.empty() &&
        (isGauge || info.afterLastCell == AfterLastCell::Remove))
      series.erase(series.find(from.ended.labels));
    else if (!isGauge)
      addTo(from.ended, cell);
  }

  std::vector<MetricValue> values() const {
    const MutexLock lock(mutex);
    std::vector<MetricValue> values;
    for (const auto &[labels, each] : series) {
      values.push_back(each.ended);
      for (const MetricCell *cell : each.cells)
        addTo(values.back(), *cell);
    }
    return values;
  }

  const MetricType type;
  const MetricInfo info;

private:
  mutable Mutex mutex;
  std::map<std::vector<std::string>, MetricSeries>
      series PDLRT_GUARDED_BY(mutex);
};

MetricFamily::MetricFamily(MetricType type, MetricInfo info,
                           MetricRegistry &registry)
    : state(std::make_shared<MetricFamilyState>(type, std::move(info))) {
  registry.add(state);
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

static size_t bucketsOf(const MetricFamilyState &family) {
  return family.type == MetricType::Histogram ? family.info.bounds.size() + 1
                                              : 0;
}

MetricHandle::MetricHandle(std::shared_ptr<MetricFamilyState> ofFamily,
                           const std::vector<std::string> &labels)
    : family(std::move(ofFamily)),
      own(std::make_unique<MetricCell>(bucketsOf(*family))) {
  assert(labels.size() == family->info.labels.size());
  series = family->add(labels, *own);
}

MetricHandle::MetricHandle(MetricHandle &&other) noexcept
    : family(std::move(other.family)),
      series(std::exchange(other.series, nullptr)), own(std::move(other.own)) {}

MetricHandle &MetricHandle::operator=(MetricHandle &&other) noexcept {
  if (this == &other)
    return *this;
  release();
  family = std::move(other.family);
  series = std::exchange(other.series, nullptr);
  own = std::move(other.own);
  return *this;
}

MetricHandle::~MetricHandle() { release(); }

void MetricHandle::release() noexcept {
  if (own)
    family->remove(*series, *own);
  own.reset();
}

const std::vector<double> &MetricHandle::bounds() const {
  return family->info.bounds;
}

void Histogram::observe(double value) noexcept {
  // There are few bounds, so a binary search would not be faster.
  const std::vector<double> &upTo = bounds();
  size_t bucket = 0;
  while (bucket < upTo.size() && !(value <= upTo[bucket]))
    ++bucket;
  cell().buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  cell().real.fetch_add(value, std::memory_order_relaxed);
}

std::vector<int64_t> Histogram::counts() const {
  std::vector<int64_t> counts;
  for (const std::atomic<int64_t> &bucket : cell().buckets)
    counts.push_back(bucket.load(std::memory_order_relaxed));
  return counts;
}

int64_t Histogram::count() const noexcept {
  int64_t sum = 0;
  for (const std::atomic<int64_t> &bucket : cell().buckets)
    sum += bucket.load(std::memory_order_relaxed);
  return sum;
}

//===----------------------------------------------------------------------===//
// Registry
//===----------------------------------------------------------------------===//

MetricRegistry &pdlrt::processMetrics() {
  static MetricRegistry registry;
  return registry;
}

void MetricRegistry::add(std::shared_ptr<MetricFamilyState> family) {
  const MutexLock lock(mutex);
  families.push_back(std::move(family));
}

std::vector<std::shared_ptr<MetricFamilyState>> MetricRegistry::sorted() const {
  std::vector<std::shared_ptr<MetricFamilyState>> all;
  {
    const MutexLock lock(mutex);
    all = families;
  }
  std::ranges::sort(all, {}, [](const auto &family) -> const std::string & {
    return family->info.name;
  });
  return all;
}

std::vector<MetricRegistry::Declared> MetricRegistry::declared() const {
  std::vector<Declared> all;
  for (const auto &family : sorted())
    all.push_back({family->type, family->info});
  return all;
}

std::vector<MetricRegistry::Collected> MetricRegistry::collect() const {
  std::vector<Collected> all;
  for (const auto &family : sorted())
    if (std::vector<MetricValue> values = family->values(); !values.empty())
      all.push_back({family->type, family->info, std::move(values)});
  return all;
}

std::string MetricRegistry::description() const {
  std::string out;
  for (const Declared &each : declared())
    fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\n",
                   each.info.name, nameOf(each.type), each.info.unit,
                   fmt::join(each.info.labels, ","), each.info.help);
  return out;
}

//===----------------------------------------------------------------------===//
// Text format
//===----------------------------------------------------------------------===//

/// Appends a text, and escapes the characters for which the format requires it.
static void appendEscaped(std::string &out, std::string_view text,
                          bool isQuoted) {
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && isQuoted)
      out += "\\\"";
    else
      out += c;
  }
}

static std::string textOf(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

static std::string textOf(const MetricValue &value) {
  // Whole numbers of more than 53 bits are exact.
  return value.real == 0 ? fmt::format("{}", value.whole)
                         : textOf(value.value());
}

/// Returns a sample. `le`: the upper bound of a bucket; may be empty.
static MetricRegistry::Sample sampleOf(const MetricInfo &info,
                                       const MetricValue &value,
                                       std::string_view suffix,
                                       std::string number,
                                       std::string_view le = {}) {
  std::string name = info.name;
  name += suffix;
  char separator = '{';
  const auto append = [&](std::string_view label, std::string_view text) {
    name += std::exchange(separator, ',');
    name += label;
    name += "=\"";
    appendEscaped(name, text, /*isQuoted=*/true);
    name += '"';
  };
  for (size_t l = 0; l < info.labels.size(); ++l)
    append(info.labels[l], value.labels[l]);
  if (!le.empty())
    append("le", le);
  if (separator == ',')
    name += '}';
  return {std::move(name), std::move(number)};
}

static void addSamples(const MetricRegistry::Collected &family,
                       std::vector<MetricRegistry::Sample> &samples) {
  const MetricInfo &info = family.info;
  for (const MetricValue &value : family.values) {
    if (family.type != MetricType::Histogram) {
      samples.push_back(sampleOf(info, value, "", textOf(value)));
      continue;
    }
    // The count is that of the buckets, so that both agree during an update.
    int64_t count = 0;
    for (size_t b = 0; b <= info.bounds.size(); ++b) {
      count += value.buckets[b];
      samples.push_back(
          sampleOf(info, value, "_bucket", fmt::format("{}", count),
                   b < info.bounds.size() ? textOf(info.bounds[b]) : "+Inf"));
    }
    samples.push_back(sampleOf(info, value, "_sum", textOf(value.real)));
    samples.push_back(
        sampleOf(info, value, "_count", fmt::format("{}", count)));
  }
}

std::vector<MetricRegistry::Sample> MetricRegistry::samples() const {
  std::vector<Sample> all;
  for (const Collected &family : collect())
    addSamples(family, all);
  return all;
}

std::string MetricRegistry::text() const {
  std::string out;
  std::vector<Sample> lines;
  for (const Collected &family : collect()) {
    out += "# HELP " + family.info.name + " ";
    appendEscaped(out, family.info.help, /*isQuoted=*/false);
    fmt::format_to(std::back_inserter(out), "\n# TYPE {} {}\n",
                   family.info.name, nameOf(family.type));
    lines.clear();
    addSamples(family, lines);
    for (const Sample &line : lines)
      fmt::format_to(std::back_inserter(out), "{} {}\n", line.name, line.value);
  }
  return out;
}
