//===- EarlySender.cpp - Sends gradients during their step ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/EarlySender.h"
#include "pdlrt/Core/Mutex.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <new>
#include <utility>

using namespace pdlrt;

static double secondsBetween(EarlySender::Time begin, EarlySender::Time end) {
  return std::chrono::duration<double>(end - begin).count();
}

//===----------------------------------------------------------------------===//
// Parts in flight
//===----------------------------------------------------------------------===//

class EarlySender::Flight {
public:
  explicit Flight(std::function<Time()> by) : now(std::move(by)) {}
  void begin() {
    const MutexLock lock(mutex);
    underWay = 0;
    inAll = background = 0;
    computes = true;
  }
  void left() {
    const MutexLock lock(mutex);
    if (underWay++ == 0)
      since = now();
  }
  void arrived() {
    const MutexLock lock(mutex);
    if (underWay > 0 && --underWay == 0)
      count();
  }
  void endCompute() {
    const MutexLock lock(mutex);
    if (underWay > 0)
      count();
    computes = false;
  }
  /// Returns two times in seconds: how long parts were being sent, and how long
  /// the step was computing during that time.
  std::pair<double, double> seconds() {
    const MutexLock lock(mutex);
    return {inAll, background};
  }

private:
  /// Adds the time since the last call.
  void count() PDLRT_REQUIRES(mutex) {
    const Time until = now();
    inAll += secondsBetween(since, until);
    if (computes)
      background += secondsBetween(since, until);
    since = until;
  }

  const std::function<Time()> now;
  Mutex mutex;
  int64_t underWay PDLRT_GUARDED_BY(mutex) = 0;
  Time since PDLRT_GUARDED_BY(mutex);
  bool computes PDLRT_GUARDED_BY(mutex) = false;
  double inAll PDLRT_GUARDED_BY(mutex) = 0;
  double background PDLRT_GUARDED_BY(mutex) = 0;
};

//===----------------------------------------------------------------------===//
// The sender
//===----------------------------------------------------------------------===//

EarlySender::EarlySender(const ExchangeLayout &ofProgram, ServerGroup &to,
                         const OverlapOptions &given, std::function<Time()> by)
    : layout(ofProgram), servers(to), options(given), isUseful(mayFill()),
      now(std::move(by)), owners(size_t(ofProgram.placement().serverCount())),
      flight(std::make_shared<Flight>(now)), metrics(layout.program()) {
  const pdl_program &program = layout.program();
  for (int32_t u = 0; u < program.update_count; ++u)
    channelOf.push_back(
        layout.find(PDL_CHANNEL_GRADIENT, program.updates[u].symbol));
  for (Owner &owner : owners)
    owner.places.resize(size_t(layout.channelCount()));
  static constexpr const char *names[] = {"auto", "on", "off"};
  metrics.choice = names[size_t(options.overlap)];
  if (options.overlap == Overlap::Off)
    return;
  if (options.arePacked)
    metrics.choice += ": off: gradients are packed";
  else if (!isUseful)
    metrics.choice += ": off: no dense gradients fill a part";
  else if (options.overlap == Overlap::Auto)
    metrics.choice += ": not decided yet";
}

/// Returns true if some owner's gradients are large enough for a part.
bool EarlySender::mayFill() const {
  if (options.arePacked)
    return false;
  for (int32_t s = 0; s < layout.placement().serverCount(); ++s) {
    size_t total = 0;
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_GRADIENT)
        total += layout.sectionBytes(s, c);
    if (total >= size_t(options.partBytes))
      return true;
  }
  return false;
}

bool EarlySender::isOn() const {
  if (!isUseful || options.overlap != Overlap::Auto)
    return isUseful && options.overlap == Overlap::On;
  return trial.decision() ? trial.decision()->isOn : trial.tries(stepNumber());
}

/// Returns the number of the step. All trainers that exchange in each step have
/// the same number, because they send the same number of requests in each step.
uint64_t EarlySender::stepNumber() const {
  return servers.requestsSent() / (layout.hasNormRequest() ? 2 : 1);
}

bool EarlySender::beginStep() {
  forgetStep();
  began = now();
  isEarly = isOn();
  return isEarly;
}

void EarlySender::forgetStep() {
  for (Owner &owner : owners) {
    std::ranges::fill(owner.places, std::nullopt);
    owner.bytes = {};
    owner.channels.clear();
    owner.parts = owner.placed = 0;
  }
  parts = bytes = 0;
  handing = window = 0;
  flight->begin();
}

/// Appends a gradient to the unsent parts of the servers that own it. Returns
/// the parts that have become full. `mutex` must be locked.
std::vector<EarlySender::Closed> EarlySender::fill(int32_t channel,
                                                   const void *sum) {
  std::vector<Closed> closed;
  const int32_t symbol = layout.channel(channel).symbol;
  for (size_t s = 0; s < owners.size(); ++s) {
    Owner &owner = owners[s];
    const auto server = int32_t(s);
    const size_t size = layout.sectionBytes(server, channel);
    // If the request cannot list more positions of parts, the gradient is sent
    // in the exchange message itself.
    if (size == 0 || owner.placed == maxPlaces)
      continue;
    ++owner.placed;
    owner.places[channel] = {0, owner.parts, owner.bytes.size(), size};
    owner.channels.push_back(channel);
    const size_t rowBytes =
        size / size_t(layout.placement().rowCountOf(symbol, server));
    for (const RowBlock &run : layout.placement().rowsOf(symbol, server))
      owner.bytes.append({static_cast<const std::byte *>(sum) +
                              size_t(run.firstRow) * rowBytes,
                          size_t(run.rowCount) * rowBytes, nullptr});
    if (owner.bytes.size() < size_t(options.partBytes))
      continue;
    bytes += int64_t(owner.bytes.size());
    ++parts;
    closed.push_back({s, owner.parts++, std::exchange(owner.bytes, {})});
    owner.channels.clear();
  }
  return closed;
}

void EarlySender::take(int32_t update, const void *sum) noexcept {
  const int32_t channel = channelOf[size_t(update)];
  if (channel < 0)
    return;
  try {
    send(channel, sum);
  } catch (...) {
    // The step's list may contain positions in parts that were not sent, so the
    // step must fail.
    const MutexLock lock(mutex);
    failure = std::current_exception();
  }
}

void EarlySender::send(int32_t channel, const void *sum) {
  const Time begin = now();
  std::vector<Closed> closed;
  {
    const MutexLock lock(mutex);
    if (parts == 0)
      firstLeft = begin;
    closed = fill(channel, sum);
  }
  if (closed.empty())
    return;
  for (const Closed &part : closed) {
    const TraceSpan span("send part",
                         {int64_t(part.owner), int64_t(part.number),
                          int64_t(part.bytes.size())});
    flight->left();
    servers.sendPart(part.owner, part.number, part.bytes, [own = flight] {
      const TraceSpan arrival("part arrived");
      own->arrived();
    });
  }
  const MutexLock lock(mutex);
  handing += secondsBetween(begin, now());
}

Status EarlySender::endCompute() {
  flight->endCompute();
  try {
    if (failure)
      std::rethrow_exception(std::exchange(failure, nullptr));
  } catch (const std::bad_alloc &error) {
    return Status::outOfMemory(
        describeOutOfMemory(error, "sent gradients early"));
  }
  if (parts > 0)
    window = secondsBetween(firstLeft, now());
  // Gradients in incomplete parts are sent with the exchange.
  for (Owner &owner : owners)
    for (int32_t channel : owner.channels)
      owner.places[channel].reset();
  return {};
}

void EarlySender::endStep(bool contributed, double wait) {
  const auto [travel, background] = flight->seconds();
  if (parts > 0) {
    ++metrics.steps;
    metrics.parts += parts;
    metrics.bytes += bytes;
    metrics.background += background;
    metrics.wait += wait;
  }
  const double step = secondsBetween(began, now());
  const OverlapMeasures measures = {parts,   bytes, window, travel,
                                    handing, step,  step};
  // The next exchange may belong to no step, so this step must be forgotten
  // now.
  forgetStep();
  if (options.overlap != Overlap::Auto || !isUseful || trial.decision() ||
      !contributed)
    return;
  trial.note(isEarly, measures);
  if (!trial.decision())
    return;
  metrics.choice = std::string("auto: ") +
                   (trial.decision()->isOn ? "on: " : "off: ") +
                   trial.decision()->why;
  logInfo("--overlap " + metrics.choice);
}
