//===- MetricRegistry.h - Counters, gauges and histograms -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers that describe a running process: how many steps it has done, how many
// bytes it has sent, how many rows it holds. Reports, traces and exporters read
// them from here. The metrics of models, such as AUC, are in
// `Kernels/Metrics.h`.
//
// A family is a metric with a name and labels. It is declared once:
//
//   static const CounterFamily steps({.name = "pdl_trainer_steps_total", ...});
//
// Declare families in functions, not at namespace scope: constructors must not
// run before `main` has checked the CPU.
//
// Each object that counts something adds its own cell to the family. Only this
// object updates the cell:
//
//   Counter own = steps.add({"train"});
//   own.add(1);
//
// The object can read its own cell for reports. An exporter sees the sum of all
// cells with the same labels. So cells need no lock, and two objects that count
// the same thing do not share a cache line. An update of a counter is one
// atomic addition. Declaring a family and adding a cell allocate memory and
// take a lock.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_METRICREGISTRY_H
#define PDLRT_CORE_METRICREGISTRY_H

#include "pdlrt/Core/Mutex.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

enum class MetricType { Counter, Gauge, Histogram };

/// Returns the name of the type in Prometheus' text format.
std::string_view nameOf(MetricType type);

/// Selects what happens to a combination of label values when its last cell is
/// destroyed.
enum class AfterLastCell {
  /// Counters and histograms keep their value, so that they never decrease.
  /// Gauges are removed.
  Keep,
  /// The label values and their value are removed.
  Remove,
};

/// The declaration of a family.
struct MetricInfo {
  /// Letters, digits and underscores. Counters end with "_total"; a base unit
  /// precedes that ("_seconds_total").
  std::string name;
  /// A plural noun: "seconds", "bytes", "steps". Empty for a number without
  /// unit, such as a version.
  std::string unit;
  /// Explanation for operators, in one line.
  std::string help;
  /// Names of the labels. `add` takes the values in this order.
  std::vector<std::string> labels = {};
  AfterLastCell afterLastCell = AfterLastCell::Keep;
  /// Upper bounds of the buckets of a histogram, in ascending order. One more
  /// bucket, without an upper bound, follows and is not listed.
  std::vector<double> bounds = {};
};

/// The numbers that one object has counted. The value of a counter is `whole` +
/// `real`.
struct alignas(64) MetricCell {
  explicit MetricCell(size_t buckets) : buckets(buckets) {}
  MetricCell(const MetricCell &) = delete;
  MetricCell &operator=(const MetricCell &) = delete;

  std::atomic<int64_t> whole = 0;
  /// Value of a gauge, and sum of the observations of a histogram.
  std::atomic<double> real = 0;
  /// Number of observations by bucket; empty for counters and gauges.
  std::vector<std::atomic<int64_t>> buckets;
};

/// Sum of all cells with these labels, destroyed ones too (`AfterLastCell`).
/// Cells change while they are read, so members may disagree by some updates.
struct MetricValue {
  std::vector<std::string> labels;
  int64_t whole = 0;
  double real = 0;
  std::vector<int64_t> buckets = {};

  /// Returns the value of a counter or gauge, or the sum of a histogram.
  double value() const { return double(whole) + real; }
};

struct MetricSeries;
class MetricFamilyState;

/// Owner of a cell. The destructor removes the cell from its family. A handle
/// that was moved from can only be assigned or destroyed.
class MetricHandle {
public:
  MetricHandle(const MetricHandle &) = delete;
  MetricHandle &operator=(const MetricHandle &) = delete;
  MetricHandle(MetricHandle &&other) noexcept;
  MetricHandle &operator=(MetricHandle &&other) noexcept;
  ~MetricHandle();

protected:
  MetricHandle(std::shared_ptr<MetricFamilyState> family,
               const std::vector<std::string> &labels);

  MetricCell &cell() { return *own; }
  const MetricCell &cell() const { return *own; }
  const std::vector<double> &bounds() const;

private:
  void release() noexcept;

  std::shared_ptr<MetricFamilyState> family;
  MetricSeries *series = nullptr;
  std::unique_ptr<MetricCell> own;
};

/// Counts events. Thread-safe.
class Counter : public MetricHandle {
public:
  void add(int64_t count) noexcept {
    cell().whole.fetch_add(count, std::memory_order_relaxed);
  }
  Counter &operator+=(int64_t count) noexcept {
    add(count);
    return *this;
  }
  Counter &operator++() noexcept { return *this += 1; }
  /// Returns what was added through this handle.
  int64_t value() const noexcept {
    return cell().whole.load(std::memory_order_relaxed);
  }

private:
  friend class CounterFamily;
  using MetricHandle::MetricHandle;
};

/// Counts a quantity that is no whole number, such as seconds. Thread-safe.
class RealCounter : public MetricHandle {
public:
  void add(double amount) noexcept {
    cell().real.fetch_add(amount, std::memory_order_relaxed);
  }
  RealCounter &operator+=(double amount) noexcept {
    add(amount);
    return *this;
  }
  /// Returns what was added through this handle.
  double value() const noexcept {
    return cell().real.load(std::memory_order_relaxed);
  }

private:
  friend class RealCounterFamily;
  using MetricHandle::MetricHandle;
};

/// A number that rises and falls. Exporters see the sum of all gauges with the
/// same labels. Thread-safe.
class Gauge : public MetricHandle {
public:
  void set(double value) noexcept {
    cell().real.store(value, std::memory_order_relaxed);
  }
  void add(double amount) noexcept {
    cell().real.fetch_add(amount, std::memory_order_relaxed);
  }
  /// Returns the value of this handle.
  double value() const noexcept {
    return cell().real.load(std::memory_order_relaxed);
  }

private:
  friend class GaugeFamily;
  using MetricHandle::MetricHandle;
};

/// Counts observed values by bucket. Thread-safe.
class Histogram : public MetricHandle {
public:
  void observe(double value) noexcept;
  /// Returns the number of observations of this handle.
  int64_t count() const noexcept;
  /// Returns the number of observations of this handle by bucket, including the
  /// last one, which has no bound.
  std::vector<int64_t> counts() const;
  /// Returns the sum of the observations of this handle.
  double sum() const noexcept {
    return cell().real.load(std::memory_order_relaxed);
  }

private:
  friend class HistogramFamily;
  using MetricHandle::MetricHandle;
};

/// Registry of the families of a process; tests also make registries of their
/// own. A registry may be destroyed before its families and their cells.
/// Thread-safe.
class MetricRegistry {
public:
  MetricRegistry() = default;
  MetricRegistry(const MetricRegistry &) = delete;
  MetricRegistry &operator=(const MetricRegistry &) = delete;

  struct Declared {
    MetricType type;
    MetricInfo info;
  };
  /// Returns all declarations, sorted by name.
  std::vector<Declared> declared() const;

  struct Collected {
    MetricType type;
    MetricInfo info;
    /// Sorted by labels.
    std::vector<MetricValue> values;
  };
  /// Returns the current values of all families, sorted by name. Omits families
  /// without values.
  std::vector<Collected> collect() const;

  /// Returns all values in Prometheus' text format, version 0.0.4.
  std::string text() const;

  /// A line of `text()` with a value, split into the name with labels, as in
  /// `name{label="..."}`, and the value.
  struct Sample {
    std::string name, value;
  };
  /// Returns all lines of `text()` that have a value.
  std::vector<Sample> samples() const;

  /// Returns one line for each declaration: name, type, unit, labels (separated
  /// by commas) and help, separated by tabs.
  std::string description() const;

private:
  friend class MetricFamily;
  void add(std::shared_ptr<MetricFamilyState> family);
  std::vector<std::shared_ptr<MetricFamilyState>> sorted() const;

  mutable Mutex mutex;
  std::vector<std::shared_ptr<MetricFamilyState>>
      families PDLRT_GUARDED_BY(mutex);
};

/// Returns the registry that all parts of the runtime use.
MetricRegistry &processMetrics();

/// Base class of families. Cells may outlive their family.
class MetricFamily {
protected:
  MetricFamily(MetricType type, MetricInfo info, MetricRegistry &registry);
  std::shared_ptr<MetricFamilyState> state;
};

class CounterFamily : MetricFamily {
public:
  explicit CounterFamily(MetricInfo info,
                         MetricRegistry &registry = processMetrics())
      : MetricFamily(MetricType::Counter, std::move(info), registry) {}
  /// Adds a cell. `labels`: one value for each label name.
  Counter add(const std::vector<std::string> &labels = {}) const {
    return {state, labels};
  }
};

class RealCounterFamily : MetricFamily {
public:
  explicit RealCounterFamily(MetricInfo info,
                             MetricRegistry &registry = processMetrics())
      : MetricFamily(MetricType::Counter, std::move(info), registry) {}
  /// Adds a cell. `labels`: one value for each label name.
  RealCounter add(const std::vector<std::string> &labels = {}) const {
    return {state, labels};
  }
};

class GaugeFamily : MetricFamily {
public:
  explicit GaugeFamily(MetricInfo info,
                       MetricRegistry &registry = processMetrics())
      : MetricFamily(MetricType::Gauge, std::move(info), registry) {}
  /// Adds a cell. `labels`: one value for each label name.
  Gauge add(const std::vector<std::string> &labels = {}) const {
    return {state, labels};
  }
};

class HistogramFamily : MetricFamily {
public:
  explicit HistogramFamily(MetricInfo info,
                           MetricRegistry &registry = processMetrics())
      : MetricFamily(MetricType::Histogram, std::move(info), registry) {}
  /// Adds a cell. `labels`: one value for each label name.
  Histogram add(const std::vector<std::string> &labels = {}) const {
    return {state, labels};
  }
};

/// Returns the only object of type `T` in this process, which the first call
/// makes. `T` is a struct of families, or of cells that the whole process
/// shares. The object is never destroyed, because threads may count while the
/// process ends. Thread-safe.
template <typename T> T &processMetrics() {
  static T &only = *new T;
  return only;
}

} // namespace pdlrt

#endif // PDLRT_CORE_METRICREGISTRY_H
