//===- TextFuzzer.cpp - Fuzzes handshakes, manifests and records ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "Recovery/RecoveryRecord.h"
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
  CheckpointManifest delta = manifest;
  delta.after = {"step-000000000010", 7};
  CheckpointPart changes;
  changes.file = "table-1-0000.safetensors";
  changes.kind = PartKind::Table;
  changes.symbol = "emb";
  changes.shards = {{0, 1024}};
  changes.isChanges = true;
  changes.owner = 1;
  delta.parts.push_back(changes);
  RecoveryRecord record;
  record.positions = {{1, 2, 3, 4}};
  record.metrics.sums = {0.5};
  return {encodeHandshake(handshake).toString(),
          encodeManifest(manifest),
          encodeManifest(delta),
          encodeSaved(manifest).toString(),
          encodeSaveRequest(
              {SaveKind::Begin, "/saved/a", SavedRows::Changed, "/saved/b"})
              .toString(),
          encodeRecoveryRecord(record).toString()};
}

void fuzzOne(const std::string &bytes) {
  const Message message = inSlices(bytes);
  (void)decodeHandshake(message);
  (void)decodeManifest(bytes);
  (void)decodeSaved(message);
  const SaveRequest save = decodeSaveRequest(message);
  const SaveRequest again = decodeSaveRequest(encodeSaveRequest(save));
  if (save.kind != SaveKind::Stopping &&
      (again.path != save.path || again.rows != save.rows ||
       again.since != save.since))
    __builtin_trap();
  Expected<RecoveryRecord> record = decodeRecoveryRecord(message);
  if (record && !decodeRecoveryRecord(encodeRecoveryRecord(*record)))
    __builtin_trap();
}
