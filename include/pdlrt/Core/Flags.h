//===- Flags.h - Tables of flags --------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program lists its flags in a table with one row per flag. A row has the
// flag's name, the variable that it sets, bounds of the value, the flags that
// it needs or excludes, and the help text. `addFlags` makes the parser (CLI11)
// and the text of --help from the table; scripts/flag_reference.py makes the
// reference from that text. Only programs with flags include this header and
// thus CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_FLAGS_H
#define PDLRT_CORE_FLAGS_H

#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/Status.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdlrt {

template <typename T> struct WithoutOptional {
  using Type = T;
};
template <typename T> struct WithoutOptional<std::optional<T>> {
  using Type = T;
};

/// The variable that a flag sets, and the conversion from text to its value.
/// The variable must outlive the parsing. Its value before the parsing is the
/// default, which help texts show unless the variable is a std::optional.
class FlagValue {
public:
  using AddOption = std::function<CLI::Option *(
      CLI::App &app, const std::string &names, const std::string &help)>;

  explicit FlagValue(AddOption addOption) : addOption(std::move(addOption)) {}

  /// A flag without a value: sets `target` to true if the flag is given.
  static FlagValue isGiven(bool &target);
  /// A text that is not empty.
  static FlagValue text(std::string &target);
  /// A text that may be empty.
  static FlagValue anyText(std::string &target);
  /// A number of seconds, from 0 to 1e9.
  static FlagValue seconds(double &target);
  /// A number from `min` to `max`.
  static FlagValue real(std::optional<double> &target, double min, double max);
  /// Several texts, separated by commas or as separate words.
  static FlagValue list(std::vector<std::string> &target);
  /// Several texts in one word, separated by commas.
  static FlagValue commaList(std::vector<std::string> &target);
  /// One or several words that are not empty.
  static FlagValue words(std::vector<std::string> &target);
  /// One word that is not empty; the flag may be given several times.
  static FlagValue repeated(std::vector<std::string> &target);

  /// A whole number from `min` to `max`. `T`: an integer type, or a
  /// std::optional of it.
  template <typename T>
  static FlagValue number(T &target, uint64_t min = 0,
                          uint64_t max = UINT64_MAX) {
    return FlagValue([&target, min, max](CLI::App &app,
                                         const std::string &names,
                                         const std::string &help) {
      CLI::Option *option =
          app.add_option(names, target, help)->transform(wholeNumber(min, max));
      if constexpr (std::is_integral_v<T>)
        option->capture_default_str();
      return option;
    });
  }

  /// One of several names. `T`: an enumeration, or a std::optional of it.
  template <typename T>
  static FlagValue
  choice(T &target,
         std::initializer_list<
             std::pair<const char *, typename WithoutOptional<T>::Type>>
             values) {
    std::vector<std::string> names;
    std::string defaultName;
    for (const auto &[name, value] : values) {
      names.emplace_back(name);
      if constexpr (std::is_same_v<T, typename WithoutOptional<T>::Type>)
        if (value == target)
          defaultName = name;
    }
    return chosen(
        names, defaultName,
        [&target, known = std::vector(values)](const std::string &text) {
          for (const auto &[name, value] : known)
            if (text == name)
              target = value;
        });
  }

  /// One of `names`, stored as text: for names that come from a registry.
  static FlagValue oneOf(std::string &target,
                         const std::vector<std::string> &names);

  /// A text that `parse` converts to an Expected with the value. `defaultText`
  /// is the default that help texts show.
  template <typename T, typename Parse>
  static FlagValue parsed(T &target, Parse parse,
                          const std::string &defaultText = {}) {
    return converted(
        [parse](const std::string &text) { return parse(text).status(); },
        [&target, parse](const std::string &text) { target = *parse(text); },
        defaultText);
  }

  CLI::Option *addTo(CLI::App &app, const std::string &names,
                     const std::string &help) const {
    return addOption(app, names, help);
  }

private:
  static FlagValue chosen(std::vector<std::string> names,
                          std::string defaultName,
                          std::function<void(const std::string &)> set);
  static FlagValue converted(std::function<Status(const std::string &)> check,
                             std::function<void(const std::string &)> set,
                             std::string defaultText);

  AddOption addOption;
};

/// One row of a table: a flag with its properties.
struct Flag {
  /// The name of the flag, such as "--rank", or several names, such as
  /// "-o,--output". A name without dashes is a positional argument.
  std::string names;
  /// Placeholder of the value in help texts, such as "N" or "FILE". Empty for
  /// flags without a value.
  std::string placeholder = {};
  FlagValue value;
  std::string help;
  bool isRequired = false;
  /// Names of flags that must be given if this one is given.
  std::vector<std::string> needs = {};
  /// Names of flags that must not be given if this one is given.
  std::vector<std::string> excludes = {};
  /// False if this program cannot use the flag, for instance because of its
  /// mode. Help texts then omit the flag, but the parser knows it.
  bool isOffered = true;
  /// Message of the error that `checkOffered` returns if this flag is given
  /// although `isOffered` is false. If empty, `checkOffered` accepts the flag,
  /// and another check of the program must reject it.
  std::string refusal = {};
  /// The default that help texts show; nullopt: the value of the variable.
  std::optional<std::string> shownDefault = {};
  /// True if the value concerns a whole job. `pdl-launch` then passes the flag
  /// to all trainers and servers of the job.
  bool isOfJob = false;
};

// Return a copy of a row with one property changed, for rows that several
// tables share.
inline Flag offeredIf(bool isOffered, Flag flag) {
  flag.isOffered = isOffered;
  return flag;
}
inline Flag required(Flag flag) {
  flag.isRequired = true;
  return flag;
}
inline Flag needing(const std::string &other, Flag flag) {
  flag.needs.push_back(other);
  return flag;
}

inline Flag ofJob(Flag flag) {
  flag.isOfJob = true;
  return flag;
}

/// Flags under one heading of the help text. If several groups of a table have
/// the same heading, help texts show them as one.
struct FlagGroup {
  std::string heading;
  std::vector<Flag> flags;
};

using FlagTable = std::vector<FlagGroup>;

/// A command of a program, such as `train`, with the table of its flags.
struct CommandTable {
  std::string name, help;
  FlagTable flags;
  /// Text after the flags, such as examples. May be empty.
  std::string footer = {};
};

/// Names and properties of a flag, for programs that pass flags on to others,
/// such as pdl-launch.
struct FlagForm {
  std::vector<std::string> names;
  bool takesValue = false;
  bool isOffered = true;
  bool isOfJob = false;
};

/// The heading that CLI11 gives to flags without a heading.
inline constexpr const char *mainOptions = "Options";

/// Returns the row of the flag --log-format, which sets the format of the
/// process's log. Programs that have it call `takeLogFormat` before they parse
/// their flags.
Flag logFormatFlag();

/// Returns the rows of `first`, followed by those of `second`.
std::vector<Flag> joined(std::vector<Flag> first, std::vector<Flag> second);

/// Adds all flags of a table to the parser of a program or command.
void addFlags(CLI::App &app, const FlagTable &table);

/// Adds a command with all of its flags to the parser of a program.
CLI::App *addCommand(CLI::App &app, const CommandTable &command);

/// Returns an error for the first flag that was given although its `isOffered`
/// is false (see `Flag::refusal`). Call after the parsing.
Status checkOffered(const CLI::App &app, const FlagTable &table);

/// Returns the flags that the user gave, with their values. A flag without a
/// value has the value "true". Call after the parsing.
std::vector<std::pair<std::string, std::vector<std::string>>>
givenFlags(const CLI::App &app);

/// Returns the forms of all flags of a table, in the order of the table.
std::vector<FlagForm> formsOf(const FlagTable &table);

} // namespace pdlrt

#endif // PDLRT_CORE_FLAGS_H
