//===- TextFuzzer.cpp - Handshakes, manifests, bookmarks ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "Job/Bookmark.h"
#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"

using namespace pdlrt;

std::vector<std::string> fuzzSeeds() {
  Handshake handshake;
  handshake.model = "small";
  handshake.job = "one";
  CheckpointManifest manifest;
  manifest.model = "small";
  manifest.groupSteps = {{"dense", 7}};
  manifest.settings = {{"--batch-size", "16"}};
  CheckpointSymbol symbol;
  symbol.name = "w";
  symbol.shape = {3, 4};
  manifest.symbols = {symbol};
  CheckpointPart part;
  part.file = "dense-0.safetensors";
  manifest.parts = {part};
  Bookmark bookmark;
  bookmark.positions = {{1, 2, 3, 4}};
  bookmark.metrics.sums = {0.5};
  return {encodeHandshake(handshake).toString(), encodeManifest(manifest),
          encodeSaved(manifest).toString(),
          encodeBookmark(bookmark).toString()};
}

void fuzzOne(const std::string &bytes) {
  const Message message = inSlices(bytes);
  (void)decodeHandshake(message);
  (void)decodeManifest(bytes);
  (void)decodeSaved(message);
  Expected<Bookmark> bookmark = decodeBookmark(message);
  if (bookmark && !decodeBookmark(encodeBookmark(*bookmark)))
    __builtin_trap();
}
