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
// A family is declared once, with name, unit, help and label names:
//
//   static const CounterFamily steps({.name = "pdl_trainer_steps_total", ...});
//
// in a function, not at namespace scope: nothing may run before `main` has
// checked the CPU.
//
// Each object that counts adds a cell of its own, and only this object updates
// the cell:
//
//   Counter own = steps.add({"train"});
//   own.add(1);
//
// The object's report reads its own cell. An exporter sees the sum of all cells
// with the same labels. Cells therefore need no lock, and two objects that
// count the same thing do not share a cache line. An update is one atomic
// addition; declaring a family and adding a cell allocate and take a lock.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_METRICREGISTRY_H
#define PDLRT_CORE_METRICREGISTRY_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

enum class MetricType { Counter, Gauge, Histogram };

/// Returns the name of the type in Prometheus' text format.
std::string_view nameOf(MetricType type);

/// Fate of a label set after its last cell is destroyed.
enum class AfterLastCell {
  /// Counters and histograms keep their value, so that they never decrease.
  /// Gauges are removed.
  Keep,
  /// The label set is removed.
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
  /// One line for operators.
  std::string help;
  /// Names of the labels. `add` takes the values in this order.
  std::vector<std::string> labels = {};
  AfterLastCell afterLastCell = AfterLastCell::Keep;
  /// Upper bounds of the buckets of a histogram, in ascending order. The last
  /// bucket, without bound, is not listed.
  std::vector<double> bounds = {};
};

/// The numbers of one object. The count of a counter is the sum of both
/// members.
struct alignas(64) MetricCell {
  explicit MetricCell(size_t buckets) : buckets(buckets) {}
  MetricCell(const MetricCell &) = delete;
  MetricCell &operator=(const MetricCell &) = delete;

  std::atomic<int64_t> whole = 0;
  /// Value of a gauge, and sum of the observations of a histogram.
  std::atomic<double> real = 0;
  /// Number of observations by bucket; empty if this is no histogram.
  std::vector<std::atomic<int64_t>> buckets;
};

/// The value of one label set at one time.
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

/// Owner of a cell: removes it from its family at the end of its life. Movable;
/// a handle from which was moved can only be assigned or destroyed.
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

/// A number that rises and falls. Handles with the same labels add up.
/// Thread-safe.
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

/// Counts observations by size. Thread-safe.
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

/// The families of a process, or of a part of it. Thread-safe. It may be
/// destroyed before its families and their cells.
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
  /// Returns the current values of all families that have some, sorted by name.
  std::vector<Collected> collect() const;

  /// Returns all values in Prometheus' text format, version 0.0.4.
  std::string text() const;

  /// A line of that text: `name{label="..."}`, and its value.
  struct Sample {
    std::string name, value;
  };
  /// Returns the lines of all values.
  std::vector<Sample> samples() const;

  /// Returns one line for each declaration: name, type, unit, labels (separated
  /// by commas) and help, separated by tabs.
  std::string description() const;

private:
  friend class MetricFamily;
  void add(std::shared_ptr<MetricFamilyState> family);
  std::vector<std::shared_ptr<MetricFamilyState>> sorted() const;

  mutable std::mutex mutex;
  std::vector<std::shared_ptr<MetricFamilyState>> families;
};

/// Returns the registry that all parts of the runtime use.
MetricRegistry &processMetrics();

/// Base of the families. Cells may outlive it.
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

/// Returns the only object of type `T` of this process: families, or cells of
/// the whole process. The first call makes it. It is never destroyed, because
/// threads may count while the process ends. Thread-safe.
template <typename T> T &processMetrics() {
  static T &only = *new T;
  return only;
}

} // namespace pdlrt

#endif // PDLRT_CORE_METRICREGISTRY_H
