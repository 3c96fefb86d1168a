//===- ConstantBuilder.h - C structs as LLVM constants ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_DESCRIPTORTOLLVM_CONSTANTBUILDER_H
#define LIB_CONVERSION_DESCRIPTORTOLLVM_CONSTANTBUILDER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "pdlc/Conversion/AbiLayout.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <string>
#include <vector>

namespace pdlc {

/// Name of a global or function; empty for the null pointer.
using Address = std::string;

/// A struct of abi.h with its values. Numbers are set in `data`. Pointers are
/// set by name, because they have no address yet.
template <typename T> struct Constant {
  T data{};
  /// Pointers by byte offset.
  std::map<size_t, Address> pointers;

  template <typename Pointer>
  void point(const Pointer &member, Address address) {
    static_assert(std::is_pointer_v<Pointer>);
    pointers[reinterpret_cast<const char *>(&member) -
             reinterpret_cast<const char *>(&data)] = std::move(address);
  }
};

/// Adds constants to a module as internal globals. Equal strings share one
/// global.
class ConstantBuilder {
public:
  explicit ConstantBuilder(mlir::ModuleOp module)
      : builder(mlir::OpBuilder::atBlockEnd(module.getBody())),
        loc(module.getLoc()) {}

  /// Adds a NUL-terminated string.
  Address string(llvm::StringRef text);
  /// Adds a NUL-terminated string under a name of its own, which must be new to
  /// the module.
  Address namedString(const llvm::Twine &name, llvm::StringRef text);
  /// Add arrays. Return null for an empty array. `name` must be new to the
  /// module.
  Address strings(const llvm::Twine &name, llvm::ArrayRef<std::string> texts);
  Address int32s(const llvm::Twine &name, llvm::ArrayRef<int32_t> values);
  Address int64s(const llvm::Twine &name, llvm::ArrayRef<int64_t> values);
  Address doubles(const llvm::Twine &name, llvm::ArrayRef<double> values);
  template <typename T>
  Address structs(const llvm::Twine &name,
                  const std::vector<Constant<T>> &values) {
    std::vector<View> views;
    for (const Constant<T> &value : values)
      views.push_back(
          {reinterpret_cast<const char *>(&value.data), &value.pointers});
    return structs(name, abi::layoutOf<T>(), views);
  }

private:
  struct View {
    const char *data;
    const std::map<size_t, Address> *pointers;
  };
  Address structs(const llvm::Twine &name, const abi::Struct &layout,
                  llvm::ArrayRef<View> values);
  mlir::Value materialize(const abi::Struct &layout, View view, size_t base);
  mlir::Value materializeArray(const abi::Struct &layout,
                               llvm::ArrayRef<View> values);
  mlir::Value materializeAddress(llvm::StringRef address);
  Address global(const llvm::Twine &name, mlir::Type type,
                 mlir::Attribute value);
  /// Adds a global whose initial value `body` builds.
  Address global(const llvm::Twine &name, mlir::Type type,
                 llvm::function_ref<mlir::Value()> body);

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::StringMap<Address> stringAddresses;
};

} // namespace pdlc

#endif // LIB_CONVERSION_DESCRIPTORTOLLVM_CONSTANTBUILDER_H
