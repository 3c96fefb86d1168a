//===- RunSummary.cpp - Summary of a run ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/RunSummary.h"

#include "Files/TemporaryFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Files/OutputFiles.h"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

using namespace pdlrt;
using Json = nlohmann::ordered_json;

/// Version of the format. It changes if a member is removed or gets another
/// meaning.
static constexpr int schemaVersion = 1;
/// Maximum length of a list. The whole file is written again for each element.
static constexpr size_t maxListed = 1000;

RunSummary::RunSummary() = default;
RunSummary::~RunSummary() = default;

RunSummary &pdlrt::processSummary() {
  static RunSummary summary;
  return summary;
}

/// Returns an error if there is a file at `path` that is no summary. The path
/// may be that of an input by mistake.
static Status checkIsSummary(const std::string &path) {
  constexpr std::string_view begin = "{\n  \"schema_version\":";
  std::string found(begin.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(found.data(), std::streamsize(found.size()));
  found.resize(size_t(file.gcount()));
  if (found.empty() || found == begin)
    return {};
  return Status::failedPrecondition(
      "cannot write " + path +
      ": there is a file that is no summary; remove it, or name another");
}

Status RunSummary::open(const std::string &toPath, const std::string &program,
                        const std::string &version, const GivenFlags &flags) {
  PDLRT_RETURN_IF_ERROR(checkLocal("--summary", toPath));
  // Opening a FIFO, which the first check refuses, would block.
  Status usable = checkReplaceable(toPath);
  if (usable.ok())
    usable = checkIsSummary(toPath);
  if (!usable.ok())
    return std::move(usable).withContext("--summary");
  path = toPath;
  start = std::chrono::steady_clock::now();
  Json given = Json::object();
  for (const auto &[name, values] : flags)
    given[name] = values;
  const std::string now = currentTime();
  members = std::make_unique<Json>(Json{{"schema_version", schemaVersion},
                                        {"program", program},
                                        {"version", version},
                                        {"state", "running"},
                                        {"exit_status", nullptr},
                                        {"reason", ""},
                                        {"started", now},
                                        {"updated", now},
                                        {"seconds", 0.0},
                                        {"flags", std::move(given)}});
  if (Status status = writeFile(); !status.ok()) {
    members.reset();
    return std::move(status).withContext("--summary");
  }
  atEndOfProgram([this](int status) { finish(status); });
  return {};
}

void RunSummary::setPlace(const std::string &model, const std::string &mode,
                          int64_t rank, int64_t trainers) {
  set("model", model);
  set("mode", mode);
  set("rank", rank);
  set("trainers", trainers);
}

void RunSummary::set(const char *member, Json value) {
  if (isOpen())
    (*members)[member] = std::move(value);
}

void RunSummary::append(const char *member, Json element) {
  if (!isOpen())
    return;
  Json &list = (*members)[member];
  list.push_back(std::move(element));
  if (list.size() > maxListed)
    list.erase(list.begin());
  Json &count = (*members)["counts"][member];
  count = count.is_null() ? 1 : count.get<int64_t>() + 1;
}

Status RunSummary::writeFile() {
  const auto passed = std::chrono::steady_clock::now() - start;
  (*members)["updated"] = currentTime();
  (*members)["seconds"] = std::chrono::duration<double>(passed).count();
  const std::string text =
      members->dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(text.data(), text.size()));
  return file.commit();
}

void RunSummary::write() {
  if (!isOpen())
    return;
  if (const Status status = writeFile(); !status.ok())
    logWarningOnce("the file of --summary is out of date: " + status.message() +
                   "; the next write replaces it if the cause is gone");
}

void RunSummary::finish(int status) {
  if (!isOpen())
    return;
  constexpr int firstSignal = 129, lastSignal = 128 + 64;
  const bool isStopped =
      failure.empty() && status >= firstSignal && status <= lastSignal;
  std::string reason = "done";
  if (isStopped)
    reason = std::string("stopped by a signal: ") + ::strsignal(status - 128);
  else if (status != 0)
    reason = failure.empty() ? lastErrorMessage() : failure;
  set("state", status == 0 ? "done" : isStopped ? "stopped" : "failed");
  set("exit_status", status);
  set("reason", reason);
  write();
  members.reset();
}
