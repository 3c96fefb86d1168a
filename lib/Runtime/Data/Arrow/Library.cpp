//===- Library.cpp - Functions of libpdl-arrow.so -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileWriter.h"
#include "OpenFile.h"

#include "pdlabi/abi.h"

#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <parquet/exception.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

static_assert(sizeof(PdlColumnSchema) == sizeof(ArrowSchema));
static_assert(offsetof(PdlColumnSchema, release) ==
              offsetof(ArrowSchema, release));
static_assert(sizeof(PdlColumnArray) == sizeof(ArrowArray));
static_assert(offsetof(PdlColumnArray, release) ==
              offsetof(ArrowArray, release));

static int32_t fail(pdl_status code, const char *text, PdlColumnError *error) {
  std::snprintf(error->text, sizeof(error->text), "%s", text);
  // A message is one line of text, even if it quotes a damaged file.
  for (char &c : error->text)
    if (c != '\0' && (c < ' ' || c > '~'))
      c = c == '\n' ? ' ' : '?';
  return code;
}

/// Returns the text of an error of Arrow that is no lack of memory.
static std::string textOf(const arrow::Status &status) {
  // Arrow refuses some sizes as too large before it allocates.
  return status.IsOutOfMemory() ? "it declares a buffer that is too large"
                                : status.message();
}

/// Returns the code and the message of an error of Arrow.
static int32_t codeOf(const arrow::Status &status, PdlColumnError *error) {
  if (status.ok())
    return PDL_OK;
  if (isLackOfMemory(status))
    return fail(PDL_OUT_OF_MEMORY, "there is no memory to read it", error);
  const std::string text = textOf(status);
  if (status.IsNotImplemented())
    return fail(PDL_INVALID_ARGUMENT,
                ("Arrow cannot read it: " + text +
                 "; write the file again with other types or codecs")
                    .c_str(),
                error);
  // Arrow reports damaged pages as errors of input and output.
  return fail(PDL_DATA_LOSS,
              ("is damaged, incomplete, or of another format: " + text +
               "; write the file again")
                  .c_str(),
              error);
}

/// Returns the code and the message of an error of a message of a topic.
static int32_t messageCodeOf(const arrow::Status &status,
                             PdlColumnError *error) {
  if (status.ok() || isLackOfMemory(status))
    return codeOf(status, error);
  return fail(PDL_DATA_LOSS,
              ("is damaged, incomplete, or no Arrow IPC stream: " +
               textOf(status) + "; correct its producer")
                  .c_str(),
              error);
}

/// Returns the code and the message of an error of writing.
static int32_t writeCodeOf(const arrow::Status &status, PdlColumnError *error) {
  if (status.ok())
    return PDL_OK;
  if (status.IsOutOfMemory())
    return fail(PDL_OUT_OF_MEMORY, "there is no memory to write it", error);
  return fail(PDL_IO_ERROR, ("cannot be written: " + status.message()).c_str(),
              error);
}

/// Calls a function that returns a status, and converts its exceptions.
template <typename Function>
static int32_t guard(PdlColumnError *error, Function function,
                     int32_t (*convert)(const arrow::Status &,
                                        PdlColumnError *) = codeOf) {
  try {
    return convert(function(), error);
  } catch (const parquet::ParquetStatusException &exception) {
    return convert(exception.status(), error);
  } catch (const std::bad_alloc &) {
    return convert(lackOfMemory(), error);
  } catch (const std::exception &exception) {
    return convert(arrow::Status::Invalid(exception.what()), error);
  }
}

arrow::Status exportBatch(const arrow::RecordBatch &batch,
                          PdlColumnArray *out) {
  return arrow::ExportRecordBatch(batch, reinterpret_cast<ArrowArray *>(out));
}

static arrow::Status openAs(PdlColumnFormat format,
                            std::shared_ptr<arrow::io::RandomAccessFile> bytes,
                            bool isRemote, BoundedPool::Reference pool,
                            PdlColumnFile **file) {
  const auto open = format == PdlParquetFile ? openParquetFile : openIpcFile;
  auto opened = open(std::move(bytes), isRemote, std::move(pool));
  ARROW_RETURN_NOT_OK(opened.status());
  *file = opened->release();
  return arrow::Status::OK();
}

static int32_t openFile(const char *path, PdlColumnFormat format,
                        PdlColumnFile **file, PdlColumnError *error) {
  return guard(error, [&]() -> arrow::Status {
    // Not mapped: a mapped file that another process shortens ends the program.
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    auto pool = BoundedPool::create(unknown ? 0 : int64_t(size));
    ARROW_ASSIGN_OR_RAISE(auto bytes,
                          arrow::io::ReadableFile::Open(path, pool.get()));
    return openAs(format, std::move(bytes), /*isRemote=*/false, std::move(pool),
                  file);
  });
}

static int32_t openSource(const PdlColumnSource *source, PdlColumnFormat format,
                          PdlColumnFile **file, PdlColumnError *error) {
  return guard(error, [&] {
    auto pool = BoundedPool::create(source->bytes);
    auto bytes = openSourceFile(*source, *pool);
    return openAs(format, std::move(bytes), /*isRemote=*/true, std::move(pool),
                  file);
  });
}

static int32_t openMessage(const void *bytes, int64_t byteCount,
                           PdlColumnFile **file, PdlColumnError *error) {
  const auto open = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto opened, openIpcMessage(bytes, byteCount));
    *file = opened.release();
    return arrow::Status::OK();
  };
  return guard(error, open, messageCodeOf);
}

static int32_t exportSchema(PdlColumnFile *file, PdlColumnSchema *schema,
                            PdlColumnError *error) {
  return guard(error, [&] {
    return arrow::ExportSchema(*file->schema(),
                               reinterpret_cast<ArrowSchema *>(schema));
  });
}

static int32_t groupRows(PdlColumnFile *file, int64_t group, int64_t *rows,
                         PdlColumnError *error) {
  return guard(error, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(*rows, file->groupRows(group));
    return arrow::Status::OK();
  });
}

static int32_t begin(PdlColumnFile *file, int64_t group, const int32_t *columns,
                     int64_t columnCount, PdlColumnError *error) {
  return guard(error, [&] {
    return file->begin(group, {columns, columns + columnCount});
  });
}

static int32_t next(PdlColumnFile *file, int64_t skipped, PdlColumnArray *batch,
                    PdlColumnError *error) {
  return guard(error, [&] { return file->next(skipped, batch); });
}

static int32_t beginWriting(const PdlColumnSink *sink, PdlColumnFormat format,
                            PdlColumnSchema *schema, PdlColumnWriter **writer,
                            PdlColumnError *error) {
  const auto begin = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(
        auto types,
        arrow::ImportSchema(reinterpret_cast<ArrowSchema *>(schema)));
    ARROW_ASSIGN_OR_RAISE(auto made,
                          makeFileWriter(*sink, format, std::move(types)));
    *writer = made.release();
    return arrow::Status::OK();
  };
  return guard(error, begin, writeCodeOf);
}

static int32_t write(PdlColumnWriter *writer, PdlColumnArray *batch,
                     PdlColumnError *error) {
  const auto writeBatch = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(
        const auto rows,
        arrow::ImportRecordBatch(reinterpret_cast<ArrowArray *>(batch),
                                 writer->schema()));
    return writer->write(*rows);
  };
  return guard(error, writeBatch, writeCodeOf);
}

static int32_t endWriting(PdlColumnWriter *writer, PdlColumnError *error) {
  return guard(error, [&] { return writer->finish(); }, writeCodeOf);
}

const PdlColumnFunctions *pdlrt_column_files(uint32_t abiVersion,
                                             size_t functionsBytes) {
  static constexpr PdlColumnFunctions functions = {
      .open = openFile,
      .openSource = openSource,
      .openMessage = openMessage,
      .close = [](PdlColumnFile *file) { delete file; },
      .schema = exportSchema,
      .groupCount =
          [](const PdlColumnFile *file) { return file->groupCount(); },
      .groupRows = groupRows,
      .begin = begin,
      .next = next,
      .beginWriting = beginWriting,
      .write = write,
      .endWriting = endWriting,
      .destroyWriter = [](PdlColumnWriter *writer) { delete writer; },
  };
  const bool isSame = abiVersion == PDL_ABI_VERSION &&
                      functionsBytes == sizeof(PdlColumnFunctions);
  return isSame ? &functions : nullptr;
}
