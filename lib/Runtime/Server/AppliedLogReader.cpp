//===- AppliedLogReader.cpp - Reads the log of applied requests -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/AppliedLogFormat.h"
#include "pdlrt/Server/AppliedLog.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::appliedlog;

/// A record is read in chunks of this size. Memory is allocated for one chunk
/// at a time, because the stored size of a record may be wrong.
static constexpr uint64_t chunkBytes = uint64_t(16) << 20;

Expected<std::unique_ptr<AppliedLogReader>>
AppliedLogReader::open(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rbe");
  if (!file)
    return Status::ofErrno(errno,
                           path + ": cannot be read: " + std::strerror(errno));
  std::unique_ptr<AppliedLogReader> reader(new AppliedLogReader(path, file));
  PDLRT_RETURN_IF_ERROR(reader->readHeader());
  return reader;
}

AppliedLogReader::~AppliedLogReader() { std::fclose(file); }

Status AppliedLogReader::damaged(const std::string &what) const {
  if (records == 0)
    return Status::dataLoss(path + ": " + what + ", and nothing before that");
  const int64_t whole = requests;
  return Status::dataLoss(fmt::format(
      "{}: {}; its first {} requests are whole: --requests {} replays those",
      path, what, whole, whole));
}

Expected<std::vector<std::byte>> AppliedLogReader::readBytes(uint64_t size) {
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const size_t before = bytes.size();
    const auto wanted = size_t(std::min(size - before, chunkBytes));
    bytes.resize(before + wanted);
    const size_t got = std::fread(bytes.data() + before, 1, wanted, file);
    bytes.resize(before + got);
    if (got == wanted)
      continue;
    if (std::ferror(file))
      return Status::ofErrno(
          errno, path + ": cannot be read: " + std::strerror(errno));
    break;
  }
  return bytes;
}

Expected<AppliedLogReader::Record> AppliedLogReader::read() {
  constexpr auto *cut = "it ends without its end mark, so that its server did "
                        "not end in order, or the file was cut";
  Expected<std::vector<std::byte>> start = readBytes(sizeof(RecordHead));
  if (!start)
    return start.status();
  if (start->size() < sizeof(RecordHead))
    return damaged(cut);
  RecordHead head;
  std::memcpy(&head, start->data(), sizeof(head));
  if (head.type < HeaderRecord || head.type > WorkersRecord)
    return damaged("what follows is no record");
  Expected<std::vector<std::byte>> body = readBytes(head.bytes);
  if (!body)
    return body.status();
  if (body->size() < head.bytes)
    return damaged(cut);
  const auto owner =
      std::make_shared<const std::vector<std::byte>>(std::move(*body));
  Record record;
  record.type = head.type;
  record.body.append({owner->data(), owner->size(), owner});
  if (checksumOf(records, head.type, record.body) != head.checksum)
    return damaged("a record has another checksum than it was written with");
  ++records;
  return record;
}

Status AppliedLogReader::readHeader() {
  const Status foreign = Status::failedPrecondition(
      path + ": is no log of this version of what a server applied; 'pserver "
             "--log-applied' writes them");
  Expected<std::vector<std::byte>> found = readBytes(sizeof(mark));
  if (!found)
    return found.status();
  if (found->size() < sizeof(mark) ||
      std::memcmp(found->data(), mark, sizeof(mark)) != 0)
    return foreign;
  Expected<Record> record = read();
  if (!record)
    return record.status();
  const MessageSlice &bytes = record->body.slices().front();
  if (record->type != HeaderRecord || bytes.size < sizeof(start.startDigest))
    return foreign;
  std::memcpy(&start.startDigest, bytes.data, sizeof(start.startDigest));
  Message text;
  text.append({bytes.data + sizeof(start.startDigest),
               bytes.size - sizeof(start.startDigest), bytes.owner});
  Expected<Handshake> job = decodeHandshake(text);
  if (!job)
    return foreign;
  start.job = std::move(*job);
  return {};
}

Status AppliedLogReader::readEnd(const Message &body) {
  if (body.size() != sizeof(last))
    return damaged("its end is none of this version");
  std::memcpy(&last, body.slices().front().data, sizeof(last));
  if (last.requests != requests)
    return damaged(fmt::format("it ends after {} requests, but its server "
                               "applied {}",
                               requests, last.requests));
  if (std::fgetc(file) != EOF)
    return damaged("there are bytes after its end");
  return {};
}

Expected<std::optional<AppliedRecord>> AppliedLogReader::next() {
  Expected<Record> record = read();
  if (!record)
    return record.status();
  AppliedRecord result;
  if (record->type == EndRecord) {
    PDLRT_RETURN_IF_ERROR(readEnd(record->body));
    return std::optional<AppliedRecord>();
  }
  if (isRequest(record->type)) {
    Expected<Frame> request = splitFrame(record->body);
    if (!request)
      return damaged("a record is no request");
    result.request = std::move(*request);
    result.turn = turnOf(record->type);
    ++requests;
  } else if (record->type == ClosedRecord && record->body.size() == 0) {
    result.closesRound = true;
  } else if (record->type == RespondedRecord) {
    const std::string bytes = record->body.toString();
    for (std::string_view rest = bytes; !rest.empty();) {
      const Expected<Envelope> head = decodeEnvelope(rest);
      if (!head)
        return damaged("a record names no request");
      result.answered.push_back(*head);
    }
  } else if (record->type == WorkersRecord &&
             record->body.size() == sizeof(int64_t)) {
    int64_t workers = 0;
    std::memcpy(&workers, record->body.slices().front().data, sizeof(workers));
    result.workers = workers;
  } else {
    return damaged("a record is none of this version");
  }
  return std::optional<AppliedRecord>(std::move(result));
}
