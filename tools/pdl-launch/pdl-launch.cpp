//===- pdl-launch.cpp - A cluster on this host ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "Supervisor.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ProgramMain.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::fail;
using pdlrt::Status;

using Words = std::vector<std::string>;

namespace {

struct Options {
  unsigned trainers = 1;
  unsigned servers = 1;
  bool unixSockets = false;
  unsigned grace = 30;
  std::string folder;
  Words trainerWords;
  Words serverWords;
};

} // namespace

/// Cuts the command line at `--`: our flags, the trainers', the servers'.
static std::vector<Words> cutAtDashes(int argc, char **argv) {
  std::vector<Words> parts(1);
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--" && parts.size() < 3)
      parts.emplace_back();
    else
      parts.back().push_back(argv[i]);
  parts.resize(3);
  return parts;
}

/// What pdl-launch says itself, the user cannot.
static Status checkWords(const Words &words) {
  for (const std::string &word : words)
    for (const std::string flag : {"--rank", "--trainers", "--servers"})
      if (word == flag || word.starts_with(flag + "="))
        return Status::invalid(flag +
                               " is given by pdl-launch to each program; "
                               "leave it out behind --");
  return {};
}

/// Servers are for trainings.
static Status checkCommand(const Options &options) {
  const Words &words = options.trainerWords;
  if (words.empty() || words.front().starts_with("-") ||
      words.front() == "train")
    return {};
  return Status::invalid(
      "only the command train has servers, but '" + words.front() +
      "' was asked for; run " + options.folder + "/trainer " + words.front() +
      " by itself, with the trained values in --checkpoint or --init-from");
}

static Status checkProgram(const std::string &path) {
  if (::access(path.c_str(), X_OK) == 0)
    return {};
  return Status::invalid("found no program " + path +
                         "; write both with pdl-translate MODEL --mode=sync "
                         "--emit=trainer,pserver -o FOLDER");
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The command of one program: its path, the user's words, then who it is.
static Words commandOf(const std::string &path, Words words, unsigned rank,
                       unsigned trainers, const std::string &servers) {
  for (std::string &word : words) {
    replaceAll(word, "{rank}", std::to_string(rank));
    replaceAll(word, "{trainers}", std::to_string(trainers));
  }
  words.insert(words.begin(), path);
  for (const std::string &word :
       {std::string("--rank"), std::to_string(rank), std::string("--trainers"),
        std::to_string(trainers), std::string("--servers"), servers})
    words.push_back(word);
  return words;
}

static Expected<std::vector<Program>> makePrograms(const Options &options,
                                                   const Places &places) {
  PDLRT_RETURN_IF_ERROR(checkWords(options.trainerWords));
  PDLRT_RETURN_IF_ERROR(checkWords(options.serverWords));
  PDLRT_RETURN_IF_ERROR(checkCommand(options));
  const std::string server = options.folder + "/pserver";
  const std::string trainer = options.folder + "/trainer";
  PDLRT_RETURN_IF_ERROR(checkProgram(server));
  PDLRT_RETURN_IF_ERROR(checkProgram(trainer));
  std::string list;
  for (const std::string &address : places.addresses())
    list += (list.empty() ? "" : ",") + address;
  Words trainerWords = options.trainerWords;
  if (trainerWords.empty() || trainerWords.front().starts_with("-"))
    trainerWords.insert(trainerWords.begin(), "train");
  std::vector<Program> programs;
  for (unsigned rank = 0; rank < options.servers; ++rank)
    programs.emplace_back(
        "pserver " + std::to_string(rank),
        commandOf(server, options.serverWords, rank, options.trainers, list));
  for (unsigned rank = 0; rank < options.trainers; ++rank)
    programs.emplace_back(
        "trainer " + std::to_string(rank),
        commandOf(trainer, trainerWords, rank, options.trainers, list));
  return programs;
}

static int launch(const Options &options) {
  const auto places = options.unixSockets ? unixSockets(options.servers)
                                          : freePorts(options.servers);
  if (!places)
    return fail(2, places.status().message());
  auto programs = makePrograms(options, **places);
  if (!programs)
    return fail(2, programs.status().message());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  Supervisor supervisor(std::move(*programs),
                        std::chrono::seconds(options.grace), terminal);
  return supervisor.run();
}

static int run(int argc, char **argv) {
  const std::vector<Words> parts = cutAtDashes(argc, argv);
  Options options;
  CLI::App app(
      "Starts the trainers and the servers of one job on this host and waits "
      "for them; the status is\nthat of the first program that failed.\n\n"
      "  pdl-launch [flags] FOLDER [-- trainer's words [-- server's words]]\n\n"
      "Each program gets --rank, --trainers and --servers behind its words, in "
      "which {rank} stands for\nits rank and {trainers} for their number.",
      "pdl-launch");
  app.add_option("--trainers", options.trainers, "Number of trainers")
      ->transform(pdlrt::wholeNumber(1, 1024))
      ->capture_default_str();
  app.add_option("--servers", options.servers, "Number of servers")
      ->transform(pdlrt::wholeNumber(1, 1024))
      ->capture_default_str();
  app.add_flag("--unix", options.unixSockets,
               "Unix sockets instead of free ports of the loopback");
  app.add_option("--grace", options.grace,
                 "Seconds that programs may run on after one failed, before "
                 "they get SIGTERM, and SIGKILL after as long again; 0: for "
                 "ever")
      ->transform(pdlrt::wholeNumber(0, UINT32_MAX))
      ->capture_default_str();
  app.add_option("folder", options.folder,
                 "The folder with the programs `trainer` and `pserver`")
      ->required();
  // CLI11 takes its words from the last one on.
  try {
    app.parse(Words(parts[0].rbegin(), parts[0].rend()));
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.trainerWords = parts[1];
  options.serverWords = parts[2];
  return launch(options);
}

int main(int argc, char **argv) {
  return pdlrt::runProgram(2, "use a machine with more of it",
                           [&] { return run(argc, argv); });
}
