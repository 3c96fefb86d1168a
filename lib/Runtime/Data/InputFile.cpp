//===- InputFile.cpp - The bytes of a data file ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/InputFile.h"

#include "Data/KafkaAddress.h"
#include "Data/RecordReader.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace pdlrt;

InputFile::InputFile() = default;

InputFile::~InputFile() {
  // The read-ahead thread uses the file.
  ahead.reset();
  if (file >= 0)
    ::close(file);
}

bool pdlrt::isStandardInput(const std::string &name) { return name == "-"; }

std::string pdlrt::inputName(const std::string &name) {
  if (isKafkaAddress(name))
    return kafkaName(name);
  return isStandardInput(name) ? "standard input" : name;
}

InputOptions InputOptions::of(const RecordReaderOptions &options) {
  return {.inBackground = options.data.unpackInBackground,
          .wait = options.wait,
          .pipe = options.data.pipe};
}

/// Opens an object of a store, in the version that this program has seen first.
Status InputFile::openStored(const std::string &name) {
  auto opened = openPinned(name);
  PDLRT_RETURN_IF_ERROR(opened.status());
  length = left = (*opened)->info().bytes;
  stored = std::make_unique<StoredStream>(*std::move(opened));
  return {};
}

/// Opens the file, or the output of the command that reads it.
Status InputFile::openFile(const std::string &name, bool isStandard) {
  if (isKafkaAddress(name))
    return Status::invalidArgument(
        path + ": messages hold lines of text, which this format has not; "
               "choose another format");
  if (command) {
    auto output = command->start(name);
    PDLRT_RETURN_IF_ERROR(output.status());
    file = *output;
    mayWait = true;
    return {};
  }
  if (isInObjectStore(name))
    return openStored(name);
  // Does not wait for a writer here; `await` does. The standard input is shared
  // with other processes, which may not expect it to be non-blocking.
  file = isStandard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (file < 0 || ::fstat(file, &info) != 0)
    return Status::ofErrno(
        errno, path + ": cannot be opened: " + std::strerror(errno));
  mayWait = !S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode);
  // Files of the operating system, such as those in /proc, have size 0.
  if (S_ISREG(info.st_mode) && info.st_size > 0 && !isStandard)
    length = left = static_cast<uint64_t>(info.st_size);
  return {};
}

Status InputFile::open(const std::string &name, const InputOptions &options) {
  path = inputName(name);
  wait = options.wait;
  const bool isStandard = isStandardInput(name);
  if (!options.pipe.empty())
    command = std::make_unique<DataCommand>(options.pipe);
  PDLRT_RETURN_IF_ERROR(openFile(name, isStandard));
  // Neither has a name that says how its bytes are compressed.
  const bool isNameless = isStandard || command;
  const Unpacker::PackedBytes bytesOfFile = [this](char *bytes, size_t size) {
    return readFile(bytes, size);
  };
  if (isNameless)
    PDLRT_RETURN_IF_ERROR(readBeginning());
  auto created = isNameless
                     ? Unpacker::create(packingOf(beginning), path, bytesOfFile)
                     : Unpacker::create(path, bytesOfFile);
  PDLRT_RETURN_IF_ERROR(created.status());
  unpacker = *std::move(created);
  // A thread that waits for data of a pipe could not be ended.
  if (unpacker && options.inBackground && !mayWait)
    ahead = ReadAhead::start([this](char *bytes, size_t size) {
      return unpacker->read(bytes, size);
    });
  return {};
}

Expected<size_t> InputFile::read(char *destination, size_t size) {
  if (ahead)
    return ahead->read(destination, size);
  return unpacker ? unpacker->read(destination, size)
                  : readFile(destination, size);
}

Expected<bool> InputFile::pass(uint64_t count) {
  if (length && !unpacker) {
    if (count > left)
      return false;
    if (stored)
      stored->skip(count);
    else if (::lseek(file, off_t(count), SEEK_CUR) < 0)
      return Status::ofErrno(
          errno, path + ": cannot be read: " + std::strerror(errno));
    left -= count;
    return true;
  }
  std::vector<char> passed(std::min<uint64_t>(count, uint64_t(1) << 20));
  while (count > 0) {
    auto some = read(passed.data(), std::min<uint64_t>(count, passed.size()));
    PDLRT_RETURN_IF_ERROR(some.status());
    if (*some == 0)
      return false;
    count -= *some;
  }
  return true;
}

/// Reads as many bytes as are needed to detect the compression format.
Status InputFile::readBeginning() {
  std::string begin;
  while (mayBecomePacked(begin)) {
    char byte;
    auto count = readFile(&byte, 1);
    PDLRT_RETURN_IF_ERROR(count.status());
    if (*count == 0)
      break;
    begin += byte;
  }
  beginning = std::move(begin);
  return {};
}

/// Waits until there are bytes, or no writer is left.
Status InputFile::await() const {
  pollfd events[] = {{file, POLLIN, 0},
                     {stopDescriptor(), POLLIN, 0},
                     {wait ? wait->descriptor() : -1, POLLIN, 0}};
  while (true) {
    const int count =
        ::poll(events, std::size(events), wait ? wait->timeout() : -1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Status::ofErrno(
          errno, path + ": cannot be read: " + std::strerror(errno));
    // Available data is read first, so that a stop loses nothing.
    if (events[0].revents != 0)
      return {};
    if (events[1].revents != 0)
      return Status::cancelled(path + ": was not read to its end, because the "
                                      "process was told to stop");
    if (events[2].revents != 0)
      return Status::cancelled(path + ": was not read to its end, because no "
                                      "reader wants the rest of it");
    wait->noteLate();
    return Status::unavailable(path + ": has no more bytes for now");
  }
}

Expected<size_t> InputFile::readFile(char *destination, size_t size) {
  if (length)
    size = std::min<uint64_t>(size, left);
  if (size == 0)
    return size_t(0);
  if (!beginning.empty()) {
    size = beginning.copy(destination, size);
    beginning.erase(0, size);
    return size;
  }
  if (stored) {
    auto count = stored->read(destination, size);
    if (count)
      left -= *count;
    return count;
  }
  while (true) {
    if (mayWait)
      PDLRT_RETURN_IF_ERROR(await());
    const ssize_t count = ::read(file, destination, size);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (count < 0)
      return Status::ofErrno(
          errno, path + ": cannot be read: " + std::strerror(errno));
    if (count == 0 && command)
      PDLRT_RETURN_IF_ERROR(command->finish());
    if (length && count == 0)
      return Status::dataLoss(
          path + ": ends at byte " + std::to_string(*length - left) +
          ", but had " + std::to_string(*length) +
          " when it was opened; do not change a file that is read");
    left -= length ? static_cast<uint64_t>(count) : 0;
    return static_cast<size_t>(count);
  }
}
