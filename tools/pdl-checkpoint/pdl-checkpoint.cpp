//===- pdl-checkpoint.cpp - Inspects and converts checkpoints -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "Export.h"
#include "PathFlags.h"
#include "Projector.h"
#include "Rows.h"
#include "Shrink.h"
#include "Stats.h"
#include "StopSignals.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/Merge.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Core/ToolCommands.h"
#include "pdlrt/Data/PartitionPlaces.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

using namespace pdlrt;

void print(const std::string &line) {
  std::fputs((line + "\n").c_str(), stdout);
}

Expected<Checkpoint> openNamed(const std::string &path, bool *isNewest) {
  std::vector<std::string> refused;
  Expected<Checkpoint> checkpoint = openCheckpoint(path, refused);
  if (checkpoint)
    for (const std::string &message : refused)
      writeError("warning: passed over " + message + "\n");
  if (isNewest)
    *isNewest = refused.empty();
  return checkpoint;
}

//===----------------------------------------------------------------------===//
// inspect
//===----------------------------------------------------------------------===//

std::string sizeText(uint64_t bytes) {
  constexpr uint64_t mebibyte = uint64_t(1) << 20;
  return bytes < mebibyte
             ? fmt::format("{} bytes", bytes)
             : fmt::format("{:.1f} MiB", double(bytes) / double(mebibyte));
}

/// Returns a time in milliseconds since 1970 as UTC.
static std::string timeText(int64_t milliseconds) {
  const std::time_t seconds = milliseconds / 1000;
  std::tm time = {};
  ::gmtime_r(&seconds, &time);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &time);
  return text;
}

static void printProgress(const CheckpointManifest &manifest) {
  const TrainingProgress &progress = manifest.progress;
  print(fmt::format("steps                {}", progress.steps));
  print(fmt::format("samples              {}", progress.samples));
  print(fmt::format("epochs ended         {}", progress.epoch));
  for (size_t g = 0; g < progress.positions.size(); ++g) {
    const DataPosition &position = progress.positions[g];
    print(fmt::format("running epoch {}, group {}: window {}, record {}, "
                      "batch {}",
                      position.epoch + 1, g, position.window, position.offset,
                      position.batch));
    for (const StartPlace &place : position.places)
      print(fmt::format("running epoch {}, group {}: partition {} of --data "
                        "continues at offset {}{}{}",
                        position.epoch + 1, g, place.file, place.byte - 1,
                        place.line > 1
                            ? fmt::format(", row {} of the message", place.line)
                            : std::string(),
                        place.row > 0 ? ", event time " + timeText(place.row)
                                      : std::string()));
  }
  for (const auto &[flag, value] : manifest.settings)
    if (flag == "--replicas" && !progress.positions.empty())
      print(fmt::format("running epoch {} is divided among {}",
                        progress.epoch + 1, value));
  if (progress.skippedUpdates)
    print(fmt::format("skipped updates      {}", progress.skippedUpdates));
  if (progress.badRows)
    print(fmt::format("bad rows skipped     {}", progress.badRows));
  for (const auto &[name, steps] : manifest.groupSteps)
    print(fmt::format("group @{}: {} updates", name, steps));
}

static void printSymbols(const Checkpoint &checkpoint) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  for (const CheckpointSymbol &symbol : manifest.symbols) {
    const std::string shape = fmt::format("{}", fmt::join(symbol.shape, ", "));
    std::string line =
        fmt::format("{} @{}: {} [{}]", symbol.isTable ? "table" : "parameter",
                    symbol.name, tensorTypeName(symbol.elementType), shape);
    if (symbol.valueType)
      line += fmt::format(" stored in {}", tensorTypeName(*symbol.valueType));
    if (!symbol.slots.empty())
      line += fmt::format(", slots {}", fmt::join(symbol.slots, ", "));
    if (symbol.isTable) {
      int64_t keys = 0, erased = 0, waiting = 0, parts = 0;
      uint64_t bytes = 0;
      for (size_t p = 0; p < manifest.parts.size(); ++p) {
        if (manifest.parts[p].kind != PartKind::Table ||
            manifest.parts[p].symbol != symbol.name)
          continue;
        const TensorView *found = checkpoint.file(p).find("keys");
        keys += found ? found->elementCount : 0;
        found = checkpoint.file(p).find("erased");
        erased += found ? found->elementCount : 0;
        found = checkpoint.file(p).find("waiting.keys");
        waiting += found ? found->elementCount : 0;
        bytes += manifest.parts[p].digest.bytes;
        ++parts;
      }
      line +=
          fmt::format(", {} {}keys, {} in {} {}", keys,
                      checkpoint.isDelta() ? "changed " : "", sizeText(bytes),
                      parts, parts == 1 ? "part" : "parts");
      if (erased > 0)
        line += fmt::format(", {} keys erased", erased);
      if (waiting > 0)
        line += fmt::format(", {} keys wait for rows", waiting);
    }
    print(line);
  }
}

static int inspect(const std::string &path) {
  const Expected<bool> isExported = isAnyExport(path);
  if (!isExported)
    return fail(isExported.status());
  if (*isExported)
    return inspectExport(path);
  bool isNewest = true;
  Expected<Checkpoint> checkpoint = openNamed(path, &isNewest);
  if (!checkpoint)
    return fail(checkpoint.status());
  // `inspect` also reports whether the newest checkpoint is intact.
  const int status = isNewest ? 0 : 1;
  const CheckpointManifest &manifest = checkpoint->manifest();
  print(fmt::format("checkpoint           {}", checkpoint->path()));
  print(fmt::format("format version       {}",
                    checkpoint->isDelta() ? deltaVersion : checkpointVersion));
  for (const Checkpoint &each : checkpoint->earlier())
    print(fmt::format("{} {}",
                      each.isDelta() ? "delta after         "
                                     : "a delta, based on   ",
                      each.path()));
  print(fmt::format("model                {}", manifest.model));
  print(
      fmt::format("layout fingerprint   {:016x}", manifest.layoutFingerprint));
  print(fmt::format("training fingerprint {:016x}",
                    manifest.trainingFingerprint));
  print(fmt::format("compiler             {}", manifest.compilerVersion));
  print(fmt::format("numerics             {}, {}", manifest.numerics,
                    manifest.targetCpu));
  print(fmt::format("seed                 {}", manifest.seed));
  printProgress(manifest);
  printSymbols(*checkpoint);
  if (manifest.layoutVersion < currentLayout)
    print("keys                 an older layout, which does not say how they "
          "come from fields");
  for (const ModelPart &part : manifest.modelParts)
    if (part.kind == PDL_PART_TRAINING ||
        (part.kind == PDL_PART_STATE && part.name.starts_with("keys ")))
      print(fmt::format("{}: {}", part.name, part.value));
  for (const auto &[flag, value] : manifest.settings)
    print(fmt::format("flag {} {}", flag, value));
  uint64_t bytes = 0;
  for (const CheckpointPart &part : manifest.parts)
    bytes += part.digest.bytes;
  print(fmt::format("all {} files have the right checksum, {}",
                    manifest.parts.size() + 1, sizeText(bytes)));
  if (!checkpoint->isDelta())
    return status;
  size_t files = 0;
  bytes = 0;
  for (const Checkpoint &each : checkpoint->earlier()) {
    files += each.manifest().parts.size() + 1;
    for (const CheckpointPart &part : each.manifest().parts)
      bytes += part.digest.bytes;
  }
  print(fmt::format("and so have {} files of the checkpoints that it needs, {}",
                    files, sizeText(bytes)));
  return status;
}

//===----------------------------------------------------------------------===//
// merge, prune
//===----------------------------------------------------------------------===//

/// Returns true if there is something of that name.
static Expected<bool> isTaken(const std::string &path) {
  std::error_code error;
  if (!isInObjectStore(path))
    return std::filesystem::exists(
        std::filesystem::symlink_status(path, error));
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  const auto files = (*store)->list(path, true);
  PDLRT_RETURN_IF_ERROR(files.status());
  return !files->empty();
}

Status checkNewFolder(const std::string &path) {
  const Expected<bool> isThere = isTaken(path);
  PDLRT_RETURN_IF_ERROR(isThere.status());
  if (*isThere)
    return Status::failedPrecondition(
        path + ": there is something of that name already; name a "
               "folder that is not there yet");
  return {};
}

Status makeFolderOf(const std::string &path) {
  if (isInObjectStore(path))
    return {};
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::absolute(path, error).lexically_normal().parent_path();
  std::filesystem::create_directories(parent, error);
  return error ? Status::ofErrno(error.value(),
                                 parent.string() + ": cannot be made: " +
                                     error.message() + "; name another folder")
               : Status();
}

static int merge(const std::string &path, const std::string &output) {
  if (const Status status = checkNewFolder(output); !status.ok())
    return failUsage(status);
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return fail(checkpoint.status());
  Status status = makeFolderOf(output);
  if (status.ok())
    status = mergeCheckpoint(*checkpoint, output);
  return status.ok() ? 0 : fail(status);
}

static int prune(const std::string &path, int64_t keep) {
  std::error_code error;
  if (!isInObjectStore(path) && !std::filesystem::is_directory(path, error))
    return fail(Status::notFound(path + ": there is no such folder; name one "
                                        "that 'trainer train --checkpoint' "
                                        "wrote to"));
  if (std::filesystem::exists(path + "/" + manifestName, error))
    return fail(Status::failedPrecondition(
        path + ": is one checkpoint; name the folder that it is in"));
  const Expected<CheckpointFolder> folder = CheckpointFolder::open(path);
  if (!folder)
    return fail(folder.status());
  const auto pruned = folder->prune(keep);
  if (!pruned)
    return fail(pruned.status());
  for (const std::string &each : pruned->removed)
    print("removed " + each);
  for (const std::string &each : pruned->renamed)
    writeError("warning: " + each + "\n");
  print(fmt::format("kept {} checkpoints, and {} that these need", pruned->kept,
                    pruned->needed));
  return 0;
}

//===----------------------------------------------------------------------===//
// dump, diff
//===----------------------------------------------------------------------===//

/// Reads the state of a checkpoint or of a dump.
static Expected<ModelState> readState(const std::string &path) {
  std::error_code error;
  if (!isInObjectStore(path) && !std::filesystem::exists(path, error))
    return Status::notFound(path + ": there is no such file or folder; name a "
                                   "checkpoint, a folder of checkpoints, or a "
                                   "dump");
  const Expected<bool> isDump = isInObjectStore(path)
                                    ? isStored(path)
                                    : std::filesystem::is_regular_file(path);
  PDLRT_RETURN_IF_ERROR(isDump.status());
  if (*isDump)
    return readDump(path);
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return checkpoint.status();
  return stateOf(*checkpoint);
}

static int dump(const std::string &path, const std::string &output,
                const std::vector<std::string> &without) {
  if (!isInObjectStore(output))
    if (const Status status = checkReplaceable(output); !status.ok())
      return failUsage(status);
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return fail(checkpoint.status());
  Expected<ModelState> state = stateOf(*checkpoint);
  if (!state)
    return fail(state.status());
  for (const std::string &symbol : without)
    if (const Status removed = removeSymbol(
            *state, symbol.substr(symbol.starts_with('@') ? 1 : 0));
        !removed.ok())
      return failUsage(Status(removed).withContext(path));
  Status status = writeDump(*state, output);
  return status.ok() ? 0 : fail(status);
}

void printDifferences(const StateDifferences &found, const std::string &first,
                      const std::string &second) {
  for (const std::string &message : found.messages)
    print(message);
  if (found.count > int64_t(found.messages.size()))
    print(fmt::format("and {} more",
                      found.count - int64_t(found.messages.size())));
  for (const TableDifferences &table : found.tables)
    if (table.changed + table.onlyFirst + table.onlySecond > 0)
      print(fmt::format("table @{}: {} rows differ, {} of {} are only in {}, "
                        "{} of {} only in {}",
                        table.table, table.changed, table.onlyFirst,
                        table.rowsOfFirst, first, table.onlySecond,
                        table.rowsOfSecond, second));
}

int failDiff(const Status &failure) {
  const bool isBrief = exitCodeOf(failure.code()) == ExitCode::Retry;
  return fail(isBrief ? ExitCode::Retry : ExitCode::Usage, failure.message());
}

static int diff(const std::string &first, const std::string &second,
                size_t limit) {
  for (const std::string *path : {&first, &second}) {
    const Expected<bool> isExported = isAnyExport(*path);
    if (!isExported)
      return failDiff(isExported.status());
    if (*isExported)
      return diffExport(first, second, limit);
  }
  Expected<ModelState> a = readState(first);
  if (!a)
    return failDiff(a.status());
  // If the paths are equal, read the state only once. Otherwise a running job
  // might write a newer checkpoint between two reads.
  std::error_code error;
  std::optional<Expected<ModelState>> other;
  if (!std::filesystem::equivalent(first, second, error))
    other.emplace(readState(second));
  if (other && !*other)
    return failDiff(other->status());
  const ModelState *const b = other ? &**other : &*a;
  StateDifferences found = compareStates(*a, *b, first, second, limit);
  printDifferences(found, first, second);
  // A dump without slots contains no step counts.
  if (!a->groupSteps.empty() && !b->groupSteps.empty() &&
      a->groupSteps != b->groupSteps) {
    ++found.count;
    for (const ModelState *state : {&std::as_const(*a), b})
      for (const auto &[name, count] : state->groupSteps)
        print(fmt::format("group @{}: {} updates in {}", name, count,
                          state == b ? second : first));
  }
  if (found.count)
    return 1;
  print(fmt::format("equal: {} tensors, bit for bit", a->tensors.size()));
  return 0;
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

namespace {

/// Values of the flags of all commands.
struct Values {
  /// Positional arguments: a checkpoint, and for some commands a second path.
  std::string first, second;
  std::string output;
  std::vector<std::string> without;
  ExportFlags exported;
  ShrinkFlags shrunk;
  RowFlags row;
  StatsFlags stats;
  ProjectorFlags projector;
  size_t limit = 10;
  int64_t keep = 3;
};

using Command = ToolCommand<Values>;

} // namespace

static Command dumpCommand(Values &values) {
  return {{"dump",
           "Write values and slots, with tables sorted by key, as the "
           "safetensors file that 'trainer train --dump --dump-slots' writes",
           {{mainOptions,
             {pathFlag("checkpoint", values.first, "The checkpoint"),
              outputFlag(values.output, "The file to write", "FILE"),
              {.names = "--without",
               .placeholder = "NAME",
               .value = FlagValue::repeated(values.without),
               .help = "Leave this symbol out, so that a new training "
                       "(--init-from) starts it with initial values. May be "
                       "given several times"}}}}},
          [](const Values &given) {
            return dump(given.first, given.output, given.without);
          }};
}

static Command exportCommand(Values &values) {
  ExportFlags &flags = values.exported;
  constexpr uint64_t maxMebibytes = uint64_t(1) << 40;
  const std::string notMapped = "For all formats except mapped: ";
  return {
      {"export",
       "Write the part of a checkpoint that serving needs: as a folder that "
       "libraries map, which loads at once, whatever its size, and whose "
       "memory processes share; or as files for key-value stores",
       {{mainOptions,
         {pathFlag("checkpoint", values.first, "The checkpoint"),
          outputFlag(values.output, "The folder to write, a new one"),
          {.names = "--format",
           .placeholder = "NAME",
           .value = FlagValue::oneOf(flags.format, exportFormats()),
           .help = "mapped: tables as memory-mapped files. The other formats "
                   "contain rows sorted by key. tsv: lines of text; records: "
                   "the key with its most significant byte first, then "
                   "elements in little-endian order; sst: the same as files "
                   "of RocksDB"},
          {.names = "--file-size",
           .placeholder = "MIB",
           .value = FlagValue::number(flags.fileSize, 1, maxMebibytes),
           .help = notMapped + "approximate size of a table's file in MiB, "
                               "after which the next one begins (default: "
                               "1024)"},
          {.names = "--memory",
           .placeholder = "MIB",
           .value = FlagValue::number(flags.memory, 1, maxMebibytes),
           .help = notMapped + "MiB of rows that are in memory at once. With "
                               "fewer, files are read in smaller pieces "
                               "(default: 256)"},
          {.names = "--slot",
           .placeholder = "NAME",
           .value = FlagValue::text(flags.slot),
           .help = "A slot that frozen programs read, such as average. It is "
                   "exported in place of the values of symbols that have "
                   "it"}}}}},
      [](const Values &given) {
        return exportTo(given.first, given.exported, given.output);
      }};
}

static Command diffCommand(Values &values) {
  return {{"diff",
           "Compare values and slots bit by bit, and the groups' step counts. "
           "Print the first differences and the number of rows that differ. "
           "An export is compared with a checkpoint in the parts that it has",
           {{mainOptions,
             {pathFlag("a", values.first, "A checkpoint, a dump, or an export",
                       "PATH"),
              pathFlag("b", values.second, "Another one", "PATH"),
              {.names = "--limit",
               .placeholder = "N",
               .value = FlagValue::number(values.limit),
               .help = "Maximum number of differences to print"}}}}},
          [](const Values &given) {
            return diff(given.first, given.second, given.limit);
          }};
}

static Command shrinkCommand(Values &values) {
  ShrinkFlags &flags = values.shrunk;
  constexpr uint64_t maxPeriods = 1 << 14;
  return {{"shrink",
           "Write the checkpoint without rows that were not updated for long "
           "or have a low score, as the clause shrink(...) of tables does at "
           "the end of a period",
           {{mainOptions,
             {pathFlag("checkpoint", values.first, "The checkpoint"),
              outputFlag(values.output,
                         "The folder to write, a new one. Training can resume "
                         "from it if it is named like the checkpoint"),
              {.names = "--unseen",
               .placeholder = "N",
               .value = FlagValue::number(flags.unseen, 1, maxPeriods),
               .help = "For tables with the clause: erase rows that were not "
                       "updated in the last N whole periods, and keys that "
                       "wait for admission and did not occur in them"},
              {.names = "--score",
               .placeholder = "NAME=WEIGHT,...",
               .value = FlagValue::text(flags.score),
               .help = "For tables with all of these row slots: weights of a "
                       "row's score, such as show=0.1,click=0.9"},
              {.names = "--decay",
               .placeholder = "X",
               .value = FlagValue::text(flags.decay),
               .help = "Factor by which the slots of the score are multiplied "
                       "first, above 0 and at most 1 (default: 1)"},
              {.names = "--least",
               .placeholder = "X",
               .value = FlagValue::text(flags.least),
               .help = "Erase rows with a score below X (default: none)"}}}}},
          [](const Values &given) {
            return shrinkTo(given.first, given.shrunk, given.output);
          }};
}

/// Returns all commands, in the order of the help text.
static std::vector<Command> commandsOf(Values &values) {
  return {
      {{"inspect",
        "Verify all checksums. Show the model, the progress of the training, "
        "symbols, shapes, numbers of keys, and sizes; also of an export. The "
        "status is 1 if a newer checkpoint of the folder is damaged",
        {{mainOptions,
          {pathFlag("checkpoint", values.first, "The checkpoint")}}}},
       [](const Values &given) { return inspect(given.first); }},
      {rowTable(values.row),
       [](const Values &given) { return showRow(given.row); }},
      {neighborsTable(values.row),
       [](const Values &given) { return showNeighbors(given.row); }},
      {statsTable(values.stats),
       [](const Values &given) { return showStats(given.stats); }},
      {projectorTable(values.projector, values.output),
       [](const Values &given) {
         return writeProjector(given.projector, given.output);
       }},
      dumpCommand(values),
      exportCommand(values),
      diffCommand(values),
      {{"merge",
        "Write a delta, with everything that it needs, as one full checkpoint: "
        "the bytes that a training without deltas would have written",
        {{mainOptions,
          {pathFlag("delta", values.first, "The checkpoint"),
           pathFlag("output", values.output, "The folder to write")}}}},
       [](const Values &given) { return merge(given.first, given.output); }},
      shrinkCommand(values),
      {{"prune",
        "Remove all checkpoints of a folder except the newest complete ones, "
        "the best one (see train --keep-best), and those that these need",
        {{mainOptions,
          {pathFlag("folder", values.first,
                    "The folder of checkpoints, to which no training writes"),
           {.names = "--keep",
            .placeholder = "N",
            .value = FlagValue::number(values.keep, 1, INT64_MAX),
            .help = "Number of checkpoints to keep"}}}}},
       [](const Values &given) { return prune(given.first, given.keep); }}};
}

static int run(int argc, char **argv) {
  Values values;
  const std::vector<Command> commands = commandsOf(values);
  CLI::App app("Inspects and converts the checkpoints that 'trainer train "
               "--checkpoint' writes. Where a\ncheckpoint is expected, a "
               "folder of checkpoints stands for its newest complete one, and "
               "a\ndelta for the state that it represents.",
               "pdl-checkpoint");
  addHelpAndVersion(app);
  app.footer("Examples:\n"
             "  pdl-checkpoint inspect saved\n"
             "  pdl-checkpoint row saved some-id --table emb\n"
             "  pdl-checkpoint neighbors saved some-id --table emb --top 20\n"
             "  pdl-checkpoint stats saved\n"
             "  pdl-checkpoint projector saved --table emb -o projector\n"
             "  pdl-checkpoint dump saved/step-000000000100 -o model."
             "safetensors\n"
             "  pdl-checkpoint diff saved model.safetensors\n"
             "  pdl-checkpoint export saved -o served\n"
             "  pdl-checkpoint export saved --format tsv -o rows\n"
             "  pdl-checkpoint diff rows saved\n"
             "  pdl-checkpoint merge saved/step-000000000130 "
             "whole/step-000000000130\n"
             "  pdl-checkpoint shrink saved -o less/step-000000000130 "
             "--unseen 7\n"
             "  pdl-checkpoint prune saved --keep 1\n"
             "Exit status: 0 done, and equal for diff; 1 permanent failure, or "
             "different for diff; 2 wrong flags,\nor what diff cannot read; 3 "
             "failure that another try may mend.");
  const Command *command = nullptr;
  if (const std::optional<int> status =
          parseCommand(app, argc, argv, commands, command))
    return *status;
  for (std::string *path :
       {&values.first, &values.second, &values.row.checkpoint,
        &values.stats.checkpoint, &values.projector.checkpoint})
    if (isInObjectStore(*path))
      *path = withoutSlashes(*path);
  if (!values.output.empty()) {
    values.output = withoutSlashes(values.output);
    removeUnfinishedAtSignal(values.output,
                             /*isFolder=*/command->table.name != "dump");
  }
  const int status = command->run(values);
  if (status != 0)
    awaitEndBySignal();
  if (std::fflush(stdout) != 0)
    return fail(Status::ioError(
        "cannot write to the standard output; is the disk full?"));
  return status;
}

int main(int argc, char **argv) {
  return runProgram("use a machine with more of it",
                    [&] { return run(argc, argv); });
}
