//===- PredictionTensors.cpp - Predictions as tensors ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number of rows is known only at the end, but the header is at the start
// of the file. So each tensor grows in an unnamed temporary file next to the
// output. At the end the tensors are copied into the output.
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/PredictionFormats.h"

#include "Data/FieldTexts.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Files/Safetensors.h"

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <set>
#include <system_error>
#include <unistd.h>
#include <vector>

using namespace pdlrt;

namespace {

/// Tensor that grows row by row in an unnamed file.
class GrowingTensor {
public:
  GrowingTensor(std::string name, TensorType type, std::vector<int64_t> shape)
      : name(std::move(name)), type(type), shape(std::move(shape)) {}
  GrowingTensor(const GrowingTensor &) = delete;
  GrowingTensor &operator=(const GrowingTensor &) = delete;
  GrowingTensor(GrowingTensor &&other) noexcept
      : name(std::move(other.name)), type(other.type),
        shape(std::move(other.shape)), buffer(std::move(other.buffer)),
        file(std::exchange(other.file, -1)) {}
  GrowingTensor &operator=(GrowingTensor &&) = delete;
  ~GrowingTensor() {
    if (file >= 0)
      ::close(file);
  }

  /// Opens the file. `open` and `append` report errors in errno.
  bool open(const std::string &path);
  bool append(const void *bytes, size_t size) {
    buffer.append(static_cast<const char *>(bytes), size);
    return buffer.size() < bufferBytes || flush();
  }
  bool flush();
  /// Adds the tensor, which has `rows` rows, to `writer`, which reads the
  /// temporary file. Reading may throw std::system_error.
  Status addTo(SafetensorsWriter &writer, int64_t rows) const;

private:
  static constexpr size_t bufferBytes = size_t(1) << 16;
  size_t rowBytes() const {
    size_t bytes = tensorElementSize(type);
    for (size_t i = 1; i < shape.size(); ++i)
      bytes *= size_t(shape[i]);
    return bytes;
  }

  std::string name;
  TensorType type;
  /// The first dimension is the number of rows.
  std::vector<int64_t> shape;
  std::string buffer;
  int file = -1;
};

class TensorPredictions final : public PredictionWriter {
public:
  TensorPredictions(std::string path, const pdl_program &program)
      : path(std::move(path)), program(program) {}

  Status open(const std::vector<std::string> &copied);
  Status write(const void *const *outputs, int64_t sample,
               std::string_view copiedCells) override;
  Status writeBadRow(std::string_view copiedCells) override;
  Status flush() override { return {}; }
  Status finish() override;

private:
  Status addAll(SafetensorsWriter &writer) const;
  Status endRow(std::string_view copiedCells, bool good);

  const std::string path;
  const pdl_program &program;
  int64_t rows = 0;
  size_t firstCopied() const { return size_t(program.output_count); }
  GrowingTensor &splitsOf(size_t copied) {
    return tensors[firstCopied() + 2 * copied + 1];
  }

  /// The tensors of all outputs. Then two tensors for each copied column: the
  /// bytes of its cells, and their splits.
  std::vector<GrowingTensor> tensors;
  /// Number of bytes so far of each copied column.
  std::vector<int64_t> copiedBytes;
};

} // namespace

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

bool GrowingTensor::open(const std::string &path) {
  file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  // The file disappears with the process, however that ends.
  return file >= 0 && ::unlink(path.c_str()) == 0;
}

bool GrowingTensor::flush() {
  size_t written = 0;
  while (written < buffer.size()) {
    const ssize_t count =
        ::write(file, buffer.data() + written, buffer.size() - written);
    if (count < 0 && errno != EINTR)
      return false;
    written += count < 0 ? 0 : size_t(count);
  }
  buffer.clear();
  return true;
}

Status GrowingTensor::addTo(SafetensorsWriter &writer, int64_t rows) const {
  std::vector<int64_t> whole = shape;
  whole.front() = rows;
  const size_t size = rowBytes();
  return writer.addRows(
      name, type, std::move(whole),
      [this, size](int64_t first, int64_t count, std::byte *out) {
        size_t left = size_t(count) * size;
        off_t offset = off_t(first) * off_t(size);
        while (left > 0) {
          const ssize_t some = ::pread(file, out, left, offset);
          if (some < 0 && errno == EINTR)
            continue;
          if (some <= 0)
            throw std::system_error(some < 0 ? errno : EIO,
                                    std::generic_category());
          out += some;
          offset += some;
          left -= size_t(some);
        }
      });
}

//===----------------------------------------------------------------------===//
// All tensors
//===----------------------------------------------------------------------===//

static TensorType typeOf(const pdl_output &output) {
  return output.element_type == PDL_F32   ? TensorType::F32
         : output.element_type == PDL_F64 ? TensorType::F64
                                          : TensorType::I64;
}

Status TensorPredictions::open(const std::vector<std::string> &copied) {
  std::set<std::string> names;
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &output = program.outputs[i];
    tensors.emplace_back(output.name, typeOf(output),
                         std::vector<int64_t>{0, output.width});
    names.insert(output.name);
  }
  copiedBytes.resize(copied.size());
  for (const std::string &column : copied) {
    tensors.emplace_back(column + ".values", TensorType::U8,
                         std::vector<int64_t>{0});
    tensors.emplace_back(column + ".splits", TensorType::I64,
                         std::vector<int64_t>{0});
    for (const char *part : {".values", ".splits"})
      if (!names.insert(column + part).second)
        return refuseSecondName(column + part, program);
  }
  // Report errors of the header now, and not after the last row.
  SafetensorsWriter writer;
  PDLRT_RETURN_IF_ERROR(addAll(writer));
  PDLRT_RETURN_IF_ERROR(writer.layout(path).status());
  int number = 0;
  for (GrowingTensor &tensor : tensors)
    if (!tensor.open(path + ".tmp." + std::to_string(getpid()) + "." +
                     std::to_string(number++)))
      return predictionsFailed(path, errno);
  for (size_t i = 0; i < copied.size(); ++i)
    if (!splitsOf(i).append(&copiedBytes[i], sizeof(int64_t)))
      return predictionsFailed(path, errno);
  return {};
}

Status TensorPredictions::addAll(SafetensorsWriter &writer) const {
  for (int32_t i = 0; i < program.output_count; ++i)
    PDLRT_RETURN_IF_ERROR(tensors[size_t(i)].addTo(writer, rows));
  for (size_t i = 0; i < copiedBytes.size(); ++i) {
    const size_t values = firstCopied() + 2 * i;
    PDLRT_RETURN_IF_ERROR(tensors[values].addTo(writer, copiedBytes[i]));
    PDLRT_RETURN_IF_ERROR(tensors[values + 1].addTo(writer, rows + 1));
  }
  writer.setMetadata("program", program.name);
  return {};
}

/// Completes a row after its outputs were appended. `good`: false if an append
/// has failed; errno then has the error.
Status TensorPredictions::endRow(std::string_view copiedCells, bool good) {
  for (size_t i = 0; i < copiedBytes.size() && good; ++i) {
    const std::string_view cell =
        takeCopiedCell(copiedCells, copiedBytes.size());
    copiedBytes[i] += int64_t(cell.size());
    good = tensors[firstCopied() + 2 * i].append(cell.data(), cell.size()) &&
           splitsOf(i).append(&copiedBytes[i], sizeof(int64_t));
  }
  ++rows;
  return good ? Status() : predictionsFailed(path, errno);
}

Status TensorPredictions::write(const void *const *outputs, int64_t sample,
                                std::string_view copiedCells) {
  bool good = true;
  for (int32_t i = 0; i < program.output_count && good; ++i) {
    const pdl_output &output = program.outputs[i];
    const size_t bytes =
        size_t(output.width) * tensorElementSize(typeOf(output));
    good = tensors[size_t(i)].append(
        static_cast<const char *>(outputs[i]) + size_t(sample) * bytes, bytes);
  }
  return endRow(copiedCells, good);
}

Status TensorPredictions::writeBadRow(std::string_view copiedCells) {
  constexpr float noFloat = std::numeric_limits<float>::quiet_NaN();
  constexpr double noDouble = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t noInteger = -1;
  bool good = true;
  for (int32_t i = 0; i < program.output_count; ++i) {
    GrowingTensor &tensor = tensors[size_t(i)];
    const TensorType type = typeOf(program.outputs[i]);
    const void *none = &noInteger;
    if (type == TensorType::F32)
      none = &noFloat;
    else if (type == TensorType::F64)
      none = &noDouble;
    for (int64_t j = 0; j < program.outputs[i].width && good; ++j)
      good = tensor.append(none, tensorElementSize(type));
  }
  return endRow(copiedCells, good);
}

Status TensorPredictions::finish() {
  for (GrowingTensor &tensor : tensors)
    if (!tensor.flush())
      return predictionsFailed(path, errno);
  SafetensorsWriter writer;
  PDLRT_RETURN_IF_ERROR(addAll(writer));
  try {
    return writer.write(path);
  } catch (const std::system_error &error) {
    return predictionsFailed(path, error.code().value());
  }
}

Expected<std::unique_ptr<PredictionWriter>>
pdlrt::openTensorPredictions(const std::string &path,
                             const pdl_program &program,
                             const std::vector<std::string> &copied) {
  auto writer = std::make_unique<TensorPredictions>(path, program);
  PDLRT_RETURN_IF_ERROR(writer->open(copied));
  return std::unique_ptr<PredictionWriter>(std::move(writer));
}
