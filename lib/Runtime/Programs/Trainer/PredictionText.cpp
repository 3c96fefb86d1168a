//===- PredictionText.cpp - Predictions as lines of text ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/PredictionFormats.h"

#include "Data/FieldTexts.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace pdlrt;

namespace {

/// Number of bytes that are collected before a write.
constexpr size_t bufferBytes = size_t(1) << 16;
/// A pipe that is ready accepts this many bytes without blocking (PIPE_BUF).
constexpr size_t pipeBytes = 4096;
/// Milliseconds that a reader has to accept more text after a request to stop.
constexpr int patience = 3000;

/// File descriptor to which text is written.
class TextOutput {
public:
  TextOutput() = default;
  TextOutput(const TextOutput &) = delete;
  TextOutput &operator=(const TextOutput &) = delete;
  ~TextOutput();

  Status open(const std::string &path);
  std::string &buffer() { return text; }
  Status flushIfFull() {
    return text.size() < bufferBytes ? Status() : flush();
  }
  Status flush();
  /// Returns true if readers see flushed text at once.
  bool isSeenAtOnce() const { return temporaryPath.empty(); }
  Status finish();

private:
  Status fail() const { return predictionsFailed(path, errno); }
  Status openFile(const std::string &name);
  Status awaitReader() const;

  std::string path; ///< empty: the standard output
  /// Temporary name of the file; empty if it is written directly, as a pipe is.
  std::string temporaryPath;
  int file = -1;
  /// True if the reader may delay writes.
  bool mayWait = false;
  std::string text;
};

class TextPredictions final : public PredictionWriter {
public:
  TextPredictions(PredictionFormat format, const pdl_program &program,
                  size_t copiedCount)
      : isCsv(format == PredictionFormat::Csv), program(program),
        copiedCount(copiedCount) {}

  Status open(const std::string &path, const std::vector<std::string> &columns,
              const std::vector<std::string> &copied);
  Status write(const void *const *outputs, int64_t sample,
               std::string_view copiedCells) override;
  Status writeBadRow(std::string_view copiedCells) override;
  Status flush() override {
    return output.isSeenAtOnce() ? output.flush() : Status();
  }
  Status finish() override { return output.finish(); }

private:
  void beginLine(std::string_view copiedCells);
  void beginCell();
  void addText(std::string_view cell);
  Status endLine();

  const bool isCsv;
  const pdl_program &program;
  const size_t copiedCount;
  bool isFirstCell = true;
  TextOutput output;
};

} // namespace

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

TextOutput::~TextOutput() {
  // A concurrent reader gets the predictions made before a failure.
  if (file >= 0 && isSeenAtOnce())
    (void)flush().ok();
  if (file >= 0 && !path.empty())
    ::close(file);
  if (!temporaryPath.empty())
    ::unlink(temporaryPath.c_str());
}

Status TextOutput::open(const std::string &name) {
  const bool isStandard = name.empty() || name == "-";
  path = isStandard ? "" : name;
  // A regular file is written under a temporary name, so that an existing file
  // is kept until the new one is complete. Devices, pipes and targets of links
  // are written directly.
  struct stat found;
  const bool isRegular =
      ::lstat(name.c_str(), &found) != 0 || S_ISREG(found.st_mode);
  const std::string temporary =
      isStandard || !isRegular ? "" : name + ".tmp." + std::to_string(getpid());
  const std::string &opened = temporary.empty() ? path : temporary;
  if (isStandard && isStandardOutputClosed())
    return Status::failedPrecondition(
        "the standard output is closed: no process would get "
        "the predictions; leave it open, or name a file "
        "with --output");
  if (isStandard)
    file = STDOUT_FILENO;
  else
    PDLRT_RETURN_IF_ERROR(openFile(opened));
  temporaryPath = temporary;
  mayWait = ::fstat(file, &found) == 0 && !S_ISREG(found.st_mode);
  return {};
}

/// Opens the file. If it is a pipe, waits until a process reads it, or until
/// this process is told to stop.
Status TextOutput::openFile(const std::string &name) {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
  constexpr int pause = 50;
  struct stat found;
  while ((file = ::open(name.c_str(), flags, 0666)) < 0) {
    if (errno == EINTR)
      continue;
    if (errno != ENXIO || ::stat(name.c_str(), &found) != 0 ||
        !S_ISFIFO(found.st_mode))
      return fail();
    pollfd event = {stopDescriptor(), POLLIN, 0};
    if (::poll(&event, 1, pause) > 0 || stopSignal() != 0)
      return Status::cancelled("no predictions were written to " + name +
                               ": no process read it, and a stop signal "
                               "arrived");
  }
  if (::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK) < 0)
    return fail();
  return {};
}

/// Waits until the file accepts bytes. After the process was told to stop,
/// waits only for `patience`, and then returns an error.
Status TextOutput::awaitReader() const {
  pollfd events[] = {{file, POLLOUT, 0}, {stopDescriptor(), POLLIN, 0}};
  while (true) {
    const bool stops = stopSignal() != 0;
    const int count = ::poll(events, stops ? 1 : 2, stops ? patience : -1);
    if (count < 0 && errno != EINTR)
      return fail();
    if (count > 0 && events[0].revents != 0)
      return {};
    if (count == 0)
      return Status::cancelled(
          "the last predictions for " +
          (path.empty() ? std::string("the standard output") : path) +
          " were not written: no process read them, and a stop signal "
          "arrived");
  }
}

Status TextOutput::flush() {
  size_t written = 0;
  Status status;
  while (written < text.size() && status.ok()) {
    if (mayWait)
      status = awaitReader();
    if (!status.ok())
      break;
    const size_t left = text.size() - written;
    const ssize_t count = ::write(file, text.data() + written,
                                  mayWait ? std::min(left, pipeBytes) : left);
    if (count >= 0)
      written += size_t(count);
    else if (errno != EINTR && errno != EAGAIN)
      status = fail();
  }
  text.clear();
  return status;
}

Status TextOutput::finish() {
  Status status = flush();
  if (!path.empty() && ::close(file) != 0 && status.ok())
    status = fail();
  file = -1;
  if (status.ok() && !temporaryPath.empty()) {
    if (::rename(temporaryPath.c_str(), path.c_str()) != 0)
      return fail();
    temporaryPath.clear();
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

Status TextPredictions::open(const std::string &path,
                             const std::vector<std::string> &columns,
                             const std::vector<std::string> &copied) {
  PDLRT_RETURN_IF_ERROR(output.open(path));
  isFirstCell = true;
  for (const std::vector<std::string> *names : {&copied, &columns})
    for (const std::string &name : *names) {
      beginCell();
      addText(name);
    }
  return endLine();
}

/// Returns true if a CSV cell must be quoted to be read back unchanged.
static bool wantsQuotes(std::string_view cell) {
  const auto isBlank = [](char c) { return c == ' ' || c == '\t'; };
  return cell.find_first_of(",\"\r\n") != std::string_view::npos ||
         (!cell.empty() && (isBlank(cell.front()) || isBlank(cell.back())));
}

void TextPredictions::addText(std::string_view cell) {
  std::string &line = output.buffer();
  if (isCsv && !wantsQuotes(cell)) {
    line += cell;
  } else if (isCsv) {
    line += '"';
    for (char c : cell) {
      line += c;
      if (c == '"')
        line += c;
    }
    line += '"';
  } else {
    for (char c : cell)
      line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
}

template <typename T>
static void appendNumber(const void *values, int64_t index, std::string &line) {
  // The shortest text that is read back as the same number.
  char digits[64];
  auto end = std::to_chars(digits, digits + sizeof(digits),
                           static_cast<const T *>(values)[index])
                 .ptr;
  line.append(digits, end);
}

void TextPredictions::beginLine(std::string_view copiedCells) {
  isFirstCell = true;
  for (size_t i = 0; i < copiedCount; ++i) {
    beginCell();
    addText(takeCopiedCell(copiedCells, copiedCount));
  }
}

void TextPredictions::beginCell() {
  if (!isFirstCell)
    output.buffer() += isCsv ? ',' : '\t';
  isFirstCell = false;
}

Status TextPredictions::endLine() {
  output.buffer() += '\n';
  return output.flushIfFull();
}

using NumberAppender = void (*)(const void *values, int64_t index,
                                std::string &line);
static NumberAppender appenderOf(int32_t elementType) {
  switch (elementType) {
  case PDL_F64:
    return appendNumber<double>;
  case PDL_I64:
    return appendNumber<int64_t>;
  default:
    return appendNumber<float>;
  }
}

Status TextPredictions::write(const void *const *outputs, int64_t sample,
                              std::string_view copiedCells) {
  beginLine(copiedCells);
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &column = program.outputs[i];
    const NumberAppender append = appenderOf(column.element_type);
    for (int64_t j = 0; j < column.width; ++j) {
      beginCell();
      append(outputs[i], sample * column.width + j, output.buffer());
    }
  }
  return endLine();
}

Status TextPredictions::writeBadRow(std::string_view copiedCells) {
  beginLine(copiedCells);
  for (int32_t i = 0; i < program.output_count; ++i)
    for (int64_t j = 0; j < program.outputs[i].width; ++j) {
      beginCell();
      output.buffer() +=
          program.outputs[i].element_type == PDL_I64 ? "-1" : "nan";
    }
  return endLine();
}

/// Returns the names of the output columns.
static std::vector<std::string> columnsOf(const pdl_program &program) {
  std::vector<std::string> columns;
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &output = program.outputs[i];
    for (int64_t j = 0; j < output.width; ++j)
      columns.push_back(output.width > 1
                            ? output.name + ("." + std::to_string(j))
                            : output.name);
  }
  return columns;
}

Expected<std::unique_ptr<PredictionWriter>>
pdlrt::openTextPredictions(PredictionFormat format, const std::string &path,
                           const pdl_program &program,
                           const std::vector<std::string> &copied) {
  const std::vector<std::string> columns = columnsOf(program);
  std::set<std::string> names(columns.begin(), columns.end());
  for (const std::string &name : copied)
    if (!names.insert(name).second)
      return refuseSecondName(name, program);
  auto writer =
      std::make_unique<TextPredictions>(format, program, copied.size());
  PDLRT_RETURN_IF_ERROR(writer->open(path, columns, copied));
  return std::unique_ptr<PredictionWriter>(std::move(writer));
}
