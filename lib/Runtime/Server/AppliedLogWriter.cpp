//===- AppliedLogWriter.cpp - Writes the log of applied requests ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/AppliedLogFormat.h"
#include "pdlrt/Core/BlockedSignals.h"
#include "pdlrt/Server/AppliedLog.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::appliedlog;

/// Maximum number of bytes that wait to be written to disk.
static constexpr size_t queueLimit = size_t(256) << 20;
static constexpr size_t fileBuffer = size_t(1) << 20;

/// Returns a message with the same bytes, all of which have an owner. So the
/// message may be used after the call that has delivered it.
static Message owned(const Message &message) {
  Message result;
  for (const MessageSlice &slice : message.slices()) {
    if (slice.owner) {
      result.append(slice);
      continue;
    }
    const Message copy = Message::ofString(
        std::string(reinterpret_cast<const char *>(slice.data), slice.size));
    result.append(copy.slices().front());
  }
  return result;
}

/// Returns an error if the file exists. Pipes and devices are accepted.
static Status checkNew(const std::string &path, bool &isThere) {
  struct stat found = {};
  isThere = ::stat(path.c_str(), &found) == 0;
  if (isThere && S_ISREG(found.st_mode))
    return Status::failedPrecondition(
        path + ": is there already; name another log, or "
               "move this one away");
  return {};
}

static Status cannotCreate(const std::string &path) {
  return Status::ofErrno(
      errno, path + ": cannot be created: " + std::strerror(errno) +
                 "; check that the folder exists and may be written");
}

Status AppliedLogWriter::checkPath(const std::string &path) {
  bool isThere = false;
  PDLRT_RETURN_IF_ERROR(checkNew(path, isThere));
  const std::string folder = std::filesystem::path(path).parent_path();
  const bool isWritable =
      isThere
          ? ::access(path.c_str(), W_OK) == 0
          : ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
  return isWritable ? Status() : cannotCreate(path);
}

Expected<std::unique_ptr<AppliedLogWriter>>
AppliedLogWriter::create(const std::string &path,
                         const AppliedLogHeader &header) {
  bool isThere = false;
  PDLRT_RETURN_IF_ERROR(checkNew(path, isThere));
  const int handle =
      ::open(path.c_str(),
             O_WRONLY | O_CLOEXEC | (isThere ? 0 : O_CREAT | O_EXCL), 0666);
  std::FILE *file = handle < 0 ? nullptr : ::fdopen(handle, "w");
  if (!file) {
    Status failure = cannotCreate(path);
    if (handle >= 0)
      ::close(handle);
    return failure;
  }
  std::unique_ptr<AppliedLogWriter> writer(new AppliedLogWriter(path, file));
  Message body = Message::ofString(
      std::string(reinterpret_cast<const char *>(&header.startDigest),
                  sizeof(header.startDigest)));
  const Message handshake = encodeHandshake(header.job);
  for (const MessageSlice &slice : handshake.slices())
    body.append(slice);
  writer->add({HeaderRecord, std::move(body)});
  try {
    const BlockedSignals blocked;
    writer->thread = std::thread([self = writer.get()] { self->work(); });
  } catch (const std::system_error &error) {
    return Status::outOfMemory(
        path + ": the thread that writes it cannot be started: " +
        error.what() + "; leave --log-applied out, or use fewer --threads");
  }
  return writer;
}

AppliedLogWriter::AppliedLogWriter(std::string path, std::FILE *file)
    : path(std::move(path)), file(file) {
  std::setvbuf(file, nullptr, _IOFBF, fileBuffer);
}

AppliedLogWriter::~AppliedLogWriter() {
  stop();
  if (file)
    std::fclose(file);
}

void AppliedLogWriter::stop() {
  if (!thread.joinable())
    return;
  {
    const MutexLock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void AppliedLogWriter::append(const Envelope &head, const Message &payload,
                              Turn turn) {
  add({recordOf(turn), joinFrame(head, owned(payload))});
}

void AppliedLogWriter::appendWorkers(int64_t workers) {
  add({WorkersRecord,
       Message::ofString(std::string(reinterpret_cast<const char *>(&workers),
                                     sizeof(workers)))});
}

void AppliedLogWriter::appendClosed() { add({ClosedRecord, {}}); }

void AppliedLogWriter::appendResponded(std::span<const Envelope> heads) {
  std::string body;
  for (const Envelope &head : heads)
    encodeEnvelope(head, body);
  add({RespondedRecord, Message::ofString(std::move(body))});
}

void AppliedLogWriter::add(Record record) {
  MutexLock lock(mutex);
  const size_t bytes = record.body.size();
  changed.wait(lock, [this, bytes]() PDLRT_REQUIRES(mutex) {
    return queue.empty() || queuedBytes + bytes <= queueLimit ||
           !firstFailure.ok();
  });
  if (!firstFailure.ok())
    return;
  requests += isRequest(record.type) ? 1 : 0;
  queuedBytes += bytes;
  queue.push_back(std::move(record));
  lock.unlock();
  changed.notify_all();
}

void AppliedLogWriter::work() {
  MutexLock lock(mutex);
  while (true) {
    changed.wait(lock, [this]() PDLRT_REQUIRES(mutex) {
      return stopping || !queue.empty();
    });
    if (queue.empty() || !firstFailure.ok())
      return;
    const std::vector<Record> records = std::exchange(queue, {});
    lock.unlock();
    Status status;
    size_t bytes = 0;
    for (const Record &record : records) {
      bytes += record.body.size();
      if (status.ok())
        status = write(record);
    }
    // Flush each batch, so that a crash of the server loses little.
    if (status.ok() && std::fflush(file) != 0)
      status = failure();
    lock.lock();
    queuedBytes -= bytes;
    if (firstFailure.ok())
      firstFailure = std::move(status);
    changed.notify_all();
  }
}

Status AppliedLogWriter::write(const Record &record) {
  const RecordHead head = {record.type, record.body.size(),
                           checksumOf(written, record.type, record.body)};
  bool good = (written > 0 || std::fwrite(mark, sizeof(mark), 1, file) == 1) &&
              std::fwrite(&head, sizeof(head), 1, file) == 1;
  for (const MessageSlice &slice : record.body.slices())
    good = good && std::fwrite(slice.data, 1, slice.size, file) == slice.size;
  ++written;
  return good ? Status() : failure();
}

Status AppliedLogWriter::failure() const {
  return Status::ofErrno(
      errno, path + ": cannot be written: " + std::strerror(errno) +
                 "; the log of what was applied needs as much room as "
                 "all gradients of the job");
}

Status AppliedLogWriter::status() const {
  const MutexLock lock(mutex);
  return firstFailure;
}

Status AppliedLogWriter::finish(uint64_t stateDigest) {
  AppliedLogEnd end;
  {
    const MutexLock lock(mutex);
    end.requests = requests;
  }
  end.digest = stateDigest;
  add({EndRecord, Message::ofString(std::string(
                      reinterpret_cast<const char *>(&end), sizeof(end)))});
  stop();
  PDLRT_RETURN_IF_ERROR(status());
  // Some devices do not support fsync.
  if (::fsync(::fileno(file)) != 0 && errno != EINVAL && errno != EROFS)
    return failure();
  return std::fclose(std::exchange(file, nullptr)) == 0 ? Status() : failure();
}
