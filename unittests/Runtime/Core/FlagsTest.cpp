//===- FlagsTest.cpp - Tables of flags ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Flags.h"

#include "gmock/gmock.h"

#include <optional>
#include <string>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

enum class Color { Red, Green };

Expected<char> parseOneCharacter(const std::string &text) {
  if (text.size() == 1)
    return text.front();
  return Status::invalidArgument("'" + text + "' is not one character");
}

class FlagsTest : public testing::Test {
protected:
  FlagTable table() {
    return {{"Values",
             {{.names = "-n,--number",
               .placeholder = "N",
               .value = FlagValue::number(number, 2, 9),
               .help = "A number"},
              {.names = "--maybe",
               .placeholder = "N",
               .value = FlagValue::number(maybe),
               .help = "A number without a default"},
              {.names = "--color",
               .placeholder = "NAME",
               .value = FlagValue::choice(
                   color, {{"red", Color::Red}, {"green", Color::Green}}),
               .help = "A name",
               .needs = {"--number"}},
              {.names = "--other-color",
               .placeholder = "NAME",
               .value = FlagValue::choice(
                   otherColor, {{"red", Color::Red}, {"green", Color::Green}}),
               .help = "A name without a default",
               .shownDefault = "none"},
              {.names = "--character",
               .placeholder = "CHAR",
               .value = FlagValue::parsed(character, parseOneCharacter, "x"),
               .help = "A character"}}},
            {"Words",
             {{.names = "--list",
               .placeholder = "A,B",
               .value = FlagValue::list(list),
               .help = "Texts",
               .excludes = {"--repeated"}},
              {.names = "--repeated",
               .placeholder = "A",
               .value = FlagValue::repeated(repeated),
               .help = "Texts, one per flag"},
              {.names = "--switch",
               .value = FlagValue::isGiven(isSwitched),
               .help = "No value",
               .isOffered = false,
               .refusal = "--switch is for other programs"}}}};
  }

  /// Returns the error of a command line.
  std::string errorOf(const std::string &line) {
    CLI::App app("test", "test");
    const FlagTable flags = table();
    addFlags(app, flags);
    try {
      app.parse(line);
    } catch (const CLI::ParseError &error) {
      return error.what();
    }
    return checkOffered(app, flags).message();
  }

  int64_t number = 3;
  std::optional<uint64_t> maybe;
  Color color = Color::Green;
  std::optional<Color> otherColor;
  char character = 'x';
  std::vector<std::string> list, repeated;
  bool isSwitched = false;
};

TEST_F(FlagsTest, ValuesAreTyped) {
  EXPECT_EQ(errorOf("-n 7 --maybe 0 --color red --other-color green "
                    "--character y --list a,b c"),
            "");
  EXPECT_EQ(number, 7);
  EXPECT_EQ(maybe, 0u);
  EXPECT_EQ(color, Color::Red);
  EXPECT_EQ(otherColor, Color::Green);
  EXPECT_EQ(character, 'y');
  EXPECT_THAT(list, ElementsAre("a", "b", "c"));
  EXPECT_EQ(errorOf("--repeated a --repeated b,c"), "");
  EXPECT_THAT(repeated, ElementsAre("a", "b,c"));
}

TEST_F(FlagsTest, ValuesThatAreNotGivenStay) {
  EXPECT_EQ(errorOf(""), "");
  EXPECT_EQ(number, 3);
  EXPECT_EQ(maybe, std::nullopt);
  EXPECT_EQ(color, Color::Green);
  EXPECT_EQ(otherColor, std::nullopt);
  EXPECT_EQ(character, 'x');
  EXPECT_THAT(list, IsEmpty());
}

TEST_F(FlagsTest, WrongValuesAreRefused) {
  EXPECT_THAT(errorOf("--number 10"), HasSubstr("from 2 to 9"));
  EXPECT_THAT(errorOf("--maybe -1"), HasSubstr("--maybe"));
  EXPECT_THAT(errorOf("-n 3 --color blue"),
              HasSubstr("blue not in {red,green}"));
  EXPECT_THAT(errorOf("-n 3 --color 0"), HasSubstr("0 not in {red,green}"));
  EXPECT_THAT(errorOf("--character yy"),
              HasSubstr("--character: 'yy' is not one character"));
  EXPECT_EQ(color, Color::Green);
}

TEST_F(FlagsTest, NeedsAndExclusionsAreChecked) {
  EXPECT_THAT(errorOf("--color red"), HasSubstr("requires --number"));
  EXPECT_THAT(errorOf("--list a --repeated b"), HasSubstr("excludes"));
}

TEST_F(FlagsTest, FlagsThatAreNotOfferedAreRefusedAndNotShown) {
  EXPECT_EQ(errorOf("--switch"), "--switch is for other programs");
  CLI::App app("test", "test");
  addFlags(app, table());
  EXPECT_THAT(app.help(), Not(HasSubstr("--switch")));
}

TEST_F(FlagsTest, HelpShowsPlaceholdersAndDefaults) {
  CLI::App app("test", "test");
  addFlags(app, table());
  const std::string help = app.help();
  for (const char *text :
       {"-n,--number N=3", "--maybe N  ", "--color NAME:{red,green}=green",
        "--other-color NAME:{red,green}=none", "--character CHAR=x",
        "--list A,B", "Values:", "Words:"})
    EXPECT_THAT(help, HasSubstr(text));
}

TEST_F(FlagsTest, CommandsHaveTables) {
  CLI::App app("test", "test");
  const CLI::App *command =
      addCommand(app, {"do", "Does it", table(), "Example: do"});
  app.parse("do --number 4");
  EXPECT_TRUE(command->parsed());
  EXPECT_EQ(number, 4);
  EXPECT_THAT(command->help(), HasSubstr("Example: do"));
}

} // namespace
