//===- DeviceCommands.h - Work that a stage adds to a stream ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage adds copies and kernel launches to a stream. If it adds the same work
// as in an earlier step, on the same memory, the work can be launched as a
// device graph, with one call. A graph is made when the same work has occurred
// twice, which needs equal shapes. Stages with lookups usually add their work
// piece by piece, because the number of keys rarely repeats.
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

/// Adds the work of stages to a stream. The work of a stage consists of parts;
/// a part ends where the host waits, or where another stream adds work. Not
/// thread-safe.
class DeviceCommands {
public:
  /// Maximum number of pairs (batch size, batch memory) for which earlier work
  /// is remembered.
  static constexpr size_t maxShapes = 16;
  /// Minimum number of pieces for which a graph is made; with fewer it is not
  /// faster.
  static constexpr size_t minPieces = 4;

  /// Adds work to `stream`, which must outlive this object.
  explicit DeviceCommands(DeviceStream &stream) : stream(stream) {}

  /// Starts a stage on a batch of `samples` samples. `batch` identifies the
  /// memory of the batch. Two batches are prepared alternately, each in its own
  /// memory, so work is compared with the last stage that had the same `batch`.
  void begin(int64_t samples, const void *batch);

  // Like the functions of DeviceStream with the same names, but the work may be
  // added to the stream later, at the end of the part. Host memory must have
  // been allocated by the device.
  Status copyIn(void *toDevice, const void *fromHost, size_t bytes);
  Status copyOut(void *toHost, const void *fromDevice, size_t bytes);
  Status copyWithin(void *to, const void *from, size_t bytes);
  Status clear(void *memory, size_t bytes);
  Status launch(size_t kernel, int64_t turns,
                std::span<const uint64_t> arguments);
  /// Adds a matrix product. `otherwise` is the index of the kernel that
  /// computes it if the device's library does not support the product. The
  /// kernel has the arguments of pdldevice_product.
  Status multiply(const DeviceProduct &product, size_t otherwise);

  /// Ends a part, and adds all its work to the stream that was not added yet.
  Status endPart();

  /// Returns the number of parts so far that were launched as a graph.
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
  /// The work of a part when it was done last. `words` has, for each piece of
  /// work, its kind, the number of its arguments, and the arguments.
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
  /// True as long as the current part is equal to the remembered one. Its words
  /// up to index `place` have been compared, and nothing was added to the
  /// stream yet.
  bool isSame = false;
  size_t place = 0;
  /// `current`: the work of this part that was added, if `isSame` is false.
  /// `piece`: scratch memory for one piece.
  std::vector<uint64_t> current, piece;
  int64_t replays = 0;
  /// True if the device does not support graphs.
  bool isOff = false;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICECOMMANDS_H
