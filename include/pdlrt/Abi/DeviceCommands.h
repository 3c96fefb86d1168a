//===- DeviceCommands.h - Work that a stage adds to a stream ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a stage adds the same work as before, on the same memory, it can be
// repeated as a whole. When the same work has occurred twice, it becomes a
// graph, which is launched at once. This happens when shapes repeat. Numbers of
// keys rarely repeat, so stages with lookups usually add their work piece by
// piece.
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

/// The work of stages, in parts that end where the host waits. Not thread-safe.
class DeviceCommands {
public:
  /// Maximum number of pairs of batch size and batch memory whose parts are
  /// kept.
  static constexpr size_t maxShapes = 16;
  /// Minimum number of pieces for which a graph is faster.
  static constexpr size_t minPieces = 4;

  /// Adds work to `stream`, which must outlive this object.
  explicit DeviceCommands(DeviceStream &stream) : stream(stream) {}

  /// Starts a stage on a batch of `samples` samples. `batch`: address of the
  /// batch. Batches that are prepared alternately have different memory, so the
  /// work for one of them repeats earlier work on the same memory.
  void begin(int64_t samples, const void *batch);

  // Like the functions of DeviceStream with the same name; the work is added at
  // the latest when the part ends. Host memory must have been allocated by the
  // device.
  Status copyIn(void *toDevice, const void *fromHost, size_t bytes);
  Status copyOut(void *toHost, const void *fromDevice, size_t bytes);
  Status copyWithin(void *to, const void *from, size_t bytes);
  Status clear(void *memory, size_t bytes);
  Status launch(size_t kernel, int64_t turns,
                std::span<const uint64_t> arguments);
  /// Adds a product. `otherwise`: kernel for products that the device does not
  /// support, with the arguments of pdldevice_product.
  Status multiply(const DeviceProduct &product, size_t otherwise);

  /// Ends a part: all its work will be done without further calls.
  Status endPart();

  /// Returns the number of parts so far that were done by one launch.
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
  /// The last version of a part. Words: for each piece its kind, the number of
  /// following words, and these words.
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
  /// True if the part has been equal to the last one so far, up to `place` in
  /// its words; nothing was added to the stream yet.
  bool isSame = false;
  size_t place = 0;
  /// Otherwise, the work that was added.
  std::vector<uint64_t> current, piece;
  int64_t replays = 0;
  /// The device does not support graphs.
  bool isOff = false;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICECOMMANDS_H
