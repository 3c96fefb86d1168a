//===- WaitReport.cpp - Lines about waits for servers ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/WaitReport.h"

#include <algorithm>
#include <cctype>

using namespace pdlrt;

static bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string pdlrt::withoutSeconds(const std::string &text) {
  std::string rest;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isDigit(text[end]))
      ++end;
    const bool isSeconds =
        end > at && text.compare(end, 2, " s") == 0 &&
        (end + 2 == text.size() ||
         !std::isalnum(static_cast<unsigned char>(text[end + 2])));
    end = std::max(end, at + 1);
    if (!isSeconds)
      rest.append(text, at, end - at);
    at = end;
  }
  return rest;
}

/// Returns "a", "a, b", "a, b, c" or "a, b and 3 others".
static std::string joinNames(const std::vector<std::string> &names) {
  constexpr size_t maxNames = 3;
  const size_t shown = names.size() > maxNames ? maxNames - 1 : names.size();
  std::string text;
  for (size_t i = 0; i < shown; ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (shown < names.size())
    text += " and " + std::to_string(names.size() - shown) + " others";
  return text;
}

std::string pdlrt::describeWaits(
    const std::vector<std::pair<std::string, std::string>> &waits) {
  struct Group {
    std::string key, reason;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const auto &[name, reason] : waits) {
    const std::string key = withoutSeconds(reason);
    auto group = std::ranges::find(groups, key, &Group::key);
    if (group == groups.end())
      group = groups.insert(group, Group{key, reason, {}});
    group->names.push_back(name);
  }
  std::string line;
  for (const Group &group : groups)
    line += (line.empty() ? "" : "; ") + joinNames(group.names) + ": " +
            group.reason;
  return line;
}

void WaitReport::report(const std::string &line, Time now) {
  {
    std::string text = withoutSeconds(line);
    const MutexLock lock(mutex);
    std::erase_if(
        last, [&](const Written &each) { return now - each.when >= pause; });
    if (std::ranges::find(last, text, &Written::text) != last.end())
      return;
    last.push_back({std::move(text), now});
  }
  write(line);
}
