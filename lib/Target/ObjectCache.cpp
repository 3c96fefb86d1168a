//===- ObjectCache.cpp - Cache of compiled objects ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/ObjectCache.h"

#include "CompilerIdentity.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pdlc;

/// First bytes of a cache file; the number is the version of the file layout.
/// After them, the file contains the key, the digest of the contents, and the
/// contents.
static constexpr StringLiteral kMagic = "PDL object cache 1\n";
static constexpr size_t kHeadSize =
    kMagic.size() + sizeof(ObjectCache::Key) + sizeof(BLAKE3Result<>);

static StringRef textOf(ArrayRef<uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

static BLAKE3Result<> digestOf(StringRef bytes) {
  BLAKE3 hasher;
  hasher.update(bytes);
  return hasher.final();
}

ObjectCache::ObjectCache(StringRef folder)
    : folder(folder), compiler(getCompilerIdentity()) {}

/// Returns a path with a name that pruneCache recognizes.
std::string ObjectCache::pathOf(const Key &key) const {
  SmallString<256> path(folder);
  sys::path::append(path, "llvmcache-" + toHex(key, /*LowerCase=*/true));
  return path.str().str();
}

static Error cannotWrite(StringRef folder, std::error_code code) {
  return createStringError(code,
                           "cannot write to the object cache " + folder + ": " +
                               code.message() +
                               "; name another folder, or leave --object-cache "
                               "out");
}

Expected<std::unique_ptr<ObjectCache>> ObjectCache::open(StringRef folder) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return cannotWrite(folder, code);
  // Check before anything is compiled, in the same way as `keep` writes.
  SmallString<256> model(folder);
  sys::path::append(model, "llvmcache-%%%%%%%%.partial");
  Expected<sys::fs::TempFile> probe = sys::fs::TempFile::create(model);
  if (!probe)
    return cannotWrite(folder, errorToErrorCode(probe.takeError()));
  if (Error error = probe->discard())
    return cannotWrite(folder, errorToErrorCode(std::move(error)));
  return std::unique_ptr<ObjectCache>(new ObjectCache(folder));
}

ObjectCache::Key ObjectCache::keyOf(ArrayRef<char> part, StringRef kind,
                                    const TargetSpec &spec) const {
  BLAKE3 hasher;
  // Hash each text with its length, so that texts cannot run into each other.
  for (StringRef text :
       {StringRef(kMagic), StringRef(LLVM_VERSION_STRING), StringRef(compiler),
        kind, StringRef(spec.triple), StringRef(spec.cpu),
        StringRef(spec.features), StringRef(spec.dataLayout),
        StringRef(part.data(), part.size())}) {
    hasher.update((Twine(text.size()) + ":").str());
    hasher.update(text);
  }
  return hasher.final();
}

std::optional<SmallVector<char, 0>> ObjectCache::find(const Key &key) {
  std::string path = pathOf(key);
  // Other kinds of files may never end.
  if (!sys::fs::is_regular_file(path))
    return std::nullopt;
  // Pruning removes the files that were not used for the longest time. So
  // update the access time even if the file system is mounted without access
  // times.
  Expected<sys::fs::file_t> opened =
      sys::fs::openNativeFileForRead(path, sys::fs::OF_UpdateAtime);
  if (!opened) {
    consumeError(opened.takeError());
    return std::nullopt;
  }
  // The file is not mapped, because another process may truncate it.
  auto file = MemoryBuffer::getOpenFile(*opened, path, /*FileSize=*/-1,
                                        /*RequiresNullTerminator=*/false,
                                        /*IsVolatile=*/true);
  sys::fs::closeFile(*opened);
  if (!file)
    return std::nullopt;
  StringRef text = (*file)->getBuffer();
  StringRef bytes = text.drop_front(std::min(kHeadSize, text.size()));
  BLAKE3Result<> digest = digestOf(bytes);
  std::string head = (kMagic + textOf(key) + textOf(digest)).str();
  if (!text.starts_with(head)) {
    ++damaged;
    // Another process may remove it first. In any case, it is compiled again.
    std::error_code ignored = sys::fs::remove(path);
    (void)ignored;
    return std::nullopt;
  }
  ++found;
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

void ObjectCache::keep(const Key &key, ArrayRef<char> bytes) {
  ++made;
  if (Error error = write(key, bytes)) {
    std::string message = toString(std::move(error));
    std::lock_guard lock(mutex);
    if (firstComplaint.empty())
      firstComplaint = std::move(message);
  }
}

std::string ObjectCache::complaint() const {
  std::lock_guard lock(mutex);
  return firstComplaint;
}

Error ObjectCache::write(const Key &key, ArrayRef<char> bytes) {
  std::string path = pathOf(key);
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(
      path + ".%%%%%%%%.partial", sys::fs::all_read | sys::fs::all_write);
  if (!file)
    return cannotWrite(folder, errorToErrorCode(file.takeError()));
  StringRef text(bytes.data(), bytes.size());
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << kMagic << textOf(key) << textOf(digestOf(text)) << text;
  stream.flush();
  if (stream.has_error()) {
    Error error = cannotWrite(folder, stream.error());
    stream.clear_error();
    return joinErrors(std::move(error), file->discard());
  }
  if (Error error = file->keep(path))
    return cannotWrite(folder, errorToErrorCode(std::move(error)));
  return Error::success();
}

void ObjectCache::prune(const CachePruningPolicy &policy) const {
  pruneCache(folder, policy);
}
