//===- DeviceCommands.h - What a stage adds to a stream ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that adds the same as it did before, to the same memory, need not say
// it piece by piece: where that happened twice, the pieces become a graph,
// which costs one launch. It happens where shapes repeat; numbers of keys do
// not, so stages with lookups add piece by piece as a rule.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICECOMMANDS_H
#define PDLRT_ABI_DEVICECOMMANDS_H

#include "pdlrt/Device/Device.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

/// The work of stages, in parts that end where the host waits. One thread at a
/// time.
class DeviceCommands {
public:
  /// Batch sizes whose parts are kept, by the place of the batch.
  static constexpr size_t mostShapes = 16;
  /// With fewer pieces a graph saves nothing.
  static constexpr size_t leastPieces = 4;

  /// The stream outlives it.
  explicit DeviceCommands(DeviceStream &stream) : stream(stream) {}

  /// A stage begins, on a batch of so many samples. `batch`: where it lies;
  /// batches that are prepared beside each other lie in different memory, so
  /// that what is done with one is like what was done with that one before.
  void begin(int64_t samples, const void *batch);

  // What the functions of DeviceStream of that name do, at the latest when the
  // part ends. Memory of the host is such as the device gave.
  Status copyIn(void *toDevice, const void *fromHost, size_t bytes);
  Status copyOut(void *toHost, const void *fromDevice, size_t bytes);
  Status copyWithin(void *to, const void *from, size_t bytes);
  Status clear(void *memory, size_t bytes);
  Status launch(size_t kernel, int64_t turns,
                std::span<const uint64_t> arguments);
  /// `otherwise`: the kernel, of the arguments of pdldevice_product, that forms
  /// the products which the device does not.
  Status multiply(const DeviceProduct &product, size_t otherwise);

  /// All of a part was added: it will be done without more.
  Status endPart();

  /// Parts that were done by one launch, since the beginning.
  int64_t replayed() const { return replays; }

private:
  enum class Kind : uint8_t {
    CopyIn,
    CopyOut,
    CopyWithin,
    Clear,
    Launch,
    Multiply
  };
  /// A part as it was done last. Words: of each piece its kind, how many
  /// follow, and these.
  struct Part {
    std::vector<uint64_t> words;
    std::unique_ptr<DeviceGraph> graph;
  };
  struct Shape {
    std::vector<Part> parts;
    uint64_t lastUse = 0;
  };

  void beginPart();
  Status add(Kind kind, std::span<const uint64_t> words);
  /// Adds pieces to the stream.
  Status issue(std::span<const uint64_t> words);
  Status issueProduct(std::span<const uint64_t> words);
  static bool isWorthGraph(std::span<const uint64_t> words);
  void makeGraph(Part &part);

  DeviceStream &stream;
  std::map<std::pair<int64_t, const void *>, Shape> shapes;
  uint64_t stages = 0;
  Shape *shape = nullptr;
  size_t partIndex = 0;
  /// Whether the part is as it was so far, up to that place of its words; then
  /// nothing was added to the stream yet.
  bool isSame = false;
  size_t place = 0;
  /// Else what was added.
  std::vector<uint64_t> current, piece;
  int64_t replays = 0;
  /// The device makes no graphs.
  bool isOff = false;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICECOMMANDS_H
