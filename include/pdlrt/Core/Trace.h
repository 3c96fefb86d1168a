//===- Trace.h - Records spans for profiling --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trace records time spans of each thread: stages of a step, calls of the
// runtime, loops of the program, messages, and waits. Spans are kept in memory
// until `Files/TraceFile.h` writes them to a file. While no trace is on, a span
// costs a load and a branch.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_TRACE_H
#define PDLRT_CORE_TRACE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// One time span of a thread, in nanoseconds of the steady clock.
struct TraceEvent {
  /// Must live as long as the process.
  const char *name;
  int64_t begin, end;
  /// Details in addition to the name, such as the shape of a matrix product; 0:
  /// unused.
  std::array<int64_t, 3> numbers;
  /// Name of the parameter or table to which the span belongs; null: none. Must
  /// live as long as the process.
  const char *symbol = nullptr;
};

/// The spans of one thread, in the order in which they ended.
struct ThreadTrace {
  std::string name;
  std::vector<TraceEvent> events;
};

struct TraceBuffer;

/// The spans that a process records. Thread-safe.
class Trace {
public:
  /// Maximum number of spans that a process keeps; later ones are only counted.
  static constexpr int64_t maxEvents = int64_t(1) << 20;

  static bool isOn() { return on.load(std::memory_order_relaxed); }
  /// Starts to record.
  static void start();
  /// Result of `stop`, which stops recording and returns the spans. No thread
  /// may be in a span during the call.
  struct Recorded {
    std::vector<ThreadTrace> threads;
    /// The time of the call of `start`.
    int64_t begin = 0;
    /// Number of spans that were dropped.
    int64_t lost = 0;
  };
  static Recorded stop();
  /// Sets the calling thread's name in traces: "main", "reader".
  static void nameThread(std::string name);
  /// Returns the time of the steady clock, in nanoseconds.
  static int64_t now();

private:
  friend class TraceSpan;
  friend class TraceTrack;
  static void record(const TraceEvent &event);
  static void record(const TraceEvent &event,
                     std::shared_ptr<TraceBuffer> &buffer,
                     const std::string &name);
  static std::atomic<bool> on;
};

/// Records spans of something that is not a thread of this process, such as a
/// device. Traces show it like a thread.
class TraceTrack {
public:
  explicit TraceTrack(std::string name) : name(std::move(name)) {}

  /// Records a span if a trace is on. Not thread-safe.
  void record(const TraceEvent &event) {
    if (Trace::isOn())
      Trace::record(event, buffer, name);
  }

private:
  const std::string name;
  std::shared_ptr<TraceBuffer> buffer;
};

/// Records its lifetime as a span of the calling thread.
class TraceSpan {
public:
  explicit TraceSpan(const char *name,
                     const std::array<int64_t, 3> &numbers = {})
      : event{name, 0, 0, numbers, nullptr} {
    if (Trace::isOn())
      event.begin = Trace::now();
  }
  ~TraceSpan() {
    if (event.begin == 0)
      return;
    event.end = Trace::now();
    Trace::record(event);
  }
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

private:
  TraceEvent event;
};

} // namespace pdlrt

#endif // PDLRT_CORE_TRACE_H
