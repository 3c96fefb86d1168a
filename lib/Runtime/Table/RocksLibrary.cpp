//===- RocksLibrary.cpp - RocksDB's functions -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/RocksLibrary.h"

#include "Core/SharedLibrary.h"

using namespace pdlrt;
using namespace pdlrt::rocks;

static void findAll(SharedLibrary &library, Library &functions) {
  library.find(functions.freeText, "rocksdb_free");

  library.find(functions.optionsCreate, "rocksdb_options_create");
  library.find(functions.optionsDestroy, "rocksdb_options_destroy");
  library.find(functions.setCreateIfMissing,
               "rocksdb_options_set_create_if_missing");
  library.find(functions.setErrorIfExists,
               "rocksdb_options_set_error_if_exists");
  library.find(functions.setCompression, "rocksdb_options_set_compression");
  library.find(functions.setCompactionStyle,
               "rocksdb_options_set_compaction_style");
  library.find(functions.setWriteBufferSize,
               "rocksdb_options_set_write_buffer_size");
  library.find(functions.setFilesToMerge,
               "rocksdb_options_set_level0_file_num_compaction_trigger");
  library.find(functions.setFilesToSlow,
               "rocksdb_options_set_level0_slowdown_writes_trigger");
  library.find(functions.setFilesToStop,
               "rocksdb_options_set_level0_stop_writes_trigger");
  library.find(functions.increaseParallelism,
               "rocksdb_options_increase_parallelism");
  library.find(functions.setMaxOpenFiles, "rocksdb_options_set_max_open_files");
  library.find(functions.setInfoLogLevel, "rocksdb_options_set_info_log_level");
  library.find(functions.setKeepLogFileNumber,
               "rocksdb_options_set_keep_log_file_num");
  library.find(functions.setTableFormat,
               "rocksdb_options_set_block_based_table_factory");

  library.find(functions.tableFormatCreate,
               "rocksdb_block_based_options_create");
  library.find(functions.tableFormatDestroy,
               "rocksdb_block_based_options_destroy");
  library.find(functions.setNoBlockCache,
               "rocksdb_block_based_options_set_no_block_cache");
  library.find(functions.setFilter,
               "rocksdb_block_based_options_set_filter_policy");
  library.find(functions.filterCreate, "rocksdb_filterpolicy_create_bloom");

  library.find(functions.open, "rocksdb_open_column_families");
  library.find(functions.close, "rocksdb_close");
  library.find(functions.familyDestroy, "rocksdb_column_family_handle_destroy");
  library.find(functions.cancelBackgroundWork,
               "rocksdb_cancel_all_background_work");

  library.find(functions.writeOptionsCreate, "rocksdb_writeoptions_create");
  library.find(functions.writeOptionsDestroy, "rocksdb_writeoptions_destroy");
  library.find(functions.disableLog, "rocksdb_writeoptions_disable_WAL");
  library.find(functions.put, "rocksdb_put");
  library.find(functions.flushOptionsCreate, "rocksdb_flushoptions_create");
  library.find(functions.flushOptionsDestroy, "rocksdb_flushoptions_destroy");
  library.find(functions.flush, "rocksdb_flush");

  library.find(functions.readOptionsCreate, "rocksdb_readoptions_create");
  library.find(functions.readOptionsDestroy, "rocksdb_readoptions_destroy");
  library.find(functions.setUpperBound,
               "rocksdb_readoptions_set_iterate_upper_bound");
  library.find(functions.setReadahead,
               "rocksdb_readoptions_set_readahead_size");
  library.find(functions.multiGet, "rocksdb_batched_multi_get_cf");
  library.find(functions.pinnedValue, "rocksdb_pinnableslice_value");
  library.find(functions.pinnedDestroy, "rocksdb_pinnableslice_destroy");
  library.find(functions.iteratorCreate, "rocksdb_create_iterator_cf");
  library.find(functions.iteratorDestroy, "rocksdb_iter_destroy");
  library.find(functions.iteratorSeek, "rocksdb_iter_seek");
  library.find(functions.iteratorValid, "rocksdb_iter_valid");
  library.find(functions.iteratorNext, "rocksdb_iter_next");
  library.find(functions.iteratorKey, "rocksdb_iter_key");
  library.find(functions.iteratorValue, "rocksdb_iter_value");
  library.find(functions.iteratorError, "rocksdb_iter_get_error");
}

static constexpr LibraryErrors errors = {
    "--table-spill needs RocksDB, which is not there",
    ": install Debian's package librocksdb7.8 or a later one",
    "--table-spill needs a later RocksDB: ",
    ": install Debian's package librocksdb7.8 or a later one"};

Expected<const Library *> rocks::openLibrary() {
  static constexpr const char *names[] = {"librocksdb.so.7.8", "librocksdb.so"};
  return openOnce<Library>(names, errors, findAll);
}
