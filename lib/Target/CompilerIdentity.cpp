//===- CompilerIdentity.cpp - Identity of the compiler build --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerIdentity.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include <elf.h>
#include <link.h>

using namespace llvm;
using namespace pdlc;

/// Returns the build id that the linker stored in the notes of an object file.
/// Returns an empty string if the file has none.
static StringRef findBuildId(const dl_phdr_info &object) {
  for (const ElfW(Phdr) &segment :
       ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    const auto *begin =
        reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
    StringRef notes(begin, segment.p_memsz);
    const uint64_t alignment = segment.p_align == 8 ? 8 : 4;
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) head;
      memcpy(&head, notes.data(), sizeof(head));
      size_t text = sizeof(head) + alignTo(head.n_namesz, 4);
      text = alignTo(text, alignment);
      StringRef name = notes.substr(sizeof(head), head.n_namesz);
      if (head.n_type == NT_GNU_BUILD_ID && name == StringRef("GNU\0", 4))
        return notes.substr(text, head.n_descsz);
      notes = notes.drop_front(std::min(
          notes.size(), size_t(alignTo(text + head.n_descsz, alignment))));
    }
  }
  return "";
}

static int addObject(dl_phdr_info *object, size_t, void *identity) {
  StringRef name = object->dlpi_name;
  // The kernel's vDSO does not affect code generation.
  if (name.starts_with("linux-vdso"))
    return 0;
  auto &text = *static_cast<std::string *>(identity);
  StringRef id = findBuildId(*object);
  text += (name + "\n").str();
  if (!id.empty()) {
    text += id;
    return 0;
  }
  sys::fs::file_status status;
  if (!sys::fs::status(name.empty() ? "/proc/self/exe" : name, status))
    text += (Twine(status.getSize()) + " " +
             Twine(status.getLastModificationTime().time_since_epoch().count()))
                .str();
  return 0;
}

std::string pdlc::getCompilerIdentity() {
  std::string identity;
  dl_iterate_phdr(addObject, &identity);
  return identity;
}
