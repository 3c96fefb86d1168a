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
//     Headers have no number. Blank lines at the end of a file have no number
//     either, if rows have several cells. `DataOptions::rows` selects a range
//     of rows. A bad row, which cannot be parsed, has a number, so that it does
//     not change the numbers of other rows.
//  2. If there are at least as many files as groups, file i belongs to group
//     i mod groups. Otherwise, blocks of batch-size selected rows are assigned
//     to the groups in turn.
//  3. The rows of a group are divided into windows of `shuffleWindow` rows. The
//     good records of each window are shuffled by Philox(seed, epoch, group,
//     window).
//  4. The resulting sequence of records is cut into batches of batch-size
//     records. A batch may have records of several windows and files. The last
//     batch of an epoch may be smaller. Batch i belongs to worker i mod
//     workers.
//
// A pipe, a device or the standard input (name `-`) can be read only once and
// sequentially; reading it again is an error. The compression of the standard
// input is detected from its first bytes.
//
// Supported files are delimited text, JSON lines, MultiSlot and similar lines,
// libsvm, libffm and TFRecord, each optionally compressed with gzip or zstd;
// and safetensors. Delimited text is CSV (comma, RFC 4180 quotes), TSV, or has
// any other delimiter. In safetensors, tensors have the names of the fields. A
// ragged field has the tensors `<field>.values` and `<field>.splits`. Ids in
// safetensors are keys; they are never hashed.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCHSOURCE_H
#define PDLRT_DATA_BATCHSOURCE_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/defaults.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/Batch.h"
#include "pdlrt/Data/PartitionPlaces.h"

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
    /// Returns the row number that the bound means if there are `total` rows.
    /// Percentages are rounded down. Row numbers greater than `total` become
    /// `total`.
    int64_t resolve(int64_t total) const;
  };
  Bound begin;
  Bound end{true, 100, 0};

  bool isAll() const;
  bool needsTotal() const { return begin.needsTotal() || end.needsTotal(); }

  /// Parses `BEGIN:END`, such as `0%:80%`, `8000:10000`, `80%:` or `:100`.
  /// Without BEGIN, the range starts at the first row. Without END, it includes
  /// the last row.
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
  /// Cell delimiter. If 0, the file name determines it: a comma for .csv, a tab
  /// for .tsv and .txt, each optionally followed by .gz or .zst.
  char delimiter = 0;
  /// Quote character of cells, as in RFC 4180. 0: no character has this
  /// meaning. Nullopt: a double quote if the delimiter is a comma or semicolon,
  /// otherwise 0.
  std::optional<char> quote;
  /// If true, the first line of each file contains column names.
  bool header = false;
  /// A file of other data of the same job, such as test data. If columns are
  /// found by position, the header of that file must be equal to the headers of
  /// `files`. Empty: none.
  std::string headerFile;
  /// Columns of delimited text, in order. An entry is the name of a field, for
  /// all of its columns, or "_" for a column that is not a field. If empty,
  /// columns are found by the names in the header; without a header, they must
  /// have the order of the record.
  std::vector<std::string> columns;
  /// Columns whose cells predictions copy, in this order. An entry is a name in
  /// the header, or a number from 1.
  std::vector<std::string> copyColumns;
  /// Field that predictions copy in place of columns. It must have one id per
  /// sample, and is copied as it is written in the data. Empty: none.
  std::string idField;
  /// If true, the copied text has the texts of all ids that the program reads
  /// from delimited text (FieldTexts.h), and no columns. Nothing is copied from
  /// bad rows.
  bool copyTexts = false;
  /// Samples per batch of one replica.
  int64_t batchSize = pdlabi::defaultBatchSize;
  /// Rows per shuffle window; 0 keeps the order of the files.
  int64_t shuffleWindow = 0;
  /// If true, each epoch reads the files in an order that depends on the seed
  /// and the epoch only, as if `files` had this order. Not for files that can
  /// be read only once.
  bool shuffleFiles = false;
  uint64_t seed = 0;
  /// Maximum number of bad rows that a group skips in an epoch.
  int64_t maxBadRows = 0;
  RowRange rows;
  /// Folder in which parsed rows of delimited text are stored, so that later
  /// epochs and runs need not parse them again. Empty: none. Does not change
  /// the batches.
  std::string cache;
  /// Maximum time in milliseconds for which a batch that has rows waits for
  /// more rows of a pipe. Then the incomplete batch is returned. Nullopt: no
  /// limit. Only for one group of one worker, and for data in the order of the
  /// files.
  std::optional<int64_t> flushAfter;
  /// If true, compressed files are decompressed on separate threads. Does not
  /// change the batches.
  bool unpackInBackground = false;
  /// True if the rows were distributed to N files round-robin, for example to
  /// pipes: row k of file i is row k * N + i of the data. Does not change the
  /// batches of a complete epoch. Needed if the rest of an epoch is read from
  /// another number of files (EpochRest.h).
  bool filesInTurn = false;
};

/// Start of a shuffle window in the files. A resume begins to read there, not
/// at the first row of the epoch. All 0: unknown, or the start of the epoch.
struct WindowStart {
  /// Index in `DataOptions::files`. Earlier files are not opened.
  int64_t file = 0;
  /// Number of rows of this file before the window, including rows of other
  /// groups. 0: the window starts at the group's first row of the file.
  int64_t row = 0;
  /// Bytes of the decompressed text before the window; 0: unknown.
  int64_t byte = 0;
  /// Number of the line at `byte`, from 1.
  int64_t line = 0;
  /// If groups share files: number of rows before the window, in all files,
  /// that `DataOptions::rows` selects.
  int64_t selected = 0;
  /// Digest of the content of all rows of the group before the window.
  int64_t digest = 0;
  bool operator==(const WindowStart &) const = default;
};

/// Position of a group in the data. The next record is number `offset` in the
/// shuffled window number `window`. It is the first record of batch number
/// `batch` of the epoch. All numbers count from 0.
struct DataPosition {
  int64_t epoch = 0;
  int64_t window = 0;
  int64_t offset = 0;
  int64_t batch = 0;
  /// Digest of the content of all rows of the group up to the end of the
  /// window. It is not negative. 0: unknown.
  int64_t digest = 0;
  WindowStart start = {};
  /// 1 + the number (`pdl_draws::samples`) of the first row that was not
  /// returned. 0 if it is unknown, or if a later row of the group was returned
  /// already.
  int64_t next = 0;
  /// Places of the partitions of a topic without end; none for other data.
  /// `next` is then 0.
  PartitionPlaces places = {};
  bool operator==(const DataPosition &) const = default;
};

/// Returns the error for a position that does not exist in the data, because
/// the data has fewer rows or other content than when the position was
/// recorded.
Status positionNotFound(const DataPosition &position);

/// Calls `visit` with each of the `positionNumbers` numbers of a position,
/// always in the same order. Used to send positions. Does not visit places.
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

/// Reads the batches of one group of replicas. Several threads may call `next`
/// concurrently, each with its own worker and batch. Other functions, except
/// `endWaiting`, must not run concurrently with `next`.
class BatchSource {
public:
  /// Opens the files of group `group` of `groups`, and finds the columns of the
  /// fields that `program` reads. Other fields need no column. Starts at epoch
  /// 0. The descriptor must outlive the source.
  static Expected<std::unique_ptr<BatchSource>>
  open(const DataOptions &options, const pdl_descriptor &descriptor,
       const pdl_program &program, int32_t groups = 1, int32_t group = 0,
       int32_t workers = 1);
  ~BatchSource();

  /// Fills `batch` with the next batch of worker `worker`. Returns false and an
  /// empty batch if the epoch has no more batches for this worker. With
  /// `flushAfter`, also returns false if only bad rows arrived during that
  /// time; `isAtEnd` is then false. If a bad row exceeds `maxBadRows`, returns
  /// an error "file:line:column: message", where `column` counts cells from 1.
  /// After an error, all further calls return the same error.
  Expected<bool> next(int32_t worker, Batch &batch);

  /// Moves to the first batch of epoch `epoch`, from any position. If a file
  /// that can be read only once would have to be read again, this function or a
  /// later `next` returns an error.
  Status beginEpoch(int64_t epoch);

  /// Returns the position of the next batch. Call only if all workers have
  /// received the same number of batches, or all batches of the epoch.
  DataPosition position() const;
  /// Moves to a position that a source with the same options has returned from
  /// `position`. Reads the window of the position again. If the position does
  /// not contain the start of the window, reads all earlier rows of the epoch
  /// too. Returns an error if the content of these rows has changed. Does not
  /// open files before the window. In a compressed file, decompresses the text
  /// before the window and discards it. `rest` has the rows of the epoch that
  /// are divided among these groups; null: all rows (EpochRest.h). If the rest
  /// was not begun, `position` is the one at the start of an epoch.
  Status restore(const DataPosition &position,
                 std::shared_ptr<const EpochRest> rest = nullptr);

  /// Return the number of bad rows that were skipped so far in this epoch, and
  /// the messages about the first few of them.
  int64_t badRowCount() const;
  const std::vector<std::string> &badRowMessages() const;

  /// Returns true if all rows of the epoch have been returned in batches.
  bool isAtEnd() const;
  /// Returns the number of rows of this epoch, including bad rows, before the
  /// first row that will be in a later batch. Call only for data in the order
  /// of the files.
  int64_t settledRows() const;
  /// Returns the copied text (see `Batch::copiedCell`) of the bad rows among
  /// the `settledRows`, by row number. Omits empty texts, and rows that an
  /// earlier call has returned.
  std::map<int64_t, std::string> takeCopiedCellsOfBadRows();

  /// Makes calls of `next` that wait for data of a pipe return an error, those
  /// that wait now and later ones. Thread-safe.
  void endWaiting();

private:
  struct State;
  explicit BatchSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCHSOURCE_H
