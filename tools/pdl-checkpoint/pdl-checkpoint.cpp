//===- pdl-checkpoint.cpp - Looks into checkpoints ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "Export.h"
#include "Shrink.h"
#include "StopSignals.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/Merge.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Files/OutputFiles.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

using namespace pdlrt;

void print(const std::string &line) {
  std::fputs((line + "\n").c_str(), stdout);
}

Expected<Checkpoint> openNamed(const std::string &path, bool *isNewest) {
  std::vector<std::string> refused;
  Expected<Checkpoint> checkpoint = openCheckpoint(path, refused);
  if (checkpoint)
    for (const std::string &sentence : refused)
      std::fprintf(stderr, "warning: passed over %s\n", sentence.c_str());
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
  }
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
  if (isAnyExport(path))
    return inspectExport(path);
  bool isNewest = true;
  Expected<Checkpoint> checkpoint = openNamed(path, &isNewest);
  if (!checkpoint)
    return fail(1, checkpoint.status().message());
  // What is asked is also whether all is well.
  const int status = isNewest ? 0 : 1;
  const CheckpointManifest &manifest = checkpoint->manifest();
  print(fmt::format("checkpoint           {}", checkpoint->path()));
  print(fmt::format("format version       {}",
                    checkpoint->isDelta() ? deltaVersion : checkpointVersion));
  for (const Checkpoint &each : checkpoint->earlier())
    print(fmt::format("{} {}",
                      each.isDelta() ? "delta behind        "
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

Status checkNewFolder(const std::string &path) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    return Status::invalid(path +
                           ": there is something of that name already; name a "
                           "folder that is not there yet");
  return {};
}

Status makeFolderOf(const std::string &path) {
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::absolute(path, error).lexically_normal().parent_path();
  std::filesystem::create_directories(parent, error);
  return error ? Status::invalid(parent.string() + ": cannot be made: " +
                                 error.message() + "; name another folder")
               : Status();
}

static int merge(const std::string &path, const std::string &output) {
  if (const Status status = checkNewFolder(output); !status.ok())
    return fail(2, status.message());
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return fail(1, checkpoint.status().message());
  Status status = makeFolderOf(output);
  if (status.ok())
    status = mergeCheckpoint(*checkpoint, output);
  return status.ok() ? 0 : fail(1, status.message());
}

static int prune(const std::string &path, int64_t keep) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return fail(2, path + ": there is no such folder; name one that 'trainer "
                          "train --checkpoint' wrote to");
  if (std::filesystem::exists(path + "/" + manifestName, error))
    return fail(2, path + ": is one checkpoint; name the folder that it is in");
  const Expected<CheckpointFolder> folder = CheckpointFolder::open(path);
  if (!folder)
    return fail(1, folder.status().message());
  const auto pruned = folder->prune(keep);
  if (!pruned)
    return fail(1, pruned.status().message());
  for (const std::string &each : pruned->removed)
    print("removed " + each);
  for (const std::string &each : pruned->renamed)
    std::fprintf(stderr, "warning: %s\n", each.c_str());
  print(fmt::format("kept {} checkpoints, and {} that these need", pruned->kept,
                    pruned->needed));
  return 0;
}

//===----------------------------------------------------------------------===//
// dump, diff
//===----------------------------------------------------------------------===//

/// Of a checkpoint, or of a dump.
static Expected<ModelState> readState(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Status::invalid(path + ": there is no such file or folder; name a "
                                  "checkpoint, a folder of checkpoints, or a "
                                  "dump");
  if (std::filesystem::is_regular_file(path))
    return readDump(path);
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return checkpoint.status();
  return stateOf(*checkpoint);
}

static int dump(const std::string &path, const std::string &output) {
  if (Status status = checkReplaceable(output); !status.ok())
    return fail(2, status.message());
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return fail(1, checkpoint.status().message());
  Expected<ModelState> state = stateOf(*checkpoint);
  if (!state)
    return fail(1, state.status().message());
  Status status = writeDump(*state, output);
  return status.ok() ? 0 : fail(1, status.message());
}

void printDifferences(const StateDifferences &found, const std::string &first,
                      const std::string &second) {
  for (const std::string &sentence : found.sentences)
    print(sentence);
  if (found.count > int64_t(found.sentences.size()))
    print(fmt::format("and {} more",
                      found.count - int64_t(found.sentences.size())));
  for (const TableDifferences &table : found.tables)
    if (table.changed + table.onlyFirst + table.onlySecond > 0)
      print(fmt::format("table @{}: {} rows differ, {} of {} are only in {}, "
                        "{} of {} only in {}",
                        table.table, table.changed, table.onlyFirst,
                        table.rowsOfFirst, first, table.onlySecond,
                        table.rowsOfSecond, second));
}

static int diff(const std::string &first, const std::string &second,
                size_t limit) {
  if (isAnyExport(first) || isAnyExport(second))
    return diffExport(first, second, limit);
  Expected<ModelState> a = readState(first);
  if (!a)
    return fail(2, a.status().message());
  // A folder that a job writes to has another newest checkpoint each time.
  std::error_code error;
  std::optional<Expected<ModelState>> other;
  if (!std::filesystem::equivalent(first, second, error))
    other.emplace(readState(second));
  if (other && !*other)
    return fail(2, other->status().message());
  const ModelState *const b = other ? &**other : &*a;
  StateDifferences found = compareStates(*a, *b, first, second, limit);
  printDifferences(found, first, second);
  // A dump without slots does not say them.
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

static int run(int argc, char **argv) {
  std::string first, second, output;
  ExportFlags exportFlags;
  ShrinkFlags shrinkFlags;
  size_t limit = 10;
  int64_t keep = 3;
  CLI::App app(
      "Looks into the checkpoints that 'trainer train --checkpoint' "
      "writes. Wherever a checkpoint is asked for, a folder of them "
      "stands for the newest complete one, and a delta for the state that "
      "it has with all that it needs.",
      "pdl-checkpoint");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help");
  app.footer("Examples:\n"
             "  pdl-checkpoint inspect saved\n"
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
             "Exit status: 0 done, and equal for diff; 1 a bad checkpoint, or "
             "different for diff; 2 bad flags,\nor what diff cannot read.");
  CLI::App *inspectCommand = app.add_subcommand(
      "inspect", "Verify all checksums; show the model, how far training has "
                 "come, symbols, shapes, keys and sizes; of an export too. "
                 "Status 1 where a newer one of the folder is damaged");
  inspectCommand->add_option("checkpoint", first, "The checkpoint")
      ->required()
      ->type_name("FOLDER");
  CLI::App *dumpCommand = app.add_subcommand(
      "dump", "Write values and slots, tables sorted by key, as the "
              "safetensors file that 'trainer train --dump --dump-slots' "
              "writes");
  dumpCommand->add_option("checkpoint", first, "The checkpoint")
      ->required()
      ->type_name("FOLDER");
  dumpCommand->add_option("-o,--output", output, "The file to write")
      ->check(notEmpty())
      ->required()
      ->type_name("FILE");
  CLI::App *exportCommand = app.add_subcommand(
      "export", "Write what serves of a checkpoint: as a folder that libraries "
                "map, which loads at once, whatever its size, and whose memory "
                "processes share; or as files that key-value stores are filled "
                "with");
  exportCommand->add_option("checkpoint", first, "The checkpoint")
      ->required()
      ->type_name("FOLDER");
  exportCommand
      ->add_option("-o,--output", output, "The folder to write, a new one")
      ->check(notEmpty())
      ->required()
      ->type_name("FOLDER");
  exportCommand
      ->add_option("--format", exportFlags.format,
                   "mapped: tables as files of memory. Else rows sorted by "
                   "key, tsv: lines of text; records: key with the greatest "
                   "byte first, then elements with the least byte first; sst: "
                   "the same as files of RocksDB")
      ->check(CLI::IsMember(exportFormats()))
      ->capture_default_str()
      ->type_name("NAME");
  const std::string notMapped = "Of all formats but mapped: ";
  constexpr uint64_t mostMebibytes = uint64_t(1) << 40, mostPeriods = 1 << 14;
  exportCommand
      ->add_option("--file-size", exportFlags.fileSize,
                   notMapped + "MiB that a file of a table has about, before "
                               "the next one begins (default: 1024)")
      ->transform(wholeNumber(1, mostMebibytes))
      ->type_name("N");
  exportCommand
      ->add_option("--memory", exportFlags.memory,
                   notMapped + "MiB of rows that are in memory at once; with "
                               "fewer, files are read in smaller pieces "
                               "(default: 256)")
      ->transform(wholeNumber(1, mostMebibytes))
      ->type_name("N");
  exportCommand
      ->add_option("--slot", exportFlags.slot,
                   "A slot that frozen programs read, such as average: it is "
                   "exported in the place of values, where symbols have it")
      ->check(notEmpty())
      ->type_name("NAME");
  CLI::App *diffCommand = app.add_subcommand(
      "diff",
      "Compare values and slots bit for bit, and the groups' step "
      "counts; say where they differ first, and in how many rows. Of an "
      "export what is in it, with a checkpoint");
  diffCommand->add_option("a", first, "A checkpoint, a dump, or an export")
      ->required()
      ->type_name("PATH");
  diffCommand->add_option("b", second, "Another one")
      ->required()
      ->type_name("PATH");
  diffCommand->add_option("--limit", limit, "Differences to print")
      ->type_name("N")
      ->transform(wholeNumber())
      ->capture_default_str();
  CLI::App *mergeCommand = app.add_subcommand(
      "merge",
      "Write a delta, with all that it needs, as one whole checkpoint: "
      "the bytes that a training without deltas would have written");
  mergeCommand->add_option("delta", first, "The checkpoint")
      ->required()
      ->type_name("FOLDER");
  mergeCommand->add_option("output", output, "The folder to write")
      ->check(notEmpty())
      ->required()
      ->type_name("FOLDER");
  CLI::App *shrinkCommand = app.add_subcommand(
      "shrink",
      "Write the checkpoint without rows that are unseen or of a low score: "
      "what the clause shrink(...) of tables does at the end of a period");
  shrinkCommand->add_option("checkpoint", first, "The checkpoint")
      ->required()
      ->type_name("FOLDER");
  shrinkCommand
      ->add_option("-o,--output", output,
                   "The folder to write, a new one, from which training goes "
                   "on if it is called as the checkpoint was")
      ->check(notEmpty())
      ->required()
      ->type_name("FOLDER");
  shrinkCommand
      ->add_option("--unseen", shrinkFlags.unseen,
                   "Of tables with the clause: rows go that were not updated "
                   "in so many whole periods, and keys that wait and did not "
                   "come in them")
      ->transform(wholeNumber(1, mostPeriods))
      ->type_name("N");
  shrinkCommand
      ->add_option("--score", shrinkFlags.score,
                   "Of tables with all of these row slots: weights of a row's "
                   "score, such as show=0.1,click=0.9")
      ->check(notEmpty())
      ->type_name("NAME=WEIGHT,...");
  shrinkCommand
      ->add_option("--decay", shrinkFlags.decay,
                   "What multiplies the slots of the score first, above 0 and "
                   "at most 1 (default: 1)")
      ->check(notEmpty())
      ->type_name("X");
  shrinkCommand
      ->add_option("--least", shrinkFlags.least,
                   "Rows go whose score is below it (default: none goes)")
      ->check(notEmpty())
      ->type_name("X");
  CLI::App *pruneCommand = app.add_subcommand(
      "prune",
      "Remove all checkpoints of a folder but the newest ones that are "
      "complete, and what these need");
  pruneCommand
      ->add_option("folder", first,
                   "The folder of checkpoints, to which no "
                   "training writes")
      ->required()
      ->type_name("FOLDER");
  pruneCommand->add_option("--keep", keep, "How many to keep")
      ->type_name("N")
      ->transform(wholeNumber(1, INT64_MAX))
      ->capture_default_str();
  const auto isNamed = [&](const CLI::App *command) {
    return command->get_name() == argv[1];
  };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(isNamed).empty())
    return fail(2, fmt::format("{} is no command; give inspect, dump, export, "
                               "diff, merge, shrink or prune, or --help",
                               argv[1]));
  if (std::optional<int> status = parseFlags(
          app, argc, argv,
          "'pdl-checkpoint --help' and 'pdl-checkpoint COMMAND --help' list"))
    return *status;
  if (!output.empty()) {
    output = withoutSlashes(output);
    removeUnfinishedAtSignal(output);
  }
  const int status = *inspectCommand  ? inspect(first)
                     : *dumpCommand   ? dump(first, output)
                     : *exportCommand ? exportTo(first, exportFlags, output)
                     : *diffCommand   ? diff(first, second, limit)
                     : *mergeCommand  ? merge(first, output)
                     : *shrinkCommand ? shrinkTo(first, shrinkFlags, output)
                                      : prune(first, keep);
  if (std::fflush(stdout) != 0)
    return fail(2, "cannot write to the standard output; is the disk full?");
  return status;
}

int main(int argc, char **argv) {
  return runProgram(2, "use a machine with more of it",
                    [&] { return run(argc, argv); });
}
