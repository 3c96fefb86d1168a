//===- AppliedLog.h - What a server applied, in order -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In mode async the weights depend on the order in which pushes come. A log
// keeps that order: each request that changed a server's state, once, with its
// head and payload. To give the requests to the same program again is to get
// the same state, bit for bit (docs/Protocol.md, "The log of what was
// applied").
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_APPLIEDLOG_H
#define PDLRT_SERVER_APPLIEDLOG_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Message.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace pdlrt {

/// What a log begins with.
struct AppliedLogHeader {
  /// The server's view of its job.
  Handshake job;
  /// `digestOfState` of the server before the first request.
  uint64_t startDigest = 0;
};

/// What a log ends with, where its server ended in order.
struct AppliedLogEnd {
  int64_t requests = 0;
  /// `digestOfState` after the last request.
  uint64_t digest = 0;
};

/// Writes a log on a thread of its own. `append` and `status` are thread-safe.
class AppliedLogWriter {
public:
  /// Whether `create` could make the file now, for who asks before long work.
  static Status checkPath(const std::string &path);
  /// Makes the file `path`; one that is there is kept, and an error. A device
  /// or a pipe of that name is written to.
  static Expected<std::unique_ptr<AppliedLogWriter>>
  create(const std::string &path, const AppliedLogHeader &header);
  AppliedLogWriter(const AppliedLogWriter &) = delete;
  AppliedLogWriter &operator=(const AppliedLogWriter &) = delete;
  /// Without `finish` the log has no end, and is refused as a whole.
  ~AppliedLogWriter();

  /// Adds a request that was taken behind what was before. Bytes with an owner
  /// are not copied. Returns at once, except where the disk is 256 MiB behind:
  /// then it waits.
  void append(const Envelope &head, const Message &payload, Turn turn);
  /// The trainers, of which the first has joined, have so many workers each.
  void appendWorkers(int64_t workers);
  /// A round was closed.
  void appendClosed();
  /// These requests were answered, with the state of now.
  void appendAnswered(std::span<const Envelope> heads);
  /// Why the log cannot be written any more; success so far.
  Status status() const;
  /// Writes the end and waits until all is on the disk. Once.
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
  std::FILE *file;
  /// Of the writing thread.
  uint64_t written = 0;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<Record> queue;
  size_t queuedBytes = 0;
  int64_t requests = 0;
  bool stopping = false;
  Status firstFailure;
  std::thread thread;
};

/// One thing that a server did: it took a request; or it closed a round; or it
/// answered requests; or it learnt how many workers each trainer has.
struct AppliedRecord {
  std::optional<Frame> request = std::nullopt;
  Turn turn = Turn::Alone;
  bool closesRound = false;
  std::vector<Envelope> answered = {};
  std::optional<int64_t> workers = std::nullopt;
};

/// Reads a log from its beginning. Any bytes are safe: what is not a whole log
/// is an error with one sentence. One thread at a time.
class AppliedLogReader {
public:
  /// Reads up to the first request.
  static Expected<std::unique_ptr<AppliedLogReader>>
  open(const std::string &path);
  ~AppliedLogReader();
  AppliedLogReader(const AppliedLogReader &) = delete;
  AppliedLogReader &operator=(const AppliedLogReader &) = delete;

  const AppliedLogHeader &header() const { return start; }
  /// The next record; none behind the last, where the log ends in order.
  Expected<std::optional<AppliedRecord>> next();
  /// After `next` gave none.
  const AppliedLogEnd &end() const { return last; }

private:
  struct Record {
    uint64_t type = 0;
    Message body;
  };
  AppliedLogReader(std::string path, std::FILE *file)
      : path(std::move(path)), file(file) {}
  Expected<Record> read();
  /// Up to `size` bytes; less at the end of the file.
  Expected<std::vector<std::byte>> readBytes(uint64_t size);
  Status readHeader();
  Status readEnd(const Message &body);
  Status damaged(const std::string &what) const;

  const std::string path;
  std::FILE *file;
  AppliedLogHeader start;
  AppliedLogEnd last;
  /// Records read so far; the first is the header.
  uint64_t records = 0;
  int64_t requests = 0;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_APPLIEDLOG_H
