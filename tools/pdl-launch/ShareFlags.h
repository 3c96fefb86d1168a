//===- ShareFlags.h - Passes flags to trainers and servers ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_SHAREFLAGS_H
#define PDL_TOOLS_PDL_LAUNCH_SHAREFLAGS_H

#include "pdlrt/Abi/Mode.h"

#include <string>
#include <vector>

namespace pdllaunch {

using Words = std::vector<std::string>;

/// Returns true if a word is the flag `flag`, with or without a value.
bool isFlag(const std::string &word, const std::string &flag);

/// Lets users give each flag only once. If a flag has one meaning for the whole
/// job, copies it to the processes that lack it. If only servers have a flag,
/// moves it from the words of trainers to those of servers. `mode`: null if it
/// is not known.
void shareFlags(const pdlrt::Mode *mode, Words &trainerWords,
                Words &serverWords);

/// Returns the flags that `shareFlags` copies, for help texts.
Words sharedFlagNames();

/// Returns the flags that `shareFlags` moves to servers in some mode.
Words serverFlagNames();

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_SHAREFLAGS_H
