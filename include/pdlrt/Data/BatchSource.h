//===- BatchSource.h - From files to the batches of a group -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a group of replicas reads, and in which order:
//
//  1. The rows of all files, one file after the other, are numbered from 0
//     (headers do not count, nor do blank lines at the end of a file whose rows
//     have several cells). `DataOptions::rows` selects a
//     range of them. A bad row keeps its number, so it moves no other row.
//  2. With at least as many files as groups, file i belongs to group
//     i mod groups. Otherwise blocks of batch-size selected rows go to the
//     groups in turn.
//  3. The rows of a group are cut into windows of `shuffleWindow` rows; the
//     good records of each are shuffled by Philox(seed, epoch, group, window).
//  4. Batches of batch-size records are cut from that sequence, across windows
//     and files; the last one of an epoch may be smaller. Batch i belongs to
//     worker i mod workers.
//
// A pipe or a device is read as it comes, once: who needs it again gets an
// error. So is the standard input, which the name `-` stands for; it has no
// name that says what it is packed by, so that its first bytes do.
//
// Files: CSV (delimiter comma, with RFC 4180 quotes), TSV, any other delimiter,
// each also compressed by gzip or zstd, and safetensors (tensors named like the
// fields; ragged fields as `<field>.values` and `<field>.splits`; ids are taken
// as they are, never hashed).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCHSOURCE_H
#define PDLRT_DATA_BATCHSOURCE_H

#include "pdlabi/defaults.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/Batch.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// A range of row numbers; each end is a number or a percentage of all rows.
struct RowRange {
  struct Bound {
    bool isPercent = false;
    double percent = 0;
    int64_t row = 0;
    /// True if the bound cannot be known before all rows are counted.
    bool needsTotal() const {
      return isPercent && percent != 0 && percent != 100;
    }
    /// The row number among `total` rows: a percentage is rounded down, and a
    /// number past the end is the end.
    int64_t resolve(int64_t total) const;
  };
  Bound begin;
  Bound end{true, 100, 0};

  bool isAll() const;
  bool needsTotal() const { return begin.needsTotal() || end.needsTotal(); }

  /// Reads `BEGIN:END`, such as `0%:80%`, `8000:10000`, `80%:` or `:100`. An
  /// absent end is the first or the last row.
  static Expected<RowRange> parse(std::string_view text);
};

/// What the user says about the data; part of the flags of a trainer.
struct DataOptions {
  std::vector<std::string> files;
  /// 0: by the file's name (.csv comma, .tsv tab, each also with .gz or .zst).
  char delimiter = 0;
  /// What encloses cells as in RFC 4180; 0: nothing, so that quotes are text.
  /// None: a double quote where cells end in a comma or semicolon, else
  /// nothing.
  std::optional<char> quote;
  /// The first line of each file names its columns.
  bool header = false;
  /// A file of other data of the same job, whose header these files share where
  /// columns are found by position; empty: none.
  std::string headerFile;
  /// What the columns of delimited text are, in order: a field's name for all
  /// of its columns, or "_" for one that is none; empty: by the header's names,
  /// else those of the record.
  std::vector<std::string> columns;
  /// The header's names, or the numbers from 1, of the columns that are let
  /// through to predictions, in that order.
  std::vector<std::string> copyColumns;
  /// The field of the record, one id a sample, that is let through instead, as
  /// the data have it; empty: none.
  std::string idField;
  /// What is let through instead, of delimited text, are the texts of all ids
  /// that the program reads, as FieldTexts.h says; of bad rows nothing.
  bool copyTexts = false;
  /// Samples of one batch of one replica.
  int64_t batchSize = pdlabi::defaultBatchSize;
  /// Rows; 0 keeps the order of the files.
  int64_t shuffleWindow = 0;
  uint64_t seed = 0;
  /// How many bad rows a group skips in an epoch before it stops.
  int64_t maxBadRows = 0;
  RowRange rows;
  /// The folder that parsed rows of delimited text are kept in from pass to
  /// pass; empty: none. Never changes a batch.
  std::string cache;
  /// How many milliseconds a batch that has rows waits for more of a pipe; then
  /// it is cut as it is. None: until it is full. For one group of one worker,
  /// and data in the order of the files.
  std::optional<int64_t> flushAfter;
  /// Packed files are unpacked on threads of their own. Never changes a batch.
  bool unpackBeside = false;
};

/// Where the rows of a shuffle window begin, so that none before them is read
/// again. All 0: not known, or the begin of the pass.
struct WindowStart {
  /// Of `DataOptions::files`. Those before it are not looked at.
  int64_t file = 0;
  /// Rows of that file before the window, whoever they belong to; 0: none of
  /// the group's.
  int64_t row = 0;
  /// Bytes of the file's text before the window, unpacked; 0: not known.
  int64_t byte = 0;
  /// The line, from 1, at that byte.
  int64_t line = 0;
  /// Rows that `DataOptions::rows` selects before the window, of all files,
  /// where groups share files.
  int64_t selected = 0;
  /// Of the content of all rows of the group before the window.
  int64_t digest = 0;
  bool operator==(const WindowStart &) const = default;
};

/// Where a group stands: the next record is record `offset` of the shuffled
/// window `window`, and it begins batch `batch`. All count from 0.
struct DataPosition {
  int64_t epoch = 0;
  int64_t window = 0;
  int64_t offset = 0;
  int64_t batch = 0;
  /// Of the content of all rows of the group up to the end of the window, not
  /// negative; 0: not known.
  int64_t digest = 0;
  WindowStart start = {};
  bool operator==(const DataPosition &) const = default;
};

/// How many numbers a position consists of, and a call of `visit` with each, in
/// an order that is always the same: for those who send positions.
inline constexpr size_t positionNumbers = 11;
template <typename Position, typename Visit>
void forEachNumberOf(Position &position, Visit visit) {
  auto &start = position.start;
  for (auto *number :
       {&position.epoch, &position.window, &position.offset, &position.batch,
        &position.digest, &start.file, &start.row, &start.byte, &start.line,
        &start.selected, &start.digest})
    visit(*number);
}

/// The batches of one group of replicas. `next` may be called by several
/// threads, each with its own worker and batch; the other functions only while
/// no `next` runs.
class BatchSource {
public:
  /// Opens the files that belong to `group` of `groups` and finds the columns
  /// of the fields that `program` reads; other fields need no column. The
  /// descriptor must outlive the source. Stands at the start of epoch 0.
  static Expected<std::unique_ptr<BatchSource>>
  open(const DataOptions &options, const pdl_descriptor &descriptor,
       const pdl_program &program, int32_t groups = 1, int32_t group = 0,
       int32_t workers = 1);
  ~BatchSource();

  /// Fills `batch` with the next batch of `worker`; false, and an empty batch,
  /// when the epoch has none left for it, or, with `flushAfter`, when only bad
  /// rows have come for so long (`isAtEnd` is false then). The first row that
  /// is bad and may not be skipped is an error "file:line:column: sentence",
  /// where `column` counts cells from 1. After an error the source stays at it.
  Expected<bool> next(int32_t worker, Batch &batch);

  /// Starts `epoch` from its first batch, wherever the source stands.
  Status beginEpoch(int64_t epoch);

  /// Where the next batch begins. Meaningful when every worker has taken the
  /// same number of batches, or as many as there were.
  DataPosition position() const;
  /// Continues at a position that `position` gave, with the same options. Reads
  /// its window again; what stands before that too where the position does not
  /// say where the window begins. An error where those rows have another
  /// content than they had. Of a packed file, the text before the window is
  /// unpacked and thrown away; files before it are not opened.
  Status restore(const DataPosition &position);

  /// Bad rows skipped so far in this epoch, and the sentences of the first
  /// few.
  int64_t badRowCount() const;
  const std::vector<std::string> &badRowSentences() const;

  /// Whether the epoch has no more rows than batches were given out of.
  bool isAtEnd() const;
  /// Of data in the order of the files: how many rows of this epoch are in the
  /// batches so far, or are bad ones between or right behind those that are.
  int64_t settledRows() const;
  /// What is let through of the bad rows among them, as `Batch::copiedCell`, by
  /// row, where it is not empty; those that an earlier call gave excepted.
  std::map<int64_t, std::string> takeCopiedCellsOfBadRows();

  /// Whoever is in `next` and waits for bytes of a pipe gets an error instead,
  /// from now on. Any thread may call it.
  void endWaiting();

private:
  struct State;
  explicit BatchSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCHSOURCE_H
