//===- Deltas.cpp - Compares deltas with full checkpoints -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures what a delta saves if a part of a table's rows has changed, on one
// thread. Measures time and size of a full checkpoint and of a delta, and the
// time in which a reader with the previous state loads the delta. For
// comparison, measures the limits: the rows' share of the bytes, and writing
// and flushing a file of the same size.
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
namespace fs = std::filesystem;

static void check(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static uint64_t bytesOf(const std::string &folder) {
  uint64_t bytes = 0;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    bytes += entry.file_size();
  return bytes;
}

/// Returns the time in seconds for writing a file of that size.
static double secondsOfFile(const std::string &path, uint64_t bytes) {
  const std::vector<char> piece(size_t(1) << 20, 1);
  const double start = now();
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
  for (uint64_t at = 0; at < bytes; at += piece.size())
    if (::write(file, piece.data(),
                std::min<uint64_t>(piece.size(), bytes - at)) < 0)
      std::exit(1);
  ::fdatasync(file);
  ::close(file);
  return now() - start;
}

/// Changes rows as an update does.
static void change(EmbeddingTable &table, const std::vector<int64_t> &keys) {
  std::vector<void *> rows(keys.size());
  TableScratch scratch;
  int64_t inserted = 0;
  check(table.findOrInsert(int64_t(keys.size()), keys.data(), rows.data(),
                           scratch, inserted));
  for (void *row : rows) {
    *static_cast<float *>(row) += 1;
    table.layout().headerOf(row).noteUpdate(1);
  }
}

static double save(const Model &model, const std::string &folder, int64_t steps,
                   SavedRows saved, CheckpointLink &last) {
  const std::string path = CheckpointFolder::nameIn(folder, steps);
  CheckpointWriter writer(path);
  CheckpointManifest manifest;
  manifest.progress.steps = steps;
  if (saved == SavedRows::Changed)
    manifest.after = last;
  const double start = now();
  check(saveModel(model, writer, manifest, nullptr, saved));
  check(writer.commit(std::move(manifest), &last.digest));
  last.name = fs::path(path).filename();
  return now() - start;
}

int main(int argc, char **argv) {
  const int64_t count = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  if (argc > 2 || count < 1000) {
    std::fprintf(stderr,
                 "usage: %s [KEYS]\nMeasures checkpoints of a table of KEYS "
                 "rows (default 10^7) in the folder for temporary files.\n",
                 argv[0]);
    return argc == 2 && std::string(argv[1]) == "--help" ? 0 : 2;
  }
  std::string name = (fs::temp_directory_path() / "pdl-deltas-XXXXXX").string();
  const std::string folder = mkdtemp(name.data());
  Model model(*handWrittenProgram({}), 3);
  EmbeddingTable &table = *model.table(SymbolTable);
  std::vector<int64_t> keys(static_cast<size_t>(count));
  std::iota(keys.begin(), keys.end(), 1);
  change(table, keys);
  std::printf("%lld rows of %zu bytes\n", static_cast<long long>(count),
              table.rowBytes());
  CheckpointLink last;
  const double whole = save(model, folder, 0, SavedRows::Base, last);
  const uint64_t wholeBytes = bytesOf(folder + "/" + last.name);
  std::printf("whole: %7.3f s, %8.1f MB; such a file: %.3f s\n", whole,
              double(wholeBytes) / 1e6,
              secondsOfFile(folder + "/file", wholeBytes));
  // The reader has the values of the full checkpoint.
  Model reader(*handWrittenProgram({}), 3);
  {
    const Expected<Checkpoint> base =
        Checkpoint::open(folder + "/" + last.name);
    check(base.status());
    check(restoreModel(reader, *base, CheckpointUse::Values));
  }
  std::mt19937_64 random(7);
  int64_t steps = 0;
  for (const double share : {0.0, 0.001, 0.01, 0.1}) {
    std::vector<int64_t> some;
    for (int64_t i = 0; i < int64_t(share * double(count)); ++i)
      some.push_back(keys[random() % keys.size()]);
    change(table, some);
    const double delta = save(model, folder, ++steps, SavedRows::Changed, last);
    const uint64_t bytes = bytesOf(folder + "/" + last.name);
    const double start = now();
    const Expected<Checkpoint> alone =
        Checkpoint::openAlone(folder + "/" + last.name);
    check(alone.status());
    check(restoreChanges(reader, *alone, CheckpointUse::Values));
    const double applied = now() - start;
    std::printf("%5.1f %% changed: %7.3f s (%4.1f %%), %8.1f MB (%4.1f %%); "
                "such a file: %.3f s; applied in %.3f s\n",
                100 * share, delta, 100 * delta / whole, double(bytes) / 1e6,
                100 * double(bytes) / double(wholeBytes),
                secondsOfFile(folder + "/file", bytes), applied);
  }
  fs::remove_all(folder);
}
