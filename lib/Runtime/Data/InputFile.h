//===- InputFile.h - The bytes of a data file -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_INPUTFILE_H
#define LIB_RUNTIME_DATA_INPUTFILE_H

#include "Data/ReadAhead.h"
#include "Data/Unpacker.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// A file, pipe or device that is read once from its begin to its end; what is
/// packed, by the name's end (Unpacker.h), is unpacked. Errors begin with the
/// path. Not thread-safe.
class InputFile {
public:
  InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  /// A named pipe need not have a writer yet. `besideCaller`: what is packed is
  /// unpacked on a thread of its own, unless it may have to be waited for.
  Status open(const std::string &path, bool besideCaller = false);
  /// Waits for bytes of a pipe or a device until somebody asks the process to
  /// stop (StopSignal.h), which is an error. Reads up to `size` > 0 bytes; 0 at
  /// the end. That of a regular file is where it was when the file was opened:
  /// what is written behind it is not read, and a file that has become shorter
  /// is an error.
  Expected<size_t> read(char *destination, size_t size);
  /// Passes the next `count` bytes, of a packed file unpacked ones; false where
  /// there are fewer. Those of a regular file that is not packed are not read.
  Expected<bool> pass(uint64_t count);

private:
  Status await() const;
  Expected<size_t> readFile(char *destination, size_t size);

  std::string path;
  int file = -1;
  /// Whether its bytes may come later.
  bool mayWait = false;
  /// Of a regular file: its bytes when it was opened, and those that are left.
  std::optional<uint64_t> length;
  uint64_t left = 0;
  /// Null for a file that is not packed.
  std::unique_ptr<Unpacker> unpacker;
  /// Null where the caller unpacks.
  std::unique_ptr<ReadAhead> ahead;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_INPUTFILE_H
