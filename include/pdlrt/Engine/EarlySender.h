//===- EarlySender.h - Sends gradients during their step --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_EARLYSENDER_H
#define PDLRT_ENGINE_EARLYSENDER_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Engine/EarlyGradients.h"
#include "pdlrt/Engine/Overlap.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/ServerGroup.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace pdlrt {

/// Sends dense gradients of a step to their owners (servers) while the step is
/// computed. The exchange of the step then only refers to the parts that were
/// sent. A part is a message with several gradients for one owner. It is sent
/// when it is large enough; a smaller part is sent with the exchange. `take` is
/// thread-safe. All other functions must be called by the thread that drives
/// the steps.
class EarlySender final : public EarlyGradients {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// `layout` and `servers` must outlive the object. `now` is the clock for
  /// measurements; it must be thread-safe.
  EarlySender(const ExchangeLayout &layout, ServerGroup &servers,
              const OverlapOptions &options,
              std::function<Time()> now = std::chrono::steady_clock::now);

  bool beginStep() override;
  void take(int32_t update, const void *sum) noexcept override;
  void letGo() noexcept override { servers.dropParts(); }

  /// Ends the sending of gradients. Call when the step has been computed.
  /// Returns an error if gradients could not be sent; then the step cannot be
  /// exchanged.
  Status endCompute();
  /// Returns the part, and the position in it, with the gradient of channel
  /// `channel` for server `server`, as `ExchangeWriter::addPart` needs it.
  /// Returns null if the gradient was not sent early. Call after `endCompute`.
  const PartPlace *placeOf(int32_t server, int32_t channel) const {
    const std::optional<PartPlace> &place = owners[server].places[channel];
    return place ? &*place : nullptr;
  }
  /// Records that the step was exchanged. `contributed` is true if it had
  /// gradients. `wait` is the time spent waiting for responses, in seconds.
  void endStep(bool contributed, double wait);

  EarlyCosts costs() const { return metrics.costs(); }

private:
  /// Gradients of the current step for one owner.
  struct Owner {
    /// Indexed by channel.
    std::vector<std::optional<PartPlace>> places;
    /// The part that is being filled, and the channels whose gradients it has.
    Message bytes;
    std::vector<int32_t> channels;
    /// Number of closed parts.
    uint64_t parts = 0;
    /// Number of gradients in all parts.
    uint64_t placed = 0;
  };
  /// A part that is complete and will be sent.
  struct Closed {
    size_t owner;
    uint64_t number;
    Message bytes;
  };
  /// Measures how long parts are in flight. It is shared with the callbacks of
  /// requests, which may outlive this object.
  class Flight;

  bool mayFill() const;
  void forgetStep();
  std::vector<Closed> fill(int32_t channel, const void *sum);
  void send(int32_t channel, const void *sum);
  bool isOn() const;
  uint64_t stepNumber() const;

  const ExchangeLayout &layout;
  ServerGroup &servers;
  const OverlapOptions options;
  /// GRADIENT channel of each update of the program; -1 for the update of a
  /// table.
  std::vector<int32_t> channelOf;
  /// False if gradients are never sent early, because the dense gradients of
  /// the program are too small to fill a part, or are quantized.
  const bool isUseful;
  OverlapTrial trial;
  const std::function<Time()> now;

  Time began;
  /// True if gradients of this step are sent early.
  bool isEarly = false;
  Mutex mutex;
  std::vector<Owner> owners;
  /// Numbers of parts and bytes sent in this step.
  int64_t parts = 0, bytes = 0;
  double handing = 0, window = 0;
  Time firstLeft;
  /// The error if sending failed.
  std::exception_ptr failure;
  const std::shared_ptr<Flight> flight;
  EarlyMetrics metrics;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_EARLYSENDER_H
