//===- Trace.cpp - Records spans for profiling ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Core/Mutex.h"

#include <chrono>
#include <memory>
#include <new>
#include <utility>

using namespace pdlrt;

std::atomic<bool> Trace::on = false;

/// The spans that one thread has recorded. The buffer outlives the thread.
struct pdlrt::TraceBuffer {
  explicit TraceBuffer(const std::string &name) { trace.name = name; }

  Mutex mutex;
  ThreadTrace trace PDLRT_GUARDED_BY(mutex);
};

namespace {

/// Threads that have recorded spans.
struct Registry {
  Mutex mutex;
  std::vector<std::shared_ptr<TraceBuffer>> buffers PDLRT_GUARDED_BY(mutex);
  int64_t begin PDLRT_GUARDED_BY(mutex) = 0;
  std::atomic<int64_t> count = 0, lost = 0;
};

} // namespace

static Registry &registry() {
  static Registry all;
  return all;
}

/// Buffer of the calling thread, which is registered when the thread records
/// its first span.
static thread_local std::shared_ptr<TraceBuffer> ownBuffer;
static thread_local std::string ownName;

int64_t Trace::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::start() {
  Registry &all = registry();
  const MutexLock lock(all.mutex);
  all.begin = now();
  all.count = all.lost = 0;
  on = true;
}

void Trace::record(const TraceEvent &event) {
  record(event, ownBuffer, ownName);
}

void Trace::record(const TraceEvent &event,
                   std::shared_ptr<TraceBuffer> &buffer,
                   const std::string &name) {
  Registry &all = registry();
  if (all.count.fetch_add(1, std::memory_order_relaxed) >= maxEvents) {
    all.lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  try {
    if (!buffer) {
      auto made = std::make_shared<TraceBuffer>(name);
      const MutexLock lock(all.mutex);
      all.buffers.push_back(made);
      buffer = std::move(made);
    }
    const MutexLock lock(buffer->mutex);
    buffer->trace.events.push_back(event);
  } catch (const std::bad_alloc &) {
    all.lost.fetch_add(1, std::memory_order_relaxed);
  }
}

void Trace::nameThread(std::string name) {
  ownName = std::move(name);
  if (!ownBuffer)
    return;
  const MutexLock lock(ownBuffer->mutex);
  ownBuffer->trace.name = ownName;
}

Trace::Recorded Trace::stop() {
  on = false;
  Registry &all = registry();
  Recorded recorded;
  const MutexLock lock(all.mutex);
  recorded.begin = all.begin;
  recorded.lost = all.lost;
  for (const std::shared_ptr<TraceBuffer> &buffer : all.buffers) {
    const MutexLock own(buffer->mutex);
    recorded.threads.push_back(
        {buffer->trace.name, std::exchange(buffer->trace.events, {})});
  }
  return recorded;
}
