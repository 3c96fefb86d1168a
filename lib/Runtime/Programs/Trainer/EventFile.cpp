//===- EventFile.cpp - Event files of TensorBoard ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EventFile.h"

#include "Data/RecordFraming.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

namespace {

/// Numbers of fields in TensorFlow's event.proto.
enum EventField : uint64_t {
  EventTime = 1,
  EventStep = 2,
  EventVersion = 3,
  EventValues = 5,
  EventSession = 7,
  SessionStatus = 1
};

} // namespace

static constexpr std::string_view namePrefix = "events.out.tfevents.";

/// Returns the number of a new file. Viewers read the files of a folder in the
/// order of their numbers, which are times of their creation in seconds.
static Expected<int64_t> nextNumber(const std::string &folder) {
  int64_t number = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end;
       !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    int64_t found = 0;
    if (name.starts_with(namePrefix) &&
        std::from_chars(name.data() + namePrefix.size(),
                        name.data() + name.size(), found)
                .ec == std::errc())
      number = std::max(number, found + 1);
  }
  if (error)
    return Status::ioError("cannot read " + folder + ": " + error.message() +
                           "; name a folder that this user may read");
  return number;
}

static std::string hostName() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

Status EventFile::open(const std::string &folder,
                       std::optional<int64_t> resumedSteps) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status::ioError("--tensorboard " + folder +
                           ": cannot create the folder: " + error.message() +
                           "; name a folder that this user may write to");
  const Expected<int64_t> number = nextNumber(folder);
  if (!number)
    return Status(number.status()).withContext("--tensorboard");
  path = fmt::format("{}/{}{:010}.{}.{}", folder, namePrefix, *number,
                     hostName(), getpid());
  file = std::fopen(path.c_str(), "wbx");
  PDLRT_RETURN_IF_ERROR(check(file != nullptr));
  Status written = writeEvent(0, EventVersion, "brain.Event:2");
  if (written.ok() && resumedSteps) {
    constexpr int64_t sessionStart = 1;
    std::string session;
    appendInteger(SessionStatus, sessionStart, session);
    written = writeEvent(*resumedSteps + 1, EventSession, session);
  }
  note(written);
  return {};
}

/// Writes an event with one member besides the time and the step.
Status EventFile::writeEvent(int64_t step, uint64_t field,
                             const std::string &content) {
  std::string event;
  appendReal(EventTime,
             std::chrono::duration<double>(
                 std::chrono::system_clock::now().time_since_epoch())
                 .count(),
             event);
  appendInteger(EventStep, step, event);
  appendBytes(field, content, event);
  const std::string record = framedRecord(event);
  return check(std::fwrite(record.data(), 1, record.size(), file) ==
                   record.size() &&
               std::fflush(file) == 0);
}

void EventFile::write(int64_t step, const EventSummary &summary) {
  if (isOpen() && !summary.isEmpty())
    note(writeEvent(step, EventValues, summary.message()));
}

void EventFile::close() {
  if (std::FILE *const closing = std::exchange(file, nullptr))
    note(check(std::fclose(closing) == 0));
}

Status EventFile::check(bool good) {
  if (good)
    return {};
  return Status::ofErrno(errno,
                         "cannot write " + path + ": " + std::strerror(errno));
}

void EventFile::note(const Status &status) {
  if (status.ok())
    return;
  logWarning(status.message() + "; the program continues without "
                                "--tensorboard; to write files again, correct "
                                "the cause and start again");
  // Ignores a further error: the first one was just logged.
  if (std::FILE *const closing = std::exchange(file, nullptr))
    std::fclose(closing);
}
