//===- BatchSource.h - Reads files as batches of a group --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines what a group of replicas reads, and in which order:
//
//  1. The rows of all files, one file after the other, are numbered from 0.
//     Headers do not count. Blank lines at the end of a file do not count if
//     rows have several cells. `DataOptions::rows` selects a range of rows. A
//     bad row keeps its number, so it does not move other rows.
//  2. If there are at least as many files as groups, file i belongs to group
//     i mod groups. Otherwise, blocks of batch-size selected rows are assigned
//     to the groups in turn.
//  3. The rows of a group are divided into windows of `shuffleWindow` rows. The
//     good records of each window are shuffled by Philox(seed, epoch, group,
//     window).
//  4. Batches of batch-size records are cut from that sequence, across windows
//     and files. The last batch of an epoch may be smaller. Batch i belongs to
//     worker i mod workers.
//
// A pipe or a device is read once, sequentially; reading it again is an error.
// The same is true for the standard input, which has the name `-`. Its
// compression is detected from its first bytes.
//
// Supported files: CSV (comma as delimiter, RFC 4180 quotes), TSV, any other
// delimiter, JSON lines, MultiSlot and similar lines, libsvm, libffm and
// TFRecord, each optionally compressed with gzip or zstd; and safetensors.
// There, tensors are named like the fields, ragged fields as `<field>.values`
// and `<field>.splits`. Ids in safetensors are used unchanged, never hashed.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCHSOURCE_H
#define PDLRT_DATA_BATCHSOURCE_H

#include "pdlabi/abi/descriptor.h"
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

/// A range of row numbers. Each end is a number or a percentage of all rows.
struct RowRange {
  struct Bound {
    bool isPercent = false;
    double percent = 0;
    int64_t row = 0;
    /// Returns true if the bound is unknown until all rows are counted.
    bool needsTotal() const {
      return isPercent && percent != 0 && percent != 100;
    }
    /// Returns the row number among `total` rows. Percentages are rounded down;
    /// numbers greater than `total` become `total`.
    int64_t resolve(int64_t total) const;
  };
  Bound begin;
  Bound end{true, 100, 0};

  bool isAll() const;
  bool needsTotal() const { return begin.needsTotal() || end.needsTotal(); }

  /// Parses `BEGIN:END`, such as `0%:80%`, `8000:10000`, `80%:` or `:100`. A
  /// missing end means the first or the last row.
  static Expected<RowRange> parse(std::string_view text);
};

/// Describes the data; part of the flags of a trainer.
struct DataOptions {
  std::vector<std::string> files;
  /// Format of all files: a `FileFormat::flag`. Empty: determined by the name
  /// of each file.
  std::string format;
  /// Shell command that each file is read through: its standard input is the
  /// file, `$FILE` the file's name, and its standard output the data. Empty:
  /// none.
  std::string pipe;
  /// Cell delimiter. 0: determined by the file name (.csv comma, .tsv tab, each
  /// optionally with .gz or .zst).
  char delimiter = 0;
  /// Quote character of cells as in RFC 4180; 0: quotes are ordinary text.
  /// None: a double quote if the delimiter is a comma or semicolon, otherwise
  /// 0.
  std::optional<char> quote;
  /// If true, the first line of each file contains column names.
  bool header = false;
  /// A file of other data of the same job. If columns are found by position,
  /// its header must be equal to those of these files. Empty: none.
  std::string headerFile;
  /// Columns of delimited text, in order: a field's name for all of its
  /// columns, or "_" for a column that is not a field. Empty: found by the
  /// header's names, otherwise in the order of the record.
  std::vector<std::string> columns;
  /// Columns that predictions copy, in that order: names in the header, or
  /// numbers from 1.
  std::vector<std::string> copyColumns;
  /// Field of the record, with one id per sample, that predictions copy
  /// instead, as written in the data. Empty: none.
  std::string idField;
  /// If true, the copied text is instead the text of all ids that the program
  /// reads from delimited text (FieldTexts.h). Nothing is copied from bad rows.
  bool copyTexts = false;
  /// Samples per batch of one replica.
  int64_t batchSize = pdlabi::defaultBatchSize;
  /// Rows per shuffle window; 0 keeps the order of the files.
  int64_t shuffleWindow = 0;
  uint64_t seed = 0;
  /// Maximum number of bad rows that a group skips in an epoch.
  int64_t maxBadRows = 0;
  RowRange rows;
  /// Folder for parsed rows of delimited text, which later passes read. Empty:
  /// none. Does not affect batches.
  std::string cache;
  /// Maximum number of milliseconds for which a batch with rows waits for more
  /// rows of a pipe; then it is returned as it is. None: no limit. Only for one
  /// group of one worker, and data in the order of the files.
  std::optional<int64_t> flushAfter;
  /// If true, compressed files are decompressed on separate threads. Does not
  /// affect batches.
  bool unpackInBackground = false;
  /// If true, row k of file i of N files is row k * N + i of the data, as when
  /// lines are distributed to pipes round-robin. Does not affect batches. It
  /// only affects how the rest of an epoch is divided among another number of
  /// files.
  bool filesInTurn = false;
};

/// Start of a shuffle window in the files, so that earlier rows need not be
/// read again. All 0: unknown, or the start of the pass.
struct WindowStart {
  /// Index in `DataOptions::files`. Earlier files are not opened.
  int64_t file = 0;
  /// Number of rows of that file before the window, of all groups. 0: the
  /// window starts at the group's first row of the file.
  int64_t row = 0;
  /// Bytes of the decompressed text before the window; 0: unknown.
  int64_t byte = 0;
  /// The line, from 1, at that byte.
  int64_t line = 0;
  /// If groups share files: number of rows before the window that
  /// `DataOptions::rows` selects, over all files.
  int64_t selected = 0;
  /// Digest of the content of all rows of the group before the window.
  int64_t digest = 0;
  bool operator==(const WindowStart &) const = default;
};

/// Position of a group in the data: the next record is record `offset` of the
/// shuffled window `window`, and it begins batch `batch`. All count from 0.
struct DataPosition {
  int64_t epoch = 0;
  int64_t window = 0;
  int64_t offset = 0;
  int64_t batch = 0;
  /// Digest of the content of all rows of the group up to the end of the
  /// window, not negative; 0: unknown.
  int64_t digest = 0;
  WindowStart start = {};
  /// One more than the number (pdl_draws) of the first row that was not
  /// returned, if no later row of the group was returned; 0: unknown.
  int64_t next = 0;
  bool operator==(const DataPosition &) const = default;
};

/// Returns the error for data that do not reach the position, or that differ
/// from the data of which it is.
Status positionNotFound(const DataPosition &position);

/// Calls `visit` with each of the `positionNumbers` numbers of a position,
/// always in the same order. Used to send positions.
inline constexpr size_t positionNumbers = 12;
template <typename Position, typename Visit>
void forEachNumberOf(Position &position, Visit visit) {
  auto &start = position.start;
  for (auto *number :
       {&position.epoch, &position.window, &position.offset, &position.batch,
        &position.digest, &start.file, &start.row, &start.byte, &start.line,
        &start.selected, &start.digest, &position.next})
    visit(*number);
}

struct EpochRest;

/// The batches of one group of replicas. Several threads may call `next`
/// concurrently, each with its own worker and batch. Other functions must not
/// run concurrently with `next`.
class BatchSource {
public:
  /// Opens the files that belong to `group` of `groups`, and finds the columns
  /// of the fields that `program` reads. Other fields need no column. Starts at
  /// epoch 0. The descriptor must outlive the source.
  static Expected<std::unique_ptr<BatchSource>>
  open(const DataOptions &options, const pdl_descriptor &descriptor,
       const pdl_program &program, int32_t groups = 1, int32_t group = 0,
       int32_t workers = 1);
  ~BatchSource();

  /// Fills `batch` with the next batch of `worker`. Returns false and an empty
  /// batch if the epoch has no more batches for it. With `flushAfter`, also
  /// returns false if only bad rows arrived during that time; `isAtEnd` is then
  /// false. The first bad row that may not be skipped is an error
  /// "file:line:column: message"; `column` counts cells from 1. After an error,
  /// all further calls return it.
  Expected<bool> next(int32_t worker, Batch &batch);

  /// Starts `epoch` from its first batch, independent of the current position.
  Status beginEpoch(int64_t epoch);

  /// Returns the start of the next batch. Meaningful only if all workers have
  /// received the same number of batches, or all batches.
  DataPosition position() const;
  /// Continues at a result of `position`, with the same options. Reads the
  /// position's window again. Also reads all earlier rows if the position does
  /// not contain the start of the window. Returns an error if the content of
  /// these rows has changed. In a compressed file, the text before the window
  /// is decompressed and discarded. Earlier files are not opened. `rest`: the
  /// rows of the epoch that belong to these groups; null: all rows
  /// (EpochRest.h). The first position of the rest is the same as that of an
  /// epoch.
  Status restore(const DataPosition &position,
                 std::shared_ptr<const EpochRest> rest = nullptr);

  /// Returns the number of bad rows skipped so far in this epoch, and the
  /// messages about the first few.
  int64_t badRowCount() const;
  const std::vector<std::string> &badRowMessages() const;

  /// Returns true if all rows of the epoch have been returned in batches.
  bool isAtEnd() const;
  /// Returns, for data in the order of the files, the number of rows of this
  /// epoch that are in batches so far, plus bad rows between or directly after
  /// them.
  int64_t settledRows() const;
  /// Returns the copied text (see `Batch::copiedCell`) of the bad rows among
  /// them, by row, if it is not empty. Each row is returned only once.
  std::map<int64_t, std::string> takeCopiedCellsOfBadRows();

  /// Makes threads that wait in `next` for data of a pipe return an error, now
  /// and in the future. Thread-safe.
  void endWaiting();

private:
  struct State;
  explicit BatchSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCHSOURCE_H
