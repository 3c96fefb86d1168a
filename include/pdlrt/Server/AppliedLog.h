//===- AppliedLog.h - Log of the requests that a server applied -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In mode async the weights depend on the order in which pushes arrive. A log
// records this order: it has each request that changed the state of a server,
// once, with its head and payload. A replay of the log with the same program
// reproduces the state bit for bit (docs/Protocol.md, "The log of what was
// applied").
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_APPLIEDLOG_H
#define PDLRT_SERVER_APPLIEDLOG_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Message.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace pdlrt {

/// First record of a log.
struct AppliedLogHeader {
  /// Configuration of the job, as the server has it.
  Handshake job;
  /// `digestOfState` of the server before the first request.
  uint64_t startDigest = 0;
};

/// Last record of a log. It is missing if the server did not shut down
/// gracefully.
struct AppliedLogEnd {
  int64_t requests = 0;
  /// `digestOfState` after the last request.
  uint64_t digest = 0;
};

/// Writes a log on a background thread. `append` and `status` are thread-safe.
class AppliedLogWriter {
public:
  /// Returns an error if `create` could not create the file now. Call it before
  /// work that takes long.
  static Status checkPath(const std::string &path);
  /// Creates the file `path` and writes the header. If a file with this name
  /// exists, returns an error and does not change it. An existing device or
  /// pipe is opened.
  static Expected<std::unique_ptr<AppliedLogWriter>>
  create(const std::string &path, const AppliedLogHeader &header);
  AppliedLogWriter(const AppliedLogWriter &) = delete;
  AppliedLogWriter &operator=(const AppliedLogWriter &) = delete;
  /// Stops the background thread. If `finish` was not called, the log has no
  /// end record, and readers reject it.
  ~AppliedLogWriter();

  /// Appends a request that the server has taken. Does not copy bytes that have
  /// an owner. Usually returns before the bytes are written. Blocks while 256
  /// MiB wait to be written.
  void append(const Envelope &head, const Message &payload, Turn turn);
  /// Records the number of workers of each trainer, after the first one has
  /// joined.
  void appendWorkers(int64_t workers);
  /// Appends a record that a round was closed.
  void appendClosed();
  /// Appends a record that these requests were answered with the current state.
  void appendResponded(std::span<const Envelope> heads);
  /// Returns the error because of which the log cannot be written any more,
  /// otherwise success.
  Status status() const;
  /// Writes the end record and waits until everything is on disk. Call once.
  Status finish(uint64_t stateDigest);

private:
  struct Record {
    uint64_t type;
    Message body;
  };
  AppliedLogWriter(std::string path, std::FILE *file);
  void add(Record record);
  void work();
  Status write(const Record &record);
  void stop();
  Status failure() const;

  const std::string path;
  /// `file` and `written` are used only by the thread that writes, and by
  /// `finish` after that thread has ended.
  std::FILE *file;
  uint64_t written = 0;

  mutable Mutex mutex;
  ConditionVariable changed;
  std::vector<Record> queue PDLRT_GUARDED_BY(mutex);
  size_t queuedBytes PDLRT_GUARDED_BY(mutex) = 0;
  int64_t requests PDLRT_GUARDED_BY(mutex) = 0;
  bool stopping PDLRT_GUARDED_BY(mutex) = false;
  Status firstFailure PDLRT_GUARDED_BY(mutex);
  std::thread thread;
};

/// One record of a log. The server has taken a request, closed a round,
/// answered requests, or received the number of workers of each trainer.
struct AppliedRecord {
  std::optional<Frame> request = std::nullopt;
  Turn turn = Turn::Alone;
  bool closesRound = false;
  std::vector<Envelope> answered = {};
  std::optional<int64_t> workers = std::nullopt;
};

/// Reads a log from the start. Accepts any bytes. Returns an error if the log
/// is incomplete. Only one thread may use a reader at a time.
class AppliedLogReader {
public:
  /// Opens a log and reads its header.
  static Expected<std::unique_ptr<AppliedLogReader>>
  open(const std::string &path);
  ~AppliedLogReader();
  AppliedLogReader(const AppliedLogReader &) = delete;
  AppliedLogReader &operator=(const AppliedLogReader &) = delete;

  const AppliedLogHeader &header() const { return start; }
  /// Returns the next record. Returns nullopt after the last record of a
  /// complete log.
  Expected<std::optional<AppliedRecord>> next();
  /// Returns the end record. Call after `next` has returned nullopt.
  const AppliedLogEnd &end() const { return last; }

private:
  struct Record {
    uint64_t type = 0;
    Message body;
  };
  AppliedLogReader(std::string path, std::FILE *file)
      : path(std::move(path)), file(file) {}
  Expected<Record> read();
  /// Reads up to `size` bytes; fewer at the end of the file.
  Expected<std::vector<std::byte>> readBytes(uint64_t size);
  Status readHeader();
  Status readEnd(const Message &body);
  Status damaged(const std::string &what) const;

  const std::string path;
  std::FILE *file;
  AppliedLogHeader start;
  AppliedLogEnd last;
  /// Number of records that were read so far, including the header.
  uint64_t records = 0;
  int64_t requests = 0;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_APPLIEDLOG_H
