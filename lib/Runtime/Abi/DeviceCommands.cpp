//===- DeviceCommands.cpp - Work that a stage adds to a stream ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceCommands.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <array>

using namespace pdlrt;

static uint64_t wordOf(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

static void *pointerOf(uint64_t word) { return reinterpret_cast<void *>(word); }

void DeviceCommands::begin(int64_t samples, const void *batch) {
  const std::pair key(samples, batch);
  if (!shapes.contains(key) && shapes.size() >= maxShapes)
    shapes.erase(std::ranges::min_element(
        shapes, {}, [](const auto &entry) { return entry.second.lastUse; }));
  shape = &shapes[key];
  shape->lastUse = ++stages;
  partIndex = 0;
  beginPart();
}

void DeviceCommands::beginPart() {
  if (shape->parts.size() <= partIndex)
    shape->parts.emplace_back();
  // A trace shows individual commands, so no graph is used while a trace is on.
  isSame = shape->parts[partIndex].graph != nullptr && !Trace::isOn();
  place = 0;
  current.clear();
}

Status DeviceCommands::issue(std::span<const uint64_t> words) {
  while (!words.empty()) {
    const auto kind = Kind(words[0]);
    const std::span<const uint64_t> given = words.subspan(2, words[1]);
    Status status;
    switch (kind) {
    case Kind::CopyIn:
      status =
          stream.copyIn(pointerOf(given[0]), pointerOf(given[1]), given[2]);
      break;
    case Kind::CopyOut:
      status =
          stream.copyOut(pointerOf(given[0]), pointerOf(given[1]), given[2]);
      break;
    case Kind::CopyWithin:
      status =
          stream.copyWithin(pointerOf(given[0]), pointerOf(given[1]), given[2]);
      break;
    case Kind::Clear:
      status = stream.clear(pointerOf(given[0]), given[1]);
      break;
    case Kind::Launch:
      status = stream.launch(given[0], int64_t(given[1]), given.subspan(2));
      break;
    case Kind::Multiply:
      status = issueProduct(given);
      break;
    }
    PDLRT_RETURN_IF_ERROR(std::move(status));
    words = words.subspan(2 + given.size());
  }
  return {};
}

Status DeviceCommands::add(Kind kind, std::span<const uint64_t> words) {
  piece.assign({uint64_t(kind), words.size()});
  piece.insert(piece.end(), words.begin(), words.end());
  if (isSame) {
    const std::span<const uint64_t> before = shape->parts[partIndex].words;
    if (before.size() - place >= piece.size() &&
        std::equal(piece.begin(), piece.end(), before.begin() + place)) {
      place += piece.size();
      return {};
    }
    // The part differs: add the pieces that were equal until now.
    isSame = false;
    current.assign(before.begin(), before.begin() + place);
    PDLRT_RETURN_IF_ERROR(issue(current));
  }
  current.insert(current.end(), piece.begin(), piece.end());
  return issue(piece);
}

Status DeviceCommands::copyIn(void *to, const void *from, size_t bytes) {
  return add(Kind::CopyIn, std::array{wordOf(to), wordOf(from), bytes});
}

Status DeviceCommands::copyOut(void *to, const void *from, size_t bytes) {
  return add(Kind::CopyOut, std::array{wordOf(to), wordOf(from), bytes});
}

Status DeviceCommands::copyWithin(void *to, const void *from, size_t bytes) {
  return add(Kind::CopyWithin, std::array{wordOf(to), wordOf(from), bytes});
}

Status DeviceCommands::clear(void *memory, size_t bytes) {
  return add(Kind::Clear, std::array{wordOf(memory), bytes});
}

Status DeviceCommands::launch(size_t kernel, int64_t turns,
                              std::span<const uint64_t> arguments) {
  std::vector<uint64_t> words = {kernel, uint64_t(turns)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return add(Kind::Launch, words);
}

Status DeviceCommands::multiply(const DeviceProduct &product,
                                size_t otherwise) {
  return add(
      Kind::Multiply,
      std::array{uint64_t(otherwise), uint64_t(product.roundsFactors),
                 uint64_t(product.transposeA), uint64_t(product.transposeB),
                 uint64_t(product.m), uint64_t(product.n), uint64_t(product.k),
                 wordOf(product.a), wordOf(product.b), wordOf(product.bias),
                 wordOf(product.c), uint64_t(product.cStride)});
}

Status DeviceCommands::issueProduct(std::span<const uint64_t> words) {
  const DeviceProduct product = {
      words[2] != 0,       words[3] != 0,       int64_t(words[4]),
      int64_t(words[5]),   int64_t(words[6]),   pointerOf(words[7]),
      pointerOf(words[8]), pointerOf(words[9]), pointerOf(words[10]),
      int64_t(words[11]),  words[1] != 0};
  // Libraries do not handle products without terms (k = 0).
  if (product.k > 0) {
    const Expected<bool> done = stream.multiply(product);
    if (!done || *done)
      return done.status();
  }
  // Iterations are tiles of C, independent of the types of the factors.
  const std::array<uint64_t, 12> arguments = {
      words[2], words[3], words[4],  words[5],
      words[6], words[7], words[8],  uint64_t(product.bias ? PDL_POST_BIAS : 0),
      words[9], 0,        words[10], words[11]};
  return stream.launch(words[0],
                       pdldevice_product_turns(
                           product.transposeA, product.transposeB, product.m,
                           product.n, product.k, product.a, product.b, 0,
                           product.bias, nullptr, product.c, product.cStride),
                       arguments);
}

bool DeviceCommands::isWorthGraph(std::span<const uint64_t> words) {
  size_t pieces = 0;
  for (; !words.empty() && pieces < minPieces; ++pieces)
    words = words.subspan(2 + words[1]);
  return pieces == minPieces;
}

void DeviceCommands::makeGraph(Part &part) {
  const auto make = [&]() -> Status {
    PDLRT_RETURN_IF_ERROR(stream.beginCapture());
    Status issued = issue(part.words);
    Expected<std::unique_ptr<DeviceGraph>> graph = stream.endCapture();
    PDLRT_RETURN_IF_ERROR(std::move(issued));
    if (!graph)
      return std::move(graph).status();
    part.graph = std::move(*graph);
    return {};
  };
  if (Status status = make(); !status.ok()) {
    isOff = true;
    logWarningOnce("the device makes no graphs of what repeats, which costs "
                   "some time: " +
                   status.message());
  }
}

Status DeviceCommands::endPart() {
  Part &part = shape->parts[partIndex++];
  Status status;
  if (isSame && place == part.words.size()) {
    ++replays;
    status = stream.replay(*part.graph);
  } else {
    if (isSame) {
      // The part is shorter than before.
      current.assign(part.words.begin(), part.words.begin() + place);
      status = issue(current);
    }
    const bool repeats = current == part.words;
    if (!repeats) {
      part.words = current;
      part.graph.reset();
    } else if (status.ok() && !part.graph && !isOff && !Trace::isOn() &&
               isWorthGraph(part.words)) {
      makeGraph(part);
    }
  }
  beginPart();
  return status;
}
