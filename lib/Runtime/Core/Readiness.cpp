//===- Readiness.cpp - Reasons why a process does not work ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Readiness.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

void Readiness::Reason::set(std::string text) {
  set(std::move(text), Clock::now());
}

void Readiness::Reason::set(std::string text, Clock::time_point since) {
  if (text.empty())
    return drop();
  const MutexLock lock(of.mutex);
  if (key == 0) {
    key = ++of.lastKey;
    of.entries[key].since = since;
  }
  of.entries[key].text = std::move(text);
}

void Readiness::Reason::drop() noexcept {
  if (key == 0)
    return;
  const MutexLock lock(of.mutex);
  of.entries.erase(key);
  key = 0;
}

std::vector<Readiness::Entry> Readiness::reasons() const {
  std::vector<Entry> all;
  {
    const MutexLock lock(mutex);
    for (const auto &[key, entry] : entries)
      all.push_back(entry);
  }
  std::ranges::sort(all, {}, &Entry::since);
  return all;
}

void Readiness::fail(const std::string &message) {
  const MutexLock lock(mutex);
  if (failed.empty())
    failed = message;
}

std::string Readiness::failure() const {
  const MutexLock lock(mutex);
  return failed;
}

Readiness &pdlrt::processReadiness() {
  static Readiness &only = *new Readiness;
  return only;
}
