//===- FileFuzzer.cpp - Files of tensors ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "pdlrt/Files/Safetensors.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace pdlrt;

std::vector<std::string> fuzzSeeds() {
  SafetensorsWriter writer;
  const float values[] = {1, 2, 3, 4};
  const int64_t keys[] = {7, 9};
  (void)writer.add("w", TensorType::F32, {2, 2}, values);
  (void)writer.add("keys", TensorType::I64, {2}, keys);
  writer.setMetadata("model", "small");
  const std::string path = asFile("");
  (void)writer.write(path);
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return {bytes.str()};
}

void fuzzOne(const std::string &bytes) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(asFile(bytes));
  if (!file)
    return;
  // Every byte of a tensor lies in the file.
  for (const char *name : {"w", "keys", ""})
    if (const TensorView *tensor = file->find(name)) {
      std::vector<char> copy(bytes.size());
      if (!tensor->copyTo(copy.data()).ok())
        std::abort();
    }
}
