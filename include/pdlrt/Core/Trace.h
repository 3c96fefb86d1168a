//===- Trace.h - What each thread did when ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spans of time, by thread: stages of a step, calls of the runtime, loops of
// the program, messages, and waits. They are kept in memory while a trace is
// on, and cost a load and a branch each while none is. `Files/TraceFile.h`
// writes them.
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

/// What one thread did from a time to another, in nanoseconds of the steady
/// clock.
struct TraceEvent {
  /// Lives as long as the process.
  const char *name;
  int64_t begin, end;
  /// What the name leaves open, such as the shape of a product; 0: nothing.
  std::array<int64_t, 3> numbers;
  /// The symbol that it was for, where several share the name; lives as long.
  /// Null: none.
  const char *symbol = nullptr;
};

/// The spans of one thread, in the order in which they ended.
struct ThreadTrace {
  std::string name;
  std::vector<TraceEvent> events;
};

struct TraceBuffer;

/// Everything that a process records. All functions are thread-safe.
class Trace {
public:
  /// The most spans that a process keeps; what comes later is counted alone.
  static constexpr int64_t mostEvents = int64_t(1) << 20;

  static bool isOn() { return on.load(std::memory_order_relaxed); }
  /// Begins to record.
  static void start();
  /// Ends it, and gives what was recorded: no thread may be in a span.
  struct Recorded {
    std::vector<ThreadTrace> threads;
    /// When `start` was called.
    int64_t begin = 0;
    /// Spans for which there was no room.
    int64_t lost = 0;
  };
  static Recorded stop();
  /// What the calling thread is called in traces, from now on: "main",
  /// "reader".
  static void nameThread(std::string name);
  /// The steady clock, in nanoseconds.
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

/// What something that is no thread of this process does, such as a device:
/// stands in traces as threads do.
class TraceTrack {
public:
  explicit TraceTrack(std::string name) : name(std::move(name)) {}

  /// While a trace is on. One thread at a time.
  void record(const TraceEvent &event) {
    if (Trace::isOn())
      Trace::record(event, buffer, name);
  }

private:
  const std::string name;
  std::shared_ptr<TraceBuffer> buffer;
};

/// Records what the calling thread does while it lives.
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
