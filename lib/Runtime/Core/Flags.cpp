//===- Flags.cpp - Tables of flags ----------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Flags.h"

#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/ParseFlags.h"

using namespace pdlrt;

using Names = const std::string &;

FlagValue FlagValue::isGiven(bool &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return app.add_flag(names, target, help);
  });
}

/// Shows the default of an option in the help text, unless it is empty.
static CLI::Option *withDefault(CLI::Option *option, Names text) {
  return text.empty() ? option : option->default_str(text);
}

FlagValue FlagValue::text(std::string &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return withDefault(app.add_option(names, target, help)->check(notEmpty()),
                       target);
  });
}

FlagValue FlagValue::anyText(std::string &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return withDefault(app.add_option(names, target, help), target);
  });
}

FlagValue FlagValue::seconds(double &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return app.add_option(names, target, help)
        ->check(secondsFlag())
        ->capture_default_str();
  });
}

FlagValue FlagValue::real(std::optional<double> &target, double min,
                          double max) {
  return FlagValue([&target, min, max](CLI::App &app, Names names, Names help) {
    return app.add_option(names, target, help)
        ->check(CLI::Range(min, max).description(""));
  });
}

FlagValue FlagValue::list(std::vector<std::string> &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return app.add_option(names, target, help)->delimiter(',');
  });
}

FlagValue FlagValue::commaList(std::vector<std::string> &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return app.add_option(names, target, help)
        ->delimiter(',')
        ->allow_extra_args(false);
  });
}

FlagValue FlagValue::words(std::vector<std::string> &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return app.add_option(names, target, help)->check(notEmpty());
  });
}

FlagValue FlagValue::repeated(std::vector<std::string> &target) {
  return FlagValue([&target](CLI::App &app, Names names, Names help) {
    return app.add_option(names, target, help)
        ->allow_extra_args(false)
        ->check(notEmpty());
  });
}

FlagValue FlagValue::chosen(std::vector<std::string> names,
                            std::string defaultName,
                            std::function<void(const std::string &)> set) {
  return FlagValue(
      [names = std::move(names), defaultName = std::move(defaultName),
       set = std::move(set)](CLI::App &app, Names flagNames, Names help) {
        return withDefault(
            app.add_option_function<std::string>(flagNames, set, help)
                ->check(CLI::IsMember(names)),
            defaultName);
      });
}

FlagValue FlagValue::oneOf(std::string &target,
                           const std::vector<std::string> &names) {
  return chosen(names, target,
                [&target](const std::string &text) { target = text; });
}

FlagValue FlagValue::converted(std::function<Status(const std::string &)> check,
                               std::function<void(const std::string &)> set,
                               std::string defaultText) {
  return FlagValue([check = std::move(check), set = std::move(set),
                    defaultText = std::move(defaultText)](
                       CLI::App &app, Names names, Names help) {
    const auto validate = [check](const std::string &text) {
      return check(text).message();
    };
    return withDefault(app.add_option_function<std::string>(names, set, help)
                           ->check(CLI::Validator(validate, "")),
                       defaultText);
  });
}

Flag pdlrt::logFormatFlag() {
  return {.names = "--log-format",
          .placeholder = "FORMAT",
          .value = FlagValue::choice(logFormat(), logFormats),
          .help = "Format of log lines on the standard error: text; json, an "
                  "object per line; or quiet, text with only warnings and "
                  "errors",
          .shownDefault = "text",
          .isOfJob = true};
}

std::vector<Flag> pdlrt::joined(std::vector<Flag> first,
                                std::vector<Flag> second) {
  for (Flag &flag : second)
    first.push_back(std::move(flag));
  return first;
}

/// Returns the first name of an option, in the form in which CLI11 finds it.
static std::string firstName(const std::string &names) {
  return names.substr(0, names.find(','));
}

void pdlrt::addFlags(CLI::App &app, const FlagTable &table) {
  for (const FlagGroup &group : table)
    for (const Flag &flag : group.flags) {
      CLI::Option *option = flag.value.addTo(app, flag.names, flag.help);
      option->group(flag.isOffered ? group.heading : "");
      option->required(flag.isRequired);
      if (!flag.placeholder.empty())
        option->type_name(flag.placeholder);
      if (flag.shownDefault)
        option->default_str(*flag.shownDefault);
    }
  // A separate loop, because `needs` and `excludes` may name flags of later
  // rows.
  for (const FlagGroup &group : table)
    for (const Flag &flag : group.flags) {
      CLI::Option *option = app.get_option(firstName(flag.names));
      for (const std::string &other : flag.needs)
        option->needs(app.get_option(other));
      for (const std::string &other : flag.excludes)
        option->excludes(app.get_option(other));
    }
}

CLI::App *pdlrt::addCommand(CLI::App &app, const CommandTable &command) {
  CLI::App *added = app.add_subcommand(command.name, command.help);
  added->footer(command.footer);
  addFlags(*added, command.flags);
  return added;
}

std::vector<FlagForm> pdlrt::formsOf(const FlagTable &table) {
  std::vector<FlagForm> forms;
  for (const FlagGroup &group : table)
    for (const Flag &flag : group.flags)
      forms.push_back({.names = CLI::detail::split(flag.names, ','),
                       .takesValue = !flag.placeholder.empty(),
                       .isOffered = flag.isOffered,
                       .isOfJob = flag.isOfJob});
  return forms;
}

std::vector<std::pair<std::string, std::vector<std::string>>>
pdlrt::givenFlags(const CLI::App &app) {
  std::vector<std::pair<std::string, std::vector<std::string>>> given;
  for (const CLI::Option *option : app.get_options())
    if (option->count() > 0)
      given.emplace_back(option->get_name(), option->results());
  return given;
}

Status pdlrt::checkOffered(const CLI::App &app, const FlagTable &table) {
  for (const FlagGroup &group : table)
    for (const Flag &flag : group.flags)
      if (!flag.isOffered && !flag.refusal.empty() &&
          app.get_option(firstName(flag.names))->count() > 0)
        return Status::invalidArgument(flag.refusal);
  return {};
}
