//===- RocksLibrary.h - RocksDB's functions ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of RocksDB's C interface that are used. The library is loaded
// at run time, so a program that spills no rows does not need it. Types are
// opaque. An error is a text that must be freed with `freeText`; null means
// success.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_ROCKSLIBRARY_H
#define LIB_RUNTIME_TABLE_ROCKSLIBRARY_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt::rocks {

struct Options;
struct TableFormat;
struct Filter;
struct Database;
struct Family;
struct ReadOptions;
struct WriteOptions;
struct FlushOptions;
struct PinnedValue;
struct Iterator;

/// Named like RocksDB's functions without their prefix.
struct Library {
  void (*freeText)(void *);

  Options *(*optionsCreate)();
  void (*optionsDestroy)(Options *);
  void (*setCreateIfMissing)(Options *, unsigned char);
  void (*setErrorIfExists)(Options *, unsigned char);
  void (*setCompression)(Options *, int);
  void (*setCompactionStyle)(Options *, int);
  void (*setWriteBufferSize)(Options *, size_t);
  void (*setFilesToMerge)(Options *, int);
  void (*setFilesToSlow)(Options *, int);
  void (*setFilesToStop)(Options *, int);
  void (*increaseParallelism)(Options *, int);
  void (*setMaxOpenFiles)(Options *, int);
  void (*setInfoLogLevel)(Options *, int);
  void (*setKeepLogFileNumber)(Options *, size_t);
  void (*setTableFormat)(Options *, TableFormat *);

  TableFormat *(*tableFormatCreate)();
  void (*tableFormatDestroy)(TableFormat *);
  void (*setNoBlockCache)(TableFormat *, unsigned char);
  /// Takes ownership of the filter.
  void (*setFilter)(TableFormat *, Filter *);
  Filter *(*filterCreate)(double);

  Database *(*open)(const Options *, const char *, int, const char *const *,
                    const Options *const *, Family **, char **);
  void (*close)(Database *);
  void (*familyDestroy)(Family *);
  void (*cancelBackgroundWork)(Database *, unsigned char);

  WriteOptions *(*writeOptionsCreate)();
  void (*writeOptionsDestroy)(WriteOptions *);
  void (*disableLog)(WriteOptions *, int);
  void (*put)(Database *, const WriteOptions *, const char *, size_t,
              const char *, size_t, char **);
  /// Creates options with which `flush` waits until the data is written.
  FlushOptions *(*flushOptionsCreate)();
  void (*flushOptionsDestroy)(FlushOptions *);
  void (*flush)(Database *, const FlushOptions *, char **);

  ReadOptions *(*readOptionsCreate)();
  void (*readOptionsDestroy)(ReadOptions *);
  void (*setUpperBound)(ReadOptions *, const char *, size_t);
  void (*setReadahead)(ReadOptions *, size_t);
  void (*multiGet)(Database *, const ReadOptions *, Family *, size_t,
                   const char *const *, const size_t *, PinnedValue **, char **,
                   bool);
  const char *(*pinnedValue)(const PinnedValue *, size_t *);
  void (*pinnedDestroy)(PinnedValue *);
  Iterator *(*iteratorCreate)(Database *, const ReadOptions *, Family *);
  void (*iteratorDestroy)(Iterator *);
  void (*iteratorSeek)(Iterator *, const char *, size_t);
  unsigned char (*iteratorValid)(const Iterator *);
  void (*iteratorNext)(Iterator *);
  const char *(*iteratorKey)(const Iterator *, size_t *);
  const char *(*iteratorValue)(const Iterator *, size_t *);
  void (*iteratorError)(const Iterator *, char **);
};

/// Returns the RocksDB library, which is loaded once in a process. An error
/// message names the package to install. Thread-safe.
Expected<const Library *> openLibrary();

} // namespace pdlrt::rocks

#endif // LIB_RUNTIME_TABLE_ROCKSLIBRARY_H
