//===- ColumnFileApi.h - Interface of libpdl-arrow.so -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the shared library that reads and writes files of columns
// with Apache Arrow. The runtime opens the library on demand (ColumnFile.h),
// and never includes Arrow's headers. Columns are passed in the layout of
// Arrow's C data interface, which never changes. Libraries with other versions
// of these functions are not used.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNFILEAPI_H
#define LIB_RUNTIME_DATA_COLUMNFILEAPI_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// Type of a column in the layout of Arrow's C data interface. Call `release`
/// once, unless it is null.
struct PdlColumnSchema {
  const char *format, *name, *metadata;
  int64_t flags, childCount;
  PdlColumnSchema **children, *dictionary;
  void (*release)(PdlColumnSchema *);
  void *owner;
};

/// Values of a column in the layout of Arrow's C data interface. Call `release`
/// once, unless it is null.
struct PdlColumnArray {
  int64_t length, nullCount, offset, bufferCount, childCount;
  const void **buffers;
  PdlColumnArray **children, *dictionary;
  void (*release)(PdlColumnArray *);
  void *owner;
};

/// Formats that the library reads and writes.
enum PdlColumnFormat : int32_t { PdlParquetFile = 0, PdlArrowFile = 1 };

struct PdlColumnFile;

/// A file that the caller of the library reads, such as an object of a store.
struct PdlColumnSource {
  void *context;
  int64_t bytes; ///< Size of the file.
  /// Reads the bytes [offset, offset + count), which exist. Returns false on an
  /// error, which the caller knows. Thread-safe.
  bool (*read)(void *context, int64_t offset, int64_t count, void *out);
  /// Is called once, after the last call of `read`.
  void (*release)(void *context);
};

struct PdlColumnWriter;

/// Takes the bytes of a file that is written.
struct PdlColumnSink {
  void *context;
  /// Appends bytes. Returns false on an error, which the caller knows.
  bool (*write)(void *context, const void *bytes, int64_t count);
};

/// Message about a failed call, without the name of the file.
struct PdlColumnError {
  char text[1024];
};

/// Functions of the library. Those that can fail return a `pdl_status`. A file
/// is used by one thread at a time. No function throws.
struct PdlColumnFunctions {
  int32_t (*open)(const char *path, PdlColumnFormat format,
                  PdlColumnFile **file, PdlColumnError *error);
  /// Opens a file that `source` reads. Takes the ownership of
  /// `source->context`, also on an error.
  int32_t (*openSource)(const PdlColumnSource *source, PdlColumnFormat format,
                        PdlColumnFile **file, PdlColumnError *error);
  /// Opens a message: an Arrow IPC stream in memory, which must outlive the
  /// file and its arrays. All batches are checked.
  int32_t (*openMessage)(const void *bytes, int64_t byteCount,
                         PdlColumnFile **file, PdlColumnError *error);
  void (*close)(PdlColumnFile *file);
  /// Sets the type of all columns, as children of a struct. An array may have a
  /// dictionary although its type has none. Its values are then indices of 32
  /// bits, and the dictionary has the type.
  int32_t (*schema)(PdlColumnFile *file, PdlColumnSchema *schema,
                    PdlColumnError *error);
  /// Returns the number of row groups or record batches.
  int64_t (*groupCount)(const PdlColumnFile *file);
  int32_t (*groupRows)(PdlColumnFile *file, int64_t group, int64_t *rows,
                       PdlColumnError *error);
  /// Begins to read some columns of a group. `columns`: indices into the
  /// schema, ascending and distinct; at least one.
  int32_t (*begin)(PdlColumnFile *file, int64_t group, const int32_t *columns,
                   int64_t columnCount, PdlColumnError *error);
  /// Skips `skipped` rows of the group. Then sets the next rows, as a struct
  /// whose children are the columns. At the end of the group, sets a length of
  /// 0.
  int32_t (*next)(PdlColumnFile *file, int64_t skipped, PdlColumnArray *batch,
                  PdlColumnError *error);
  /// Begins a file. `schema`: a struct with the columns; it is released.
  int32_t (*beginWriting)(const PdlColumnSink *sink, PdlColumnFormat format,
                          PdlColumnSchema *schema, PdlColumnWriter **writer,
                          PdlColumnError *error);
  /// Writes a row group or a batch, which is released before the function
  /// returns.
  int32_t (*write)(PdlColumnWriter *writer, PdlColumnArray *batch,
                   PdlColumnError *error);
  /// Writes the end of the file.
  int32_t (*endWriting)(PdlColumnWriter *writer, PdlColumnError *error);
  void (*destroyWriter)(PdlColumnWriter *writer);
};

/// Returns the functions. Returns null if caller and library differ in
/// PDL_ABI_VERSION, or in the size of PdlColumnFunctions.
const PdlColumnFunctions *pdlrt_column_files(uint32_t abiVersion,
                                             size_t functionsBytes);
}

/// Name of the library, and of its function.
inline constexpr const char *columnLibraryName = "libpdl-arrow.so.1";
inline constexpr const char *columnLibrarySymbol = "pdlrt_column_files";

#endif // LIB_RUNTIME_DATA_COLUMNFILEAPI_H
