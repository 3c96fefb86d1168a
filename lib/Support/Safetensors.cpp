//===- Safetensors.cpp - Named tensors in one file ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Support/Safetensors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace pdlc;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error failure(StringRef path, const Twine &sentence) {
  return llvm::createStringError(path + ": " + sentence);
}

static std::optional<TensorFileType> typeOfName(StringRef name) {
  return llvm::StringSwitch<std::optional<TensorFileType>>(name)
      .Case("F32", TensorFileType::F32)
      .Case("F64", TensorFileType::F64)
      .Case("I32", TensorFileType::I32)
      .Case("I64", TensorFileType::I64)
      .Default(std::nullopt);
}

size_t pdlc::sizeOfElement(TensorFileType type) {
  return type == TensorFileType::F32 || type == TensorFileType::I32 ? 4 : 8;
}

StringRef pdlc::nameOfElement(TensorFileType type) {
  switch (type) {
  case TensorFileType::F32:
    return "F32";
  case TensorFileType::F64:
    return "F64";
  case TensorFileType::I32:
    return "I32";
  case TensorFileType::I64:
    return "I64";
  }
  llvm_unreachable("all types are named");
}

std::string TensorInFile::typeAndShape() const {
  std::string text = nameOfElement(type).str() + " [";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream);
  return text + "]";
}

/// Reads the header's entry of one tensor. Byte ranges count from `contents`.
static Expected<TensorInFile> readEntry(StringRef path, StringRef name,
                                        const llvm::json::Value &value,
                                        StringRef contents) {
  const llvm::json::Object *object = value.getAsObject();
  const llvm::json::Array *shape = object ? object->getArray("shape") : nullptr;
  const llvm::json::Array *range =
      object ? object->getArray("data_offsets") : nullptr;
  std::optional<StringRef> type =
      object ? object->getString("dtype") : std::nullopt;
  if (!shape || !range || !type || range->size() != 2)
    return failure(path, "tensor '" + name +
                             "' lacks its type, shape or byte range; the file "
                             "is damaged");
  TensorInFile tensor;
  std::optional<TensorFileType> known = typeOfName(*type);
  if (!known)
    return failure(path, "tensor '" + name + "' has elements of type " + *type +
                             "; F32, F64, I32 and I64 are read");
  tensor.type = *known;
  uint64_t size = sizeOfElement(tensor.type);
  tensor.elementCount = 1;
  for (const llvm::json::Value &dimension : *shape) {
    std::optional<int64_t> extent = dimension.getAsInteger();
    if (!extent || *extent < 0 ||
        __builtin_mul_overflow(tensor.elementCount, *extent,
                               &tensor.elementCount))
      return failure(path, "tensor '" + name +
                               "' has a dimension that is not a size; the "
                               "file is damaged");
    tensor.shape.push_back(*extent);
  }
  std::optional<int64_t> begin = (*range)[0].getAsInteger();
  std::optional<int64_t> end = (*range)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *end < *begin ||
      static_cast<uint64_t>(*end) > contents.size() ||
      __builtin_mul_overflow(size, static_cast<uint64_t>(tensor.elementCount),
                             &size) ||
      size != static_cast<uint64_t>(*end - *begin))
    return failure(path, "the byte range of tensor '" + name +
                             "' does not fit its shape and the file; the file "
                             "is damaged or cut off");
  tensor.data = contents.data() + *begin;
  return tensor;
}

Expected<SafetensorsReader> SafetensorsReader::open(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failure(path, "cannot be read: " + buffer.getError().message());
  SafetensorsReader reader;
  reader.filePath = path.str();
  reader.buffer = std::move(*buffer);

  StringRef bytes = reader.buffer->getBuffer();
  if (bytes.size() < 8)
    return failure(path, "is too short for a safetensors file");
  uint64_t headerSize = llvm::support::endian::read64le(bytes.data());
  if (headerSize > bytes.size() - 8)
    return failure(path, "is no safetensors file, or is cut off: its header "
                         "would pass the end of the file");
  Expected<llvm::json::Value> header =
      llvm::json::parse(bytes.substr(8, headerSize));
  if (!header)
    return failure(path, "is no safetensors file: its header is not JSON (" +
                             llvm::toString(header.takeError()) + ")");
  const llvm::json::Object *object = header->getAsObject();
  if (!object)
    return failure(path, "is no safetensors file: its header is no object");
  for (const auto &[key, value] : *object) {
    StringRef name = key;
    if (name == "__metadata__") {
      if (const llvm::json::Object *texts = value.getAsObject())
        for (const auto &[entry, content] : *texts)
          if (std::optional<StringRef> text = content.getAsString())
            reader.texts[StringRef(entry).str()] = text->str();
      continue;
    }
    Expected<TensorInFile> tensor =
        readEntry(path, name, value, bytes.drop_front(8 + headerSize));
    if (!tensor)
      return tensor.takeError();
    reader.entries.emplace(name.str(), std::move(*tensor));
  }
  return reader;
}

const TensorInFile *SafetensorsReader::find(const std::string &name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

void SafetensorsWriter::add(std::string name, TensorFileType type,
                            std::vector<int64_t> shape, const void *data) {
  TensorInFile tensor;
  tensor.type = type;
  tensor.elementCount = 1;
  for (int64_t extent : shape)
    tensor.elementCount *= extent;
  tensor.shape = std::move(shape);
  tensor.data = static_cast<const char *>(data);
  entries[std::move(name)] = std::move(tensor);
}

void SafetensorsWriter::setMetadata(std::string key, std::string value) {
  texts[std::move(key)] = std::move(value);
}

Error pdlc::checkReplaceable(StringRef path) {
  if (path == "-")
    return failure(path, "is the standard output, and the dump is not text; "
                         "name a file (./- for one of that name)");
  llvm::sys::fs::file_status status;
  // What cannot be asked is not there, or cannot be written: that is found out.
  if (llvm::sys::fs::status(path, status, /*follow=*/false))
    return Error::success();
  if (llvm::sys::fs::is_symlink_file(status))
    return failure(path, "is a link, and would be replaced itself; name the "
                         "file that it stands for");
  if (!llvm::sys::fs::is_regular_file(status))
    return failure(path, "is there and is no regular file; name another");
  return Error::success();
}

Error SafetensorsWriter::write(StringRef path) const {
  if (Error error = checkReplaceable(path))
    return error;
  // Eight-byte elements first, so that every tensor is aligned by its type.
  std::vector<const TensorInFile *> order;
  llvm::json::Object header;
  if (!texts.empty()) {
    llvm::json::Object metadata;
    for (const auto &[key, value] : texts)
      metadata[key] = value;
    header["__metadata__"] = std::move(metadata);
  }
  int64_t offset = 0;
  for (size_t size : {8, 4}) {
    for (const auto &[name, tensor] : entries) {
      if (sizeOfElement(tensor.type) != size)
        continue;
      int64_t end = offset + tensor.elementCount * static_cast<int64_t>(size);
      header[name] =
          llvm::json::Object{{"dtype", nameOfElement(tensor.type)},
                             {"shape", llvm::json::Array(tensor.shape)},
                             {"data_offsets", llvm::json::Array{offset, end}}};
      order.push_back(&tensor);
      offset = end;
    }
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  text.resize((text.size() + 7) / 8 * 8, ' ');

  Error error =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) -> Error {
        char size[8];
        llvm::support::endian::write64le(size, text.size());
        stream.write(size, sizeof(size));
        stream << text;
        for (const TensorInFile *tensor : order)
          stream.write(tensor->data, static_cast<size_t>(tensor->elementCount) *
                                         sizeOfElement(tensor->type));
        return Error::success();
      });
  if (error)
    return failure(path,
                   "cannot be written: " + llvm::toString(std::move(error)) +
                       "; check that the folder exists and may be written");
  return error;
}
