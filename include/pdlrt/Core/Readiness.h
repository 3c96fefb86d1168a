//===- Readiness.h - Reasons why a process does not work --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_READINESS_H
#define PDLRT_CORE_READINESS_H

#include "pdlrt/Core/Mutex.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pdlrt {

/// Reasons why a process does not do its work at the moment: it starts, it
/// waits for another process, or it has failed. A process without a reason is
/// ready. Thread-safe.
class Readiness {
public:
  using Clock = std::chrono::system_clock;
  /// Minimum length of a wait that is a reason. Shorter ones are normal: a
  /// round always waits for its slowest trainer.
  static constexpr std::chrono::seconds minWait{2};

  Readiness() = default;
  Readiness(const Readiness &) = delete;
  Readiness &operator=(const Readiness &) = delete;

  /// Owner of at most one reason, which holds until the owner drops it or is
  /// destroyed. Only one thread at a time may use an owner.
  class Reason {
  public:
    explicit Reason(Readiness &of) : of(of) {}
    ~Reason() { drop(); }
    Reason(const Reason &) = delete;
    Reason &operator=(const Reason &) = delete;

    /// Sets the text. The time since which the reason holds is that of the
    /// first call, or of the first call after `drop`. An empty text drops the
    /// reason.
    void set(std::string text);
    /// Like `set`. If there was no reason, it holds since `since`.
    void set(std::string text, Clock::time_point since);
    void drop() noexcept;

  private:
    Readiness &of;
    int64_t key = 0;
  };

  struct Entry {
    std::string text;
    Clock::time_point since;
  };
  /// Returns all reasons, the oldest first.
  std::vector<Entry> reasons() const;

  /// Records that the process has failed and will end. Later calls have no
  /// effect.
  void fail(const std::string &message);
  /// Returns the message of `fail`. Empty if the process has not failed.
  std::string failure() const;

private:
  mutable Mutex mutex;
  int64_t lastKey PDLRT_GUARDED_BY(mutex) = 0;
  std::map<int64_t, Entry> entries PDLRT_GUARDED_BY(mutex);
  std::string failed PDLRT_GUARDED_BY(mutex);
};

/// Returns the readiness of this process. It is never destroyed.
Readiness &processReadiness();

} // namespace pdlrt

#endif // PDLRT_CORE_READINESS_H
