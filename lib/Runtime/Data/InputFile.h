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
#include "Data/ReadWait.h"
#include "Data/Unpacker.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// Whether a name of data, `-`, stands for the standard input.
bool isStandardInput(const std::string &name);
/// What sentences call it.
std::string inputName(const std::string &name);

/// A file, pipe or device that is read once from its begin to its end; what is
/// packed, by the name's end (Unpacker.h), is unpacked. The standard input has
/// no such name: there it is by the first bytes, and it is read from where it
/// stands. Errors begin with the name. Not thread-safe.
class InputFile {
public:
  InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  /// A named pipe need not have a writer yet. `besideCaller`: what is packed is
  /// unpacked on a thread of its own, unless it may have to be waited for.
  /// `wait`, which outlives the file: how long; null: for as long as it takes.
  Status open(const std::string &path, bool besideCaller = false,
              ReadWait *wait = nullptr);
  /// Waits for bytes of a pipe or a device until somebody asks the process to
  /// stop (StopSignal.h), or nobody waits any more, or for no longer than it
  /// may: an error then, behind which reading can go on where `ReadWait` says
  /// that it is late. Reads up to `size` > 0 bytes; 0 at the end. That of a
  /// regular file is where it was when the file was opened: what is written
  /// behind it is not read, and a file that has become shorter is an error.
  Expected<size_t> read(char *destination, size_t size);
  /// Passes the next `count` bytes, of a packed file unpacked ones; false where
  /// there are fewer. Those of a regular file that is not packed are not read.
  Expected<bool> pass(uint64_t count);

private:
  Status readBeginning();
  Status await() const;
  Expected<size_t> readFile(char *destination, size_t size);

  std::string path; ///< or what sentences call it
  int file = -1;
  ReadWait *wait = nullptr;
  /// Whether its bytes may come later.
  bool mayWait = false;
  /// Of a regular file: its bytes when it was opened, and those that are left.
  std::optional<uint64_t> length;
  uint64_t left = 0;
  /// Bytes that were looked at before the first ones were asked for.
  std::string beginning;
  /// Null for a file that is not packed.
  std::unique_ptr<Unpacker> unpacker;
  /// Null where the caller unpacks.
  std::unique_ptr<ReadAhead> ahead;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_INPUTFILE_H
