//===- ToolCommands.h - Programs with commands ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_TOOLCOMMANDS_H
#define PDLRT_CORE_TOOLCOMMANDS_H

#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/ParseFlags.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// A command of a program. `Values` holds the values of all flags.
template <typename Values> struct ToolCommand {
  CommandTable table;
  /// Runs the command, and returns the exit status.
  int (*run)(const Values &values);
};

/// Parses the flags of a program that has commands, of which exactly one must
/// be given. Sets `chosen` to it, and returns nullopt if the program can
/// continue; otherwise returns its exit status, as `parseFlags` does.
template <typename Values>
std::optional<int> parseCommand(CLI::App &app, int argc, char **argv,
                                const std::vector<ToolCommand<Values>> &all,
                                const ToolCommand<Values> *&chosen) {
  app.require_subcommand(1);
  std::string names;
  for (size_t i = 0; i < all.size(); ++i) {
    addCommand(app, all[i].table);
    const char *const separator = i + 1 == all.size() ? " or " : ", ";
    names += (i == 0 ? "" : separator) + all[i].table.name;
  }
  const auto isNamed = [&](const CLI::App *command) {
    return command->get_name() == argv[1];
  };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(isNamed).empty())
    return fail(
        ExitCode::Usage,
        fmt::format("{} is no command; give {}, or --help", argv[1], names));
  if (const std::optional<int> status =
          parseFlags(app, argc, argv,
                     fmt::format("'{0} --help' and '{0} COMMAND --help' list",
                                 app.get_name())))
    return status;
  for (const ToolCommand<Values> &command : all)
    if (app.got_subcommand(command.table.name))
      chosen = &command;
  return std::nullopt;
}

} // namespace pdlrt

#endif // PDLRT_CORE_TOOLCOMMANDS_H
