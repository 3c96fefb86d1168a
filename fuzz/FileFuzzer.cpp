//===- FileFuzzer.cpp - Fuzzes files of tensors ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "pdlabi/safetensors.h"
#include "pdlrt/Files/Safetensors.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <variant>

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

/// A header that is read must be written and read again as it is.
static void checkRewriting(const SafetensorsFile &file) {
  const std::vector<pdlabi::TensorEntry> tensors(file.tensors().begin(),
                                                 file.tensors().end());
  const auto laidOut = pdlabi::layOutSafetensors(tensors, file.metadata());
  const auto *layout = std::get_if<pdlabi::SafetensorsLayout>(&laidOut);
  if (!layout)
    std::abort();
  const auto parsed = pdlabi::readSafetensorsHeader(
      layout->head.substr(pdlabi::safetensorsPrefixBytes), layout->bytes);
  const auto *header = std::get_if<pdlabi::SafetensorsHeader>(&parsed);
  if (!header || header->metadata != file.metadata() ||
      header->tensors.size() != tensors.size())
    std::abort();
  for (size_t i = 0; i < tensors.size(); ++i)
    if (header->tensors[i].name != tensors[i].name ||
        header->tensors[i].typeAndShape() != tensors[i].typeAndShape())
      std::abort();
}

void fuzzOne(const std::string &bytes) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(asFile(bytes));
  if (!file)
    return;
  checkRewriting(*file);
  // All bytes of a tensor must be in the file.
  for (const char *name : {"w", "keys", ""})
    if (const TensorView *tensor = file->find(name)) {
      std::vector<char> copy(bytes.size());
      if (!tensor->copyTo(copy.data()).ok())
        std::abort();
    }
}
