//===- JobSummary.cpp - Summary of a job ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobSummary.h"

#include "pdlrt/Files/RunSummary.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace pdllaunch;
using Json = nlohmann::ordered_json;

std::string pdllaunch::summaryPath(const std::string &folder,
                                   const std::string &name) {
  std::string file = name;
  std::ranges::replace(file, ' ', '-');
  return folder + "/summary-" + file + ".json";
}

/// Returns the summary of a program, or null if it has written none.
static Json readSummary(const std::string &path) {
  std::ifstream file(path);
  Json found = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  return found.is_object() ? found : Json();
}

void pdllaunch::summarizeJob(const Supervisor &supervisor,
                             const std::string &folder) {
  pdlrt::RunSummary &summary = pdlrt::processSummary();
  Json processes = Json::array();
  std::string failure = supervisor.firstFailureMessage();
  for (const Program &program : supervisor.allPrograms()) {
    Json found = readSummary(summaryPath(folder, program.name));
    if (program.name == "trainer 0" && found.is_object())
      for (const char *member : {"model", "mode", "training", "epochs", "tests",
                                 "checkpoints", "counts"})
        if (found.contains(member))
          summary.set(member, found[member]);
    // The program itself knows the cause.
    if (failure.starts_with(program.name + " ") && found.is_object() &&
        found.value("state", "") == "failed")
      failure += ": " + found.value("reason", "");
    processes.push_back(
        {{"process", program.name},
         {"exit_status",
          program.hasEnded() ? Json(program.exitStatus()) : Json()},
         {"summary", std::move(found)}});
  }
  summary.set("processes", std::move(processes));
  if (!failure.empty())
    summary.noteFailure(failure);
}
