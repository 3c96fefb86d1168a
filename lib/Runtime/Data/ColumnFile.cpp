//===- ColumnFile.cpp - Files of columns ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnFile.h"

#include "pdlabi/abi.h"
#include "pdlrt/Core/CompanionLibrary.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"

#include <atomic>

using namespace pdlrt;

/// Reads an object of a store for the library. Thread-safe.
class pdlrt::StoredColumns {
public:
  explicit StoredColumns(std::shared_ptr<const StoredFile> file)
      : file(std::move(file)) {}

  /// Returns what the library takes. It owns a reference to `self`.
  static PdlColumnSource source(std::shared_ptr<StoredColumns> self) {
    const auto bytes = int64_t(self->file->info().bytes);
    return {
        .context = new std::shared_ptr(std::move(self)),
        .bytes = bytes,
        .read = [](void *context, int64_t offset, int64_t count,
                   void *out) { return of(context)->read(offset, count, out); },
        .release = [](void *context) { delete &of(context); }};
  }
  /// Returns the first error of a read.
  Status error() {
    const MutexLock lock(mutex);
    return failure;
  }
  /// Ends reads that still run.
  void cancel() { isCancelled = true; }

private:
  static std::shared_ptr<StoredColumns> &of(void *context) {
    return *static_cast<std::shared_ptr<StoredColumns> *>(context);
  }
  bool read(int64_t offset, int64_t count, void *out) {
    const Status status =
        file->readAt(uint64_t(offset), size_t(count), out, &isCancelled);
    if (status.ok())
      return true;
    const MutexLock lock(mutex);
    if (failure.ok())
      failure = status;
    return false;
  }

  const std::shared_ptr<const StoredFile> file;
  std::atomic<bool> isCancelled{false};
  Mutex mutex;
  Status failure PDLRT_GUARDED_BY(mutex);
};

static Expected<const PdlColumnFunctions *> findColumnLibrary() {
  const Expected<void *> found =
      findInCompanion(columnLibraryName, columnLibrarySymbol);
  if (!found)
    return Status::failedPrecondition(
        std::string("Parquet and Arrow files need ") + columnLibraryName +
        " and Arrow's libraries next to the program; run "
        "scripts/install_dependencies.sh --with-arrow in PDL's sources, build "
        "PDL, and compile the model again (" +
        found.status().message() + ")");
  const auto query = reinterpret_cast<decltype(&pdlrt_column_files)>(*found);
  const PdlColumnFunctions *functions =
      query(PDL_ABI_VERSION, sizeof(PdlColumnFunctions));
  if (!functions)
    return Status::failedPrecondition(
        std::string(columnLibraryName) +
        " next to the program is of another version of PDL; copy the folder of "
        "the program as a whole, or compile the model again");
  return functions;
}

Expected<const PdlColumnFunctions *> pdlrt::columnLibrary() {
  // Companions stay loaded, so the first result is valid forever.
  static const Expected<const PdlColumnFunctions *> functions =
      findColumnLibrary();
  return functions;
}

/// Returns the error of a failed call.
static Status callError(int32_t code, const PdlColumnError &error,
                        const std::string &name,
                        const std::shared_ptr<StoredColumns> &stored) {
  // The store's own error has the name, and the reason.
  if (Status status = stored ? stored->error() : Status(); !status.ok())
    return status;
  return {static_cast<pdl_status>(code), name + ": " + error.text};
}

Status ColumnFile::statusOf(int32_t code, const PdlColumnError &error) const {
  return code == PDL_OK ? Status() : callError(code, error, name, stored);
}

Expected<ColumnFile> ColumnFile::open(const std::string &path,
                                      PdlColumnFormat format) {
  const bool isStored = isInObjectStore(path);
  if (!isStored)
    PDLRT_RETURN_IF_ERROR(checkLocal("a Parquet or Arrow file,", path));
  const auto functions = columnLibrary();
  if (!functions)
    return Status(functions.status()).withContext(path);
  std::shared_ptr<StoredColumns> stored;
  if (isStored) {
    auto opened = openPinned(path);
    PDLRT_RETURN_IF_ERROR(opened.status());
    stored = std::make_shared<StoredColumns>(*std::move(opened));
  }
  PdlColumnFile *file = nullptr;
  PdlColumnError error = {};
  int32_t code;
  if (stored) {
    const PdlColumnSource source = StoredColumns::source(stored);
    code = (*functions)->openSource(&source, format, &file, &error);
  } else {
    code = (*functions)->open(path.c_str(), format, &file, &error);
  }
  if (code != PDL_OK)
    return callError(code, error, path, stored);
  return ColumnFile(**functions, file, path, std::move(stored));
}

Expected<ColumnFile> ColumnFile::openMessage(std::string_view bytes,
                                             const std::string &name) {
  const auto functions = columnLibrary();
  if (!functions)
    return Status(functions.status()).withContext(name);
  PdlColumnFile *file = nullptr;
  PdlColumnError error = {};
  const int32_t code =
      (*functions)
          ->openMessage(bytes.data(), int64_t(bytes.size()), &file, &error);
  if (code != PDL_OK)
    return callError(code, error, name, nullptr);
  return ColumnFile(**functions, file, name, nullptr);
}

ColumnFile::~ColumnFile() {
  if (file && stored)
    stored->cancel();
  if (file)
    functions->close(file);
}

Expected<ColumnData<PdlColumnSchema>> ColumnFile::schema() {
  ColumnData<PdlColumnSchema> schema;
  PdlColumnError error = {};
  PDLRT_RETURN_IF_ERROR(
      statusOf(functions->schema(file, &*schema, &error), error));
  return schema;
}

Expected<int64_t> ColumnFile::rowsOf(int64_t group) {
  int64_t &rows = groups[size_t(group)];
  PdlColumnError error = {};
  if (rows < 0)
    PDLRT_RETURN_IF_ERROR(
        statusOf(functions->groupRows(file, group, &rows, &error), error));
  return rows;
}

Expected<int64_t> ColumnFile::countRows() {
  int64_t count = 0;
  for (int64_t group = 0; group < groupCount(); ++group) {
    auto rows = rowsOf(group);
    PDLRT_RETURN_IF_ERROR(rows.status());
    count += *rows;
  }
  return count;
}

Status ColumnFile::begin(int64_t group, std::span<const int32_t> columns) {
  PdlColumnError error = {};
  return statusOf(functions->begin(file, group, columns.data(),
                                   int64_t(columns.size()), &error),
                  error);
}

Expected<ColumnData<PdlColumnArray>> ColumnFile::next(int64_t skipped) {
  ColumnData<PdlColumnArray> batch;
  PdlColumnError error = {};
  PDLRT_RETURN_IF_ERROR(
      statusOf(functions->next(file, skipped, &*batch, &error), error));
  return batch;
}
