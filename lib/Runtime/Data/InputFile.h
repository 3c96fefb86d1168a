//===- InputFile.h - The bytes of a data file -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_INPUTFILE_H
#define LIB_RUNTIME_DATA_INPUTFILE_H

#include "Data/DataCommand.h"
#include "Data/ReadAhead.h"
#include "Data/ReadWait.h"
#include "Data/Unpacker.h"
#include "Files/StoredStream.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// Returns true if a data file's name, `-`, means the standard input.
bool isStandardInput(const std::string &name);
/// Returns the name of the file in messages.
std::string inputName(const std::string &name);

struct RecordReaderOptions;

/// Options of reading a file.
struct InputOptions {
  /// Decompress on a separate thread, unless reading may have to wait.
  bool inBackground = false;
  /// Limits waiting; must outlive the file. Null: waits without limit.
  ReadWait *wait = nullptr;
  /// Shell command that the file is read through (DataOptions::pipe); empty:
  /// none.
  std::string pipe = {};

  static InputOptions of(const RecordReaderOptions &options);
};

/// A file, object, pipe or device that is read once, sequentially. An object of
/// a store is read in ranges that are requested in advance. Compressed files
/// are detected by extension (Unpacker.h) and decompressed. The standard input
/// has no extension: its compression is detected from its first bytes, and it
/// is read from its current position. The same applies to the output of a
/// command. Errors begin with the name. Not thread-safe.
class InputFile {
public:
  InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  /// Opens a file. A named pipe need not have a writer yet.
  Status open(const std::string &path, const InputOptions &options = {});
  /// Reads up to `size` > 0 bytes; returns 0 at the end. Waits for bytes of a
  /// pipe or device. Returns an error if the process is asked to stop
  /// (StopSignal.h), if waiting was ended, or if it takes too long. If
  /// `ReadWait::isLate`, reading can continue after the error. The end of a
  /// regular file is fixed when the file is opened: later additions are
  /// ignored, and a file that became shorter is an error.
  Expected<size_t> read(char *destination, size_t size);
  /// Skips the next `count` bytes, after decompression. Returns false if there
  /// are fewer. In an uncompressed regular file, the skipped bytes are not
  /// read.
  Expected<bool> pass(uint64_t count);

private:
  Status openFile(const std::string &name, bool isStandard);
  Status openStored(const std::string &name);
  Status readBeginning();
  Status await() const;
  Expected<size_t> readFile(char *destination, size_t size);

  std::string path; ///< Name for messages.
  int file = -1;
  /// The file if it is in an object store; otherwise null.
  std::unique_ptr<StoredStream> stored;
  ReadWait *wait = nullptr;
  /// True if reads may have to wait for bytes.
  bool mayWait = false;
  /// Size of a regular file when opened, and the number of unread bytes.
  std::optional<uint64_t> length;
  uint64_t left = 0;
  /// Bytes that were examined before the first `read`.
  std::string beginning;
  /// Null if the file is read itself.
  std::unique_ptr<DataCommand> command;
  /// Null if the file is not compressed.
  std::unique_ptr<Unpacker> unpacker;
  /// Null if the caller's thread decompresses.
  std::unique_ptr<ReadAhead> ahead;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_INPUTFILE_H
