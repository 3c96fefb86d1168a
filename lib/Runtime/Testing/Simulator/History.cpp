//===- History.cpp - Events of a simulated job ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/History.h"

#include <cstdio>

using namespace pdlrt;

static std::string textOf(const ToyBlock &block) {
  std::string text = "[";
  for (const float value : block) {
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%s%a", text.size() > 1 ? " " : "",
                  static_cast<double>(value));
    text += digits;
  }
  return text + "]";
}

static std::string
textOf(const std::vector<std::pair<int64_t, int64_t>> &counters,
       const char *between) {
  std::string text = "{";
  for (const auto &[key, count] : counters)
    text += (text.size() > 1 ? " " : "") + std::to_string(key) + between +
            std::to_string(count);
  return text + "}";
}

static std::string textOf(const ToyResponse &response) {
  return textOf(response.counters, "=") +
         (response.hasDense ? " " + textOf(response.dense) : "");
}

/// Returns a text with the content of a copy in mode geo; empty in other modes.
static std::string textOf(const ToyState &copy) {
  if (copy == ToyState())
    return {};
  return "; its copy is " +
         textOf({copy.counters.begin(), copy.counters.end()}, "=") + " " +
         textOf(copy.dense);
}

std::string Event::describe() const {
  char time[40];
  std::snprintf(time, sizeof(time), "%9.3f  ",
                std::chrono::duration<double>(when).count());
  const std::string sender =
      "trainer " + std::to_string(trainer) +
      (worker > 0 ? " worker " + std::to_string(worker) : "") + " start " +
      std::to_string(incarnation);
  const std::string at = "server " + std::to_string(server);
  const std::string requestText =
      std::string(nameOf(kind)) + " of step " + std::to_string(request.step) +
      " " + textOf(request.increments, "+") +
      (request.hasPart ? " " + textOf(request.part) : "");
  switch (what) {
  case What::Started:
    return time + sender + " begins";
  case What::Joined:
    return time + sender + " has joined as incarnation " +
           std::to_string(given);
  case What::Refused:
    return time + sender + " is not let in: " + text;
  case What::Contributed:
    return time + sender + " sends to " + at + ": " + requestText;
  case What::Applied: {
    static constexpr const char *turns[] = {"", " in a round", " late",
                                            " too late"};
    return time + at + " takes" + turns[size_t(turn)] + " of " + sender + ": " +
           requestText;
  }
  case What::Responded:
    return time + at + " answers " + sender + " for step " +
           std::to_string(step) + ": " + textOf(response);
  case What::Closed:
    return time + at + " closes round " + std::to_string(step) + ": " +
           textOf(response.dense);
  case What::Read:
    return time + sender + " reads from " + at + " for step " +
           std::to_string(step) + ": " + textOf(response) + textOf(copy);
  case What::Left:
    return time + sender + " is done";
  case What::Failed:
    return time + sender + " gives up: " + text;
  case What::Crashed:
    return time + sender + " dies";
  case What::ServerEnded:
    return time + at + (text.empty() ? " is done" : " gives up: " + text);
  case What::Hung:
    return time + std::string("the time is up: ") + text;
  }
  return time;
}
