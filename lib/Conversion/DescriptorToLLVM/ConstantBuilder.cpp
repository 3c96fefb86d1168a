//===- ConstantBuilder.cpp - C structs as LLVM constants ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantBuilder.h"
#include <cstring>

using namespace mlir;
using namespace pdlc;

/// Reads a T from the bytes at `place`, which may be unaligned.
template <typename T> static T readAs(const char *place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

Address ConstantBuilder::global(const Twine &name, Type type, Attribute value) {
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name.str(), value);
  return global.getSymName().str();
}

Address ConstantBuilder::global(const Twine &name, Type type,
                                function_ref<Value()> body) {
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name.str(), Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(builder, loc, body());
  return global.getSymName().str();
}

Address ConstantBuilder::string(StringRef text) {
  auto [entry, isNew] = stringAddresses.try_emplace(text);
  if (isNew)
    entry->second =
        namedString("pdl.string." + Twine(stringAddresses.size() - 1), text);
  return entry->second;
}

Address ConstantBuilder::namedString(const Twine &name, StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  return global(name, type, builder.getStringAttr(bytes));
}

Value ConstantBuilder::materializeAddress(StringRef address) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (address.empty())
    return LLVM::ZeroOp::create(builder, loc, pointer);
  return LLVM::AddressOfOp::create(builder, loc, pointer, address);
}

Address ConstantBuilder::strings(const Twine &name,
                                 ArrayRef<std::string> texts) {
  if (texts.empty())
    return {};
  SmallVector<Address> addresses;
  for (const std::string &text : texts)
    addresses.push_back(string(text));
  auto type = LLVM::LLVMArrayType::get(
      LLVM::LLVMPointerType::get(builder.getContext()), texts.size());
  return global(name, type, [&]() -> Value {
    Value array = LLVM::PoisonOp::create(builder, loc, type);
    for (auto [index, address] : llvm::enumerate(addresses))
      array = LLVM::InsertValueOp::create(builder, loc, array,
                                          materializeAddress(address), index);
    return array;
  });
}

Address ConstantBuilder::int32s(const Twine &name, ArrayRef<int32_t> values) {
  if (values.empty())
    return {};
  return global(name,
                LLVM::LLVMArrayType::get(builder.getI32Type(), values.size()),
                builder.getI32TensorAttr(values));
}

Address ConstantBuilder::int64s(const Twine &name, ArrayRef<int64_t> values) {
  if (values.empty())
    return {};
  return global(name,
                LLVM::LLVMArrayType::get(builder.getI64Type(), values.size()),
                builder.getI64TensorAttr(values));
}

Address ConstantBuilder::doubles(const Twine &name, ArrayRef<double> values) {
  if (values.empty())
    return {};
  auto shape = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                     builder.getF64Type());
  return global(name,
                LLVM::LLVMArrayType::get(builder.getF64Type(), values.size()),
                DenseElementsAttr::get(shape, values));
}

Value ConstantBuilder::materialize(const abi::Struct &layout, View view,
                                   size_t base) {
  auto type = abi::llvmType(builder.getContext(), layout);
  Value value = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [index, field] : llvm::enumerate(layout.fields)) {
    size_t offset = base + field.offset;
    const char *place = view.data + offset;
    Value member;
    switch (field.kind) {
    case abi::Kind::I32:
      member = LLVM::ConstantOp::create(
          builder, loc, builder.getI32IntegerAttr(readAs<int32_t>(place)));
      break;
    case abi::Kind::I64:
      member = LLVM::ConstantOp::create(
          builder, loc, builder.getI64IntegerAttr(readAs<int64_t>(place)));
      break;
    case abi::Kind::F64:
      member = LLVM::ConstantOp::create(
          builder, loc, builder.getF64FloatAttr(readAs<double>(place)));
      break;
    case abi::Kind::Pointer: {
      auto found = view.pointers->find(offset);
      member = materializeAddress(
          found == view.pointers->end() ? StringRef() : found->second);
      break;
    }
    case abi::Kind::Struct:
      member = materialize(*field.nested, view, offset);
      break;
    }
    value = LLVM::InsertValueOp::create(builder, loc, value, member, index);
  }
  return value;
}

/// Maximum number of elements of an array that is built by inserting one
/// element after the other. LLVM creates a constant for each intermediate
/// array, so long arrays would take quadratic time. A longer array is built as
/// a struct of shorter arrays, which has the same memory layout.
static constexpr size_t kRun = 64;

/// Builds an array of at most `kRun` elements.
Value ConstantBuilder::materializeArray(const abi::Struct &layout,
                                        ArrayRef<View> values) {
  auto element = abi::llvmType(builder.getContext(), layout);
  Value array = LLVM::PoisonOp::create(
      builder, loc, LLVM::LLVMArrayType::get(element, values.size()));
  for (auto [index, view] : llvm::enumerate(values))
    array = LLVM::InsertValueOp::create(
        builder, loc, array, materialize(layout, view, /*base=*/0), index);
  return array;
}

Address ConstantBuilder::structs(const Twine &name, const abi::Struct &layout,
                                 ArrayRef<View> values) {
  if (values.empty())
    return {};
  auto element = abi::llvmType(builder.getContext(), layout);
  if (values.size() <= kRun)
    return global(name, LLVM::LLVMArrayType::get(element, values.size()),
                  [&] { return materializeArray(layout, values); });
  SmallVector<Type> types;
  for (size_t begin = 0; begin < values.size(); begin += kRun)
    types.push_back(LLVM::LLVMArrayType::get(
        element, std::min(kRun, values.size() - begin)));
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  return global(name, type, [&]() -> Value {
    Value runs = LLVM::PoisonOp::create(builder, loc, type);
    for (size_t begin = 0; begin < values.size(); begin += kRun) {
      ArrayRef<View> run =
          values.slice(begin, std::min(kRun, values.size() - begin));
      runs = LLVM::InsertValueOp::create(builder, loc, runs,
                                         materializeArray(layout, run),
                                         static_cast<int64_t>(begin / kRun));
    }
    return runs;
  });
}
