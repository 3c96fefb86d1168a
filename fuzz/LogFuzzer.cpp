//===- LogFuzzer.cpp - Fuzzes logs of applied updates ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "pdlrt/Server/AppliedLog.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

using namespace pdlrt;

std::vector<std::string> fuzzSeeds() {
  const std::string path = asFile("");
  unlink(path.c_str());
  AppliedLogHeader header;
  header.job.model = "small";
  auto writer = AppliedLogWriter::create(path, header);
  if (!writer)
    return {};
  Envelope head;
  head.kind = MessageKind::Exchange;
  head.sequence = 1;
  (*writer)->append(head, Message::ofString("payload"), Turn::Late);
  (*writer)->appendClosed();
  (*writer)->appendResponded({&head, 1});
  (void)(*writer)->finish(7);
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return {bytes.str()};
}

void fuzzOne(const std::string &bytes) {
  auto reader = AppliedLogReader::open(asFile(bytes));
  if (!reader)
    return;
  size_t size = 0;
  while (true) {
    Expected<std::optional<AppliedRecord>> record = (*reader)->next();
    if (!record)
      return;
    const std::optional<AppliedRecord> &found = *record;
    if (!found)
      return;
    if (found->request)
      size += found->request->payload.size();
    if (size > bytes.size())
      __builtin_trap();
  }
}
