//===- ShareFlags.cpp - Passes flags to trainers and servers --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShareFlags.h"

#include "pdlrt/Programs/Server/ServerFlagForms.h"
#include "pdlrt/Programs/Trainer/TrainFlagForms.h"

#include <algorithm>

using namespace pdllaunch;
using pdlrt::FlagForm;

bool pdllaunch::isFlag(const std::string &word, const std::string &flag) {
  return word == flag || word.starts_with(flag + "=");
}

/// Returns true if a word is a flag with one of the names of `form`.
static bool isWritten(const std::string &word, const FlagForm &form) {
  return std::ranges::any_of(
      form.names, [&](const std::string &name) { return isFlag(word, name); });
}

/// Returns the form that has the name `name`, or null.
static const FlagForm *find(const std::vector<FlagForm> &forms,
                            const std::string &name) {
  const auto found = std::ranges::find_if(forms, [&](const FlagForm &form) {
    return std::ranges::find(form.names, name) != form.names.end();
  });
  return found == forms.end() ? nullptr : &*found;
}

/// Returns the index of the word with the flag `form`; the number of words if
/// there is none.
static size_t findWord(const Words &words, const FlagForm &form) {
  return std::ranges::find_if(
             words,
             [&](const std::string &word) { return isWritten(word, form); }) -
         words.begin();
}

/// Returns the number of words of the flag whose first word is `words[at]`.
static size_t lengthAt(const Words &words, size_t at, const FlagForm &form) {
  const bool isFollowed = form.takesValue && at + 1 < words.size() &&
                          words[at].find('=') == std::string::npos;
  return isFollowed ? 2 : 1;
}

/// Appends a flag in `from`, with its value, to `to`. Does nothing if `from`
/// does not have it, or if `to` has it already.
static void copyFlag(const FlagForm &form, const Words &from, Words &to) {
  const size_t at = findWord(from, form);
  if (at == from.size() || findWord(to, form) != to.size())
    return;
  const size_t end = at + lengthAt(from, at, form);
  to.insert(to.end(), from.begin() + ptrdiff_t(at),
            from.begin() + ptrdiff_t(end));
}

/// Moves all occurrences of a flag from `from` to `to`, unless `to` has the
/// flag already.
static void moveFlag(const FlagForm &form, Words &from, Words &to) {
  if (findWord(to, form) != to.size())
    return;
  for (size_t at; (at = findWord(from, form)) != from.size();) {
    const auto begin = from.begin() + ptrdiff_t(at);
    const auto end = begin + ptrdiff_t(lengthAt(from, at, form));
    to.insert(to.end(), begin, end);
    from.erase(begin, end);
  }
}

/// Returns true if servers have the flag, and trainers do not.
static bool isOfServers(const FlagForm &server, const FlagForm *trainer,
                        bool knowsMode) {
  return !trainer || (knowsMode && server.isOffered && !trainer->isOffered);
}

void pdllaunch::shareFlags(const pdlrt::Mode *mode, Words &trainerWords,
                           Words &serverWords) {
  const std::vector<FlagForm> trainers = pdlrt::trainFlagForms(mode);
  const Words given = serverWords;
  for (const FlagForm &form : pdlrt::serverFlagForms(mode)) {
    const FlagForm *trainer = find(trainers, form.names.front());
    if (isOfServers(form, trainer, mode != nullptr)) {
      moveFlag(form, trainerWords, serverWords);
    } else if (form.isOfJob) {
      copyFlag(form, trainerWords, serverWords);
      copyFlag(form, given, trainerWords);
    }
  }
}

Words pdllaunch::sharedFlagNames() {
  const std::vector<FlagForm> trainers = pdlrt::trainFlagForms(nullptr);
  Words names;
  for (const FlagForm &form : pdlrt::serverFlagForms(nullptr))
    if (form.isOfJob && find(trainers, form.names.front()))
      names.push_back(form.names.front());
  return names;
}

Words pdllaunch::serverFlagNames() {
  const std::vector<FlagForm> trainers = pdlrt::trainFlagForms(nullptr);
  Words names;
  for (const FlagForm &form : pdlrt::serverFlagForms(nullptr))
    if (!find(trainers, form.names.front()))
      names.push_back(form.names.front());
  return names;
}
