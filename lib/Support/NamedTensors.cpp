//===- NamedTensors.cpp - Named tensors in one file -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Support/NamedTensors.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>
#include <variant>

using namespace pdlc;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error failure(StringRef path, const Twine &message) {
  return llvm::createStringError(path + ": " + message);
}

/// Returns true if the interpreter computes with elements of this type.
static bool isSupported(pdlabi::TensorType type) {
  return type == pdlabi::TensorType::F32 || type == pdlabi::TensorType::F64 ||
         type == pdlabi::TensorType::I32 || type == pdlabi::TensorType::I64;
}

Expected<NamedTensorsReader> NamedTensorsReader::open(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failure(path, "cannot be read: " + buffer.getError().message());
  NamedTensorsReader reader;
  reader.filePath = path.str();
  reader.buffer = std::move(*buffer);

  const StringRef bytes = reader.buffer->getBuffer();
  auto headerBytes = pdlabi::readSafetensorsPrefix(
      bytes.take_front(pdlabi::safetensorsPrefixBytes), bytes.size());
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&headerBytes))
    return failure(path, error->message);
  auto parsed = pdlabi::readSafetensorsHeader(
      bytes.substr(pdlabi::safetensorsPrefixBytes,
                   *std::get_if<uint64_t>(&headerBytes)),
      bytes.size());
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&parsed))
    return failure(path, error->message);
  auto *header = std::get_if<pdlabi::SafetensorsHeader>(&parsed);
  for (pdlabi::TensorEntry &tensor : header->tensors) {
    if (!isSupported(tensor.type))
      return failure(path, "tensor `" + tensor.name + "` has the type " +
                               pdlabi::tensorTypeName(tensor.type) +
                               "; convert it to F32, F64, I32 or I64");
    const char *data = bytes.data() + tensor.offset;
    std::string name = tensor.name;
    reader.entries.emplace(std::move(name),
                           TensorInFile{std::move(tensor), data});
  }
  reader.texts = std::move(header->metadata);
  return reader;
}

const TensorInFile *NamedTensorsReader::find(const std::string &name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

void NamedTensorsWriter::add(std::string name, pdlabi::TensorType type,
                             std::vector<int64_t> shape, const void *data) {
  TensorInFile tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.data = static_cast<const char *>(data);
  entries[std::move(name)] = std::move(tensor);
}

void NamedTensorsWriter::setMetadata(std::string key, std::string value) {
  texts[std::move(key)] = std::move(value);
}

Error pdlc::checkReplaceable(StringRef path) {
  if (path == "-")
    return failure(path, "is the standard output, and the dump is not text; "
                         "name a file (./- for one of that name)");
  llvm::sys::fs::file_status status;
  // If the status cannot be read, the file does not exist, or it is not
  // accessible; opening it will report that.
  if (llvm::sys::fs::status(path, status, /*follow=*/false))
    return Error::success();
  if (llvm::sys::fs::is_symlink_file(status))
    return failure(path, "is a link, and would be replaced itself; name the "
                         "file that it stands for");
  if (!llvm::sys::fs::is_regular_file(status))
    return failure(path, "is there and is no regular file; name another");
  return Error::success();
}

Error NamedTensorsWriter::write(StringRef path) const {
  if (Error error = checkReplaceable(path))
    return error;
  std::vector<pdlabi::TensorEntry> tensors;
  for (const auto &[name, tensor] : entries)
    tensors.push_back(tensor);
  auto laidOut = pdlabi::layOutSafetensors(std::move(tensors), texts);
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&laidOut))
    return failure(path, error->message);
  const auto &layout = *std::get_if<pdlabi::SafetensorsLayout>(&laidOut);

  Error error =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) -> Error {
        stream << layout.head;
        for (const pdlabi::TensorEntry &tensor : layout.tensors)
          stream.write(entries.at(tensor.name).data, tensor.byteSize());
        return Error::success();
      });
  if (error)
    return failure(path,
                   "cannot be written: " + llvm::toString(std::move(error)) +
                       "; check that the folder exists and may be written");
  return error;
}
