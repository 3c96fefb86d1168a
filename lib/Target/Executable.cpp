//===- Executable.cpp - Linking of trainers and libraries -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/Executable.h"
#include "pdlabi/library_checksum.h"
#include "pdlc/Target/Linker.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <vector>

using namespace llvm;
using namespace pdlc;

/// Libraries that a program with oneDNN opens in its own folder.
static constexpr StringLiteral kOneDnnLibraries[] = {
    "libpdl-onednn.so.1", "libdnnl.so.2", "libgomp.so.1", "libOpenCL.so.1"};

/// Library that a program opens to reach object stores. Absent if PDL was built
/// without libcurl.
static constexpr StringLiteral kHttpLibrary = "libpdl-http.so.1";

/// Library that a serving library opens to reach servers over TCP.
static constexpr StringLiteral kGrpcLibrary = "libpdl-grpc.so.1";

/// Library that a program opens to read Parquet and Arrow files. PDL may have
/// been built without it. The libraries of Arrow that it loads are in the
/// folder `kArrowFolder` of PDL's runtime.
static constexpr StringLiteral kArrowLibrary = "libpdl-arrow.so.1";
static constexpr StringLiteral kArrowFolder = "arrow";

static std::string joinPath(StringRef folder, const Twine &name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

/// Removes a file, ignoring errors. An earlier failure is more important.
static void removeQuietly(const std::string &path) {
  std::error_code ignored = sys::fs::remove(path);
  (void)ignored;
}

/// Gives `copy` the modification time of the original file. By size and time,
/// `copyInto` later recognizes the copy.
static std::error_code copyTime(const sys::fs::file_status &original,
                                const std::string &copy) {
  int file = -1;
  if (std::error_code code = sys::fs::openFileForReadWrite(
          copy, file, sys::fs::CD_OpenExisting, sys::fs::OF_None))
    return code;
  std::error_code code = sys::fs::setLastAccessAndModificationTime(
      file, original.getLastAccessedTime(), original.getLastModificationTime());
  std::error_code closed = sys::fs::closeFile(file);
  return code ? code : closed;
}

/// Copies a file into a folder: writes it under a temporary name and then
/// renames it. Does nothing if a file of the same name has the same size and
/// modification time.
static Error copyInto(const std::string &source, StringRef folder,
                      StringRef name) {
  std::string target = joinPath(folder, name), temporary = target + ".partial";
  sys::fs::file_status original, there;
  std::error_code code = sys::fs::status(source, original);
  if (!code && !sys::fs::status(target, there) &&
      sys::fs::is_regular_file(there) &&
      there.getSize() == original.getSize() &&
      there.getLastModificationTime() == original.getLastModificationTime())
    return Error::success();
  sys::RemoveFileOnSignal(temporary);
  if (!code)
    code = sys::fs::copy_file(source, temporary);
  if (!code)
    code = copyTime(original, temporary);
  if (!code)
    code = sys::fs::rename(temporary, target);
  if (code) {
    removeQuietly(temporary);
    return createStringError(code, "cannot copy " + source + " to " + target +
                                       ": " + code.message());
  }
  sys::DontRemoveFileOnSignal(temporary);
  return Error::success();
}

/// Links a file into a folder, or copies it if the folder is on another file
/// system. For large files, which are never written in place.
static Error linkInto(const std::string &source, StringRef folder,
                      StringRef name) {
  std::string target = joinPath(folder, name), temporary = target + ".partial";
  removeQuietly(temporary);
  if (sys::fs::create_hard_link(source, temporary))
    return copyInto(source, folder, name);
  // Renaming a link to another link of the same file does nothing.
  removeQuietly(target);
  if (std::error_code code = sys::fs::rename(temporary, target)) {
    removeQuietly(temporary);
    return createStringError(code,
                             "cannot write " + target + ": " + code.message());
  }
  return Error::success();
}

/// Returns the static archives of gRPC in PDL's runtime folder. The order does
/// not depend on the file system.
static Expected<std::vector<std::string>> findGrpcArchives(StringRef folder) {
  std::vector<std::string> archives;
  std::error_code code;
  for (sys::fs::directory_iterator file(folder, code), end;
       !code && file != end; file.increment(code))
    if (sys::path::extension(file->path()) == ".a")
      archives.push_back(file->path());
  llvm::sort(archives);
  if (archives.empty())
    return createStringError(
        "found no archives of gRPC in " + folder +
        ", which programs of several processes are linked with; they are part "
        "of PDL's runtime, say where it is with --runtime-dir");
  return archives;
}

/// Copies the licenses in folder `source` of PDL's runtime.
static Error copyLicenses(const std::string &source, StringRef folder) {
  std::string target = joinPath(folder, "licenses");
  if (std::error_code code = sys::fs::create_directories(
          target, /*IgnoreExisting=*/true, sys::fs::all_all))
    return createStringError(code,
                             "cannot create " + target + ": " + code.message());
  std::error_code code;
  for (sys::fs::directory_iterator file(source, code), end;
       !code && file != end; file.increment(code))
    if (Error error =
            copyInto(file->path(), target, sys::path::filename(file->path())))
      return error;
  return Error::success();
}

namespace {

/// One run of the linker, which produces a program or a library.
class Linking {
public:
  explicit Linking(const LinkRequest &request) : request(request) {}

  /// Finds the C library and PDL's archives.
  Error find();
  /// Adds the first arguments for an executable.
  void beginProgram();
  /// Adds the first arguments for a library. `names` are kept although nothing
  /// in the library uses them. The version script `script` says which names the
  /// library exports.
  void beginLibrary(StringRef script, ArrayRef<std::string> names);
  /// Adds objects and archives, and links. Then copies the libraries that the
  /// result loads from its own folder into that folder.
  Error finish();

  void add(std::string argument) { arguments.push_back(std::move(argument)); }

private:
  std::string archive(const Twine &name) const {
    return joinPath(request.runtimeFolder, "lib" + name + ".a");
  }
  Error requireFile(const std::string &path) const;
  /// Returns the libraries that the result loads from its own folder.
  std::vector<StringRef> companions() const;
  Error copyCompanions() const;
  Error linkArrow() const;
  Error appendChecksum() const;

  const LinkRequest &request;
  /// `cLibrary`: folder of start files and stubs of the C library.
  std::string files, cLibrary, temporary;
  bool oneDnn = false, http = false, isLibrary = false;
  std::vector<std::string> grpcArchives, arguments;
};

} // namespace

Error Linking::requireFile(const std::string &path) const {
  if (sys::fs::exists(path))
    return Error::success();
  return createStringError("found no " + path +
                           ", which is part of PDL's runtime; build it or "
                           "say where it is with --runtime-dir");
}

Error Linking::find() {
  files = joinPath(request.runtimeFolder, "pdl");
  cLibrary = joinPath(files, "libc");
  temporary = joinPath(request.folder, request.name) + ".partial";
  std::vector<std::string> needed{
      archive("PDLRuntime"), archive("PDLOlderLibc"),
      joinPath(files, "libstdc++.a"), joinPath(cLibrary, "libc.so.6")};
  if (!request.mainArchive.empty()) {
    needed.push_back(archive(request.mainArchive));
    needed.push_back(archive("PDLProgramStart"));
  }
  if (request.grpc)
    needed.push_back(archive("PDLRuntimeGrpc"));
  if (request.servers)
    needed.push_back(joinPath(files, kGrpcLibrary));
  for (const std::string &path : needed)
    if (Error error = requireFile(path))
      return error;
  // PDL may have been built without oneDNN. Then this archive does not exist,
  // and programs use the strict kernels.
  oneDnn = request.fast && sys::fs::exists(archive("PDLRuntimeOneDNN"));
  http = !request.mainArchive.empty() &&
         sys::fs::exists(joinPath(files, kHttpLibrary));
  if (!request.grpc)
    return Error::success();
  Expected<std::vector<std::string>> found =
      findGrpcArchives(joinPath(files, "grpc"));
  if (!found)
    return found.takeError();
  grpcArchives = std::move(*found);
  return Error::success();
}

void Linking::beginProgram() {
  arguments = {"-pie",
               // The program contains its own C++ library. Export none of its
               // symbols, because the libraries in the program's folder must
               // not use them.
               "--exclude-libs=ALL", "-dynamic-linker",
               "/lib64/ld-linux-x86-64.so.2", archive("PDLProgramStart")};
}

void Linking::beginLibrary(StringRef script, ArrayRef<std::string> names) {
  // The version script hides all other names. References to hidden names are
  // resolved inside the library, whatever other libraries a process has loaded.
  isLibrary = true;
  arguments = {"-shared", "-soname", request.name, "--version-script",
               script.str()};
  for (const std::string &name : names)
    arguments.push_back("--undefined=" + name);
}

std::vector<StringRef> Linking::companions() const {
  std::vector<StringRef> names;
  if (oneDnn)
    llvm::append_range(names, kOneDnnLibraries);
  if (request.servers)
    names.push_back(kGrpcLibrary);
  if (http)
    names.push_back(kHttpLibrary);
  return names;
}

/// Puts the libraries that read Parquet and Arrow files next to a program.
Error Linking::linkArrow() const {
  if (Error error = linkInto(joinPath(files, kArrowLibrary), request.folder,
                             kArrowLibrary))
    return error;
  std::error_code code;
  for (sys::fs::directory_iterator file(joinPath(files, kArrowFolder), code),
       end;
       !code && file != end; file.increment(code))
    if (Error error = linkInto(file->path(), request.folder,
                               sys::path::filename(file->path())))
      return error;
  return Error::success();
}

/// Copies the libraries that the result loads from its own folder, and the
/// licenses of everything that it contains.
Error Linking::copyCompanions() const {
  for (StringRef name : companions())
    if (Error error = copyInto(joinPath(files, name), request.folder, name))
      return error;
  const bool hasArrow =
      !isLibrary && sys::fs::exists(joinPath(files, kArrowLibrary));
  if (hasArrow)
    if (Error error = linkArrow())
      return error;
  std::vector<StringRef> licenses{"licenses"};
  if (hasArrow)
    licenses.push_back("licenses-arrow");
  if (oneDnn)
    licenses.push_back("licenses-onednn");
  if (request.grpc)
    licenses.push_back("licenses-grpc");
  for (StringRef folder : licenses)
    if (Error error = copyLicenses(joinPath(files, folder), request.folder))
      return error;
  return Error::success();
}

/// Appends a checksum to the library (library_checksum.h). It covers the
/// library and the libraries that it loads from its own folder, so that a
/// server can detect damage before it maps them.
Error Linking::appendChecksum() const {
  std::string added;
  raw_string_ostream lines(added);
  for (StringRef name : companions()) {
    auto bytes = MemoryBuffer::getFile(joinPath(request.folder, name));
    if (!bytes)
      return createStringError(bytes.getError(),
                               "cannot read " + joinPath(request.folder, name) +
                                   ": " + bytes.getError().message());
    lines << name << ' ' << utohexstr(xxh3_64bits((*bytes)->getBuffer()), true)
          << '\n';
  }
  std::string covered;
  {
    auto linked = MemoryBuffer::getFile(temporary);
    if (!linked)
      return createStringError(linked.getError(),
                               "cannot read " + temporary + ": " +
                                   linked.getError().message());
    covered = (*linked)->getBuffer().str() + added;
  }
  pdl_library_checksum checksum = {};
  std::memcpy(checksum.magic, PDL_LIBRARY_CHECKSUM_MAGIC,
              sizeof(checksum.magic));
  checksum.companion_bytes = added.size();
  checksum.covered_bytes = covered.size();
  checksum.xxh3 = xxh3_64bits(covered);
  std::error_code code;
  raw_fd_ostream stream(temporary, code, sys::fs::OF_Append);
  if (!code) {
    stream << added;
    stream.write(reinterpret_cast<const char *>(&checksum), sizeof(checksum));
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? createStringError(code, "cannot write " + temporary + ": " +
                                            code.message())
              : Error::success();
}

Error Linking::finish() {
  for (const std::string &argument :
       {std::string("--eh-frame-hdr"), std::string("--gc-sections"),
        std::string("--hash-style=gnu"), std::string("-z"),
        std::string("relro"), std::string("-z"), std::string("now"),
        std::string("-o"), temporary, joinPath(cLibrary, "crti.o"),
        joinPath(files, "crtbeginS.o")})
    add(argument);
  llvm::append_range(arguments, request.objectFiles);
  if (!request.mainArchive.empty())
    add(archive(request.mainArchive));
  if (oneDnn) {
    add("--undefined=pdlrt_register_onednn");
    add(archive("PDLRuntimeOneDNN"));
  }
  if (request.grpc) {
    add("--undefined=pdlrt_create_grpc_transport");
    add(archive("PDLRuntimeGrpc"));
    llvm::append_range(arguments, grpcArchives);
  }
  add(archive("PDLRuntime"));
  for (const std::string &last :
       {joinPath(files, "libz.a"), joinPath(files, "libzstd.a"),
        joinPath(files, "libstdc++.a"), archive("PDLOlderLibc"),
        joinPath(cLibrary, "libm.so.6"), joinPath(files, "libgcc.a"),
        joinPath(files, "libgcc_eh.a"), joinPath(cLibrary, "libc.so.6"),
        joinPath(cLibrary, "libc_nonshared.a"), std::string("--as-needed"),
        joinPath(cLibrary, "ld-linux-x86-64.so.2"),
        std::string("--no-as-needed"),
        // Where older C libraries have threads and dlopen.
        joinPath(cLibrary, "libpthread.so.0"), joinPath(cLibrary, "libdl.so.2"),
        joinPath(files, "libgcc.a"), joinPath(files, "crtendS.o"),
        joinPath(cLibrary, "crtn.o")})
    add(last);

  sys::RemoveFileOnSignal(temporary);
  Error error = runLinker(arguments);
  if (!error)
    error = copyCompanions();
  if (!error && isLibrary)
    error = appendChecksum();
  std::string result = joinPath(request.folder, request.name);
  if (!error)
    if (std::error_code code = sys::fs::rename(temporary, result))
      error = createStringError(code, "cannot write " + result + ": " +
                                          code.message());
  if (error)
    removeQuietly(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  return error;
}

Error pdlc::linkTrainer(const LinkRequest &request) {
  Linking linking(request);
  if (Error error = linking.find())
    return error;
  linking.beginProgram();
  return linking.finish();
}

Error pdlc::linkLibrary(const LinkRequest &request, StringRef accessor) {
  LinkRequest ofLibrary = request;
  ofLibrary.mainArchive.clear();
  Linking linking(ofLibrary);
  if (Error error = linking.find())
    return error;
  SmallString<128> script;
  int file = -1;
  if (std::error_code code =
          sys::fs::createTemporaryFile("pdl-link", "map", file, script))
    return createStringError(code, "cannot create a temporary file: " +
                                       code.message());
  FileRemover remover(script);
  {
    raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream << "{ global: pdl_serving_query; " << accessor << "; local: *; };\n";
  }
  linking.beginLibrary(script, {"pdl_serving_query", "pdl_serving_latest"});
  linking.add("--defsym=" + accessor.str() + "=pdl_serving_latest");
  if (request.servers) {
    linking.add("--undefined=pdlrt_connect_rows");
    // Threads of gRPC may still run after the last dlclose.
    linking.add("-z");
    linking.add("nodelete");
  }
  if (Error error = linking.finish())
    return error;
  const std::string headers = joinPath(request.folder, "pdl");
  if (std::error_code code = sys::fs::create_directories(
          headers, /*IgnoreExisting=*/true, sys::fs::all_all))
    return createStringError(code, "cannot create " + headers + ": " +
                                       code.message());
  return copyInto(joinPath(request.runtimeFolder, "pdl/serving.h"), headers,
                  "serving.h");
}

/// Makes hidden symbols of an object file local, and renames others.
static Error changeSymbols(const std::string &path,
                           const StringMap<StringRef> &renamed) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(path);
  if (!binary)
    return binary.takeError();
  objcopy::ConfigManager config;
  config.ELF.LocalizeHidden = true;
  for (const auto &[from, to] : renamed)
    config.Common.SymbolsToRename[from] = to;
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (Error error =
          objcopy::executeObjcopyOnBinary(config, *binary->getBinary(), stream))
    return error;
  std::error_code code;
  raw_fd_ostream file(path + ".local", code);
  if (!code) {
    file.write(bytes.data(), bytes.size());
    file.close();
    code = file.error();
    file.clear_error();
  }
  if (!code)
    code = sys::fs::rename(path + ".local", path);
  if (!code)
    return Error::success();
  removeQuietly(path + ".local");
  return createStringError(code,
                           "cannot write " + path + ": " + code.message());
}

Error pdlc::joinObjects(const std::vector<std::string> &objectFiles,
                        const std::string &output,
                        const StringMap<StringRef> &renamed) {
  std::string temporary = output + ".partial";
  std::vector<std::string> arguments{"-r", "-o", temporary};
  llvm::append_range(arguments, objectFiles);
  sys::RemoveFileOnSignal(temporary);
  Error error = runLinker(arguments);
  if (!error)
    error = changeSymbols(temporary, renamed);
  if (!error)
    if (std::error_code code = sys::fs::rename(temporary, output))
      error = createStringError(code, "cannot write " + output + ": " +
                                          code.message());
  if (error)
    removeQuietly(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  return error;
}
