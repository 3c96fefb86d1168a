//===- ProgramMode.cpp - The mode of a compiled trainer -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMode.h"

#include "pdlrt/Core/ProgramOutput.h"

#include <elf.h>
#include <fstream>
#include <sstream>
#include <string_view>

using namespace pdllaunch;

/// Returns true if the file is an ELF executable. Only such files are run to
/// find out their mode, because running another file may have any effect.
static bool isCompiled(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  char mark[SELFMAG] = {};
  return file.read(mark, SELFMAG) &&
         std::string_view(mark, SELFMAG) == std::string_view(ELFMAG, SELFMAG);
}

const pdlrt::Mode *pdllaunch::modeOfTrainer(const std::string &path) {
  if (!isCompiled(path))
    return nullptr;
  const auto output = pdlrt::outputOfProgram(
      path, "--version", "name a program that can run on this host");
  if (!output || !output->hasSucceeded)
    return nullptr;
  std::istringstream lines(output->text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name;
    if (words >> what >> name && what == "mode")
      return pdlrt::findModeNamed(name);
  }
  return nullptr;
}
