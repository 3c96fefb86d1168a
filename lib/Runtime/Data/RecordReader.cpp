//===- RecordReader.cpp - Reads the records of one file -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordReader.h"

#include "Data/CachedReader.h"
#include "Data/FileFormat.h"
#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "pdlrt/Files/Store.h"

#include <sys/stat.h>

using namespace pdlrt;

bool pdlrt::canBeReadAgain(const std::string &path) {
  if (isStandardInput(path))
    return false;
  if (isKafkaAddress(path))
    return kafkaHasEnd(path);
  if (isInObjectStore(path))
    return true;
  struct stat found;
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode) ||
         S_ISDIR(found.st_mode);
}

std::string pdlrt::onceText(const std::string &path) {
  if (isKafkaAddress(path))
    return inputName(path) + " has no end (end=)";
  return inputName(path) + (isStandardInput(path)
                                ? " can be read but once"
                                : ": is a pipe or a device, which can be read "
                                  "but once");
}

Expected<std::unique_ptr<RecordReader>>
pdlrt::openRecordReader(const std::string &path, int32_t fileIndex,
                        const RecordReaderOptions &options) {
  const FileFormat &format = fileFormatOf(path, options.data);
  return format.traits().isCached && !options.data.cache.empty()
             ? openCachedReader(format, path, fileIndex, options)
             : format.open(path, fileIndex, options);
}
