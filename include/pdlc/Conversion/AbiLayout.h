//===- AbiLayout.h - Struct layouts of the C ABI ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes the structs of `pdlabi/abi.h` for the compiler. The descriptions
// are derived from the header itself: kinds come from the C types, offsets from
// the compiler that reads the header.
//
// Compile-time checks ensure that each description covers its whole struct and
// has natural alignment. LLVM gives a struct of the same members the same
// layout, so the two cannot diverge. The index of a field is the index of the
// member in the LLVM struct.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_CONVERSION_ABILAYOUT_H
#define PDLC_CONVERSION_ABILAYOUT_H

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "pdlabi/abi.h"
#include <cstddef>
#include <span>
#include <type_traits>

namespace pdlc::abi {

enum class Kind { I32, I64, F64, Pointer, Struct };

struct Struct;

struct Field {
  const char *name;
  Kind kind;
  size_t offset;
  size_t size;
  /// Layout of the nested struct. Set only if `kind` is `Struct`.
  const Struct *nested;
};

struct Struct {
  const char *name;
  size_t size;
  std::span<const Field> fields;

  /// Returns the index of the member at a byte offset, or ~0u if there is none.
  constexpr unsigned indexOf(size_t offset) const {
    for (unsigned i = 0; i < fields.size(); ++i)
      if (fields[i].offset == offset)
        return i;
    return ~0u;
  }
};

template <typename T> constexpr Kind kindOf() {
  if constexpr (std::is_pointer_v<T>)
    return Kind::Pointer;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::F64;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return Kind::I32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return Kind::I64;
  else {
    static_assert(std::is_class_v<T>, "a kind of member that is not known");
    return Kind::Struct;
  }
}

/// Converts to a value of any member type. Used to count members.
struct AnyMember {
  template <typename T> constexpr operator T() const;
};

/// Returns the number of members of the aggregate `T`.
template <typename T, typename... Members> constexpr size_t memberCount() {
  if constexpr (requires { T{Members()..., AnyMember()}; })
    return memberCount<T, Members..., AnyMember>();
  else
    return sizeof...(Members);
}

/// Returns true if `fields` lists every member of `T`, in order and at natural
/// alignment.
template <typename T> constexpr bool covers(std::span<const Field> fields) {
  size_t end = 0;
  for (const Field &field : fields) {
    size_t alignment = field.kind == Kind::I32 ? 4 : 8;
    if (field.offset != (end + alignment - 1) / alignment * alignment)
      return false;
    end = field.offset + field.size;
  }
  return fields.size() == memberCount<T>() &&
         sizeof(T) == (end + alignof(T) - 1) / alignof(T) * alignof(T);
}

/// Returns the description of a struct of abi.h. Example:
/// `layoutOf<pdl_symbol>()`.
template <typename T> const Struct &layoutOf();

/// Returns the named LLVM struct type for a description.
mlir::LLVM::LLVMStructType llvmType(mlir::MLIRContext *context,
                                    const Struct &layout);
template <typename T>
mlir::LLVM::LLVMStructType llvmType(mlir::MLIRContext *context) {
  return llvmType(context, layoutOf<T>());
}

/// Index of a member in its LLVM struct. Example:
/// `PDLC_ABI_INDEX(pdl_lookup, keys)`.
#define PDLC_ABI_INDEX(STRUCT, MEMBER)                                         \
  static_cast<int32_t>(                                                        \
      ::pdlc::abi::layoutOf<STRUCT>().indexOf(offsetof(STRUCT, MEMBER)))

} // namespace pdlc::abi

#endif // PDLC_CONVERSION_ABILAYOUT_H
