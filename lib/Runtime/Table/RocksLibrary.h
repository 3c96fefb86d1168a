//===- RocksLibrary.h - RocksDB's functions ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is used of RocksDB's interface for C, opened at run time: a program that
// spills no rows needs no RocksDB. Types are opaque; an error is a text that
// `free` gives back, or null.
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

/// Named as RocksDB's functions without their prefix.
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
  /// Takes the filter.
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
  /// They wait for the flush.
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

/// The library of this process. Fails with a sentence that names what to
/// install. Thread-safe.
Expected<const Library *> openLibrary();

} // namespace pdlrt::rocks

#endif // LIB_RUNTIME_TABLE_ROCKSLIBRARY_H
