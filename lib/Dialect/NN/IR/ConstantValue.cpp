//===- ConstantValue.cpp - The numbers of nn.constant ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR rounds a number to its type when it reads it. A model may be compiled in
// f64, so that its constants are read a second time, as f64.
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace pdlc::nn;

/// `number` in f32.
static APFloat rounded(APFloat number) {
  bool losesInfo = false;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number;
}

/// Whether `wide`, in f64, are the numbers that `numbers`, in f32, are rounded
/// from.
static bool areRounded(DenseElementsAttr numbers, DenseElementsAttr wide) {
  auto isRounded = [](const APFloat &number, const APFloat &wideNumber) {
    return number.bitwiseIsEqual(rounded(wideNumber));
  };
  if (numbers.isSplat() && wide.isSplat())
    return isRounded(numbers.getSplatValue<APFloat>(),
                     wide.getSplatValue<APFloat>());
  return llvm::all_of(
      llvm::zip_equal(numbers.getValues<APFloat>(), wide.getValues<APFloat>()),
      [&](auto pair) {
        return isRounded(std::get<0>(pair), std::get<1>(pair));
      });
}

/// Whether f32 holds all of `numbers`, which are f64.
static bool fitsF32(DenseElementsAttr numbers) {
  auto fits = [](const APFloat &number) {
    APFloat copy = number;
    bool losesInfo = false;
    copy.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    return !losesInfo;
  };
  if (numbers.isSplat())
    return fits(numbers.getSplatValue<APFloat>());
  return llvm::all_of(numbers.getValues<APFloat>(), fits);
}

/// The numbers that `text` starts with, read as f64; null where they cannot be
/// read so, as behind an alias or in hexadecimal digits.
static DenseElementsAttr readAgain(StringRef text, ShapedType type) {
  if (!text.starts_with("dense<") || text.starts_with("dense<\""))
    return {};
  MLIRContext *context = type.getContext();
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  size_t read = 0;
  return dyn_cast_or_null<DenseElementsAttr>(parseAttribute(
      text, context, type.clone(Float64Type::get(context)), &read));
}

ParseResult pdlc::nn::parseConstantValue(OpAsmParser &parser,
                                         ElementsAttr &value,
                                         ElementsAttr &exact) {
  const char *begin = parser.getCurrentLocation().getPointer();
  if (parser.parseAttribute(value))
    return failure();
  ShapedType type = value.getShapedType();
  if (!isa<DenseElementsAttr>(value) || !type.getElementType().isF32())
    return success();
  const char *end = parser.getCurrentLocation().getPointer();
  DenseElementsAttr again = readAgain(StringRef(begin, end - begin), type);
  // Digits of memory in a list are those of f32, and mean another number in
  // f64: such a list is what f32 holds of it.
  if (again && !fitsF32(again) &&
      areRounded(cast<DenseElementsAttr>(value), again))
    exact = again;
  return success();
}

void pdlc::nn::printConstantValue(OpAsmPrinter &printer, Operation *,
                                  ElementsAttr value, ElementsAttr exact) {
  if (!exact) {
    printer.printAttribute(value);
    return;
  }
  printer.printAttributeWithoutType(exact);
  printer << " : " << value.getShapedType();
}

LogicalResult ConstantOp::verify() {
  constexpr int64_t most = int64_t(1) << 24;
  ShapedType type = getValue().getShapedType();
  // The shape of a value is static.
  FailureOr<int64_t> count = countElements(type.getShape());
  if (failed(count) || *count > most)
    return emitOpError() << "has type " << type << ", of more than " << most
                         << " elements; a tensor of this size is an nn.state "
                            "(C2)";
  std::optional<ElementsAttr> exact = getExact();
  if (!exact)
    return success();
  auto numbers = dyn_cast<DenseElementsAttr>(getValue());
  auto wide = dyn_cast<DenseElementsAttr>(*exact);
  bool fits = numbers && wide && type.getElementType().isF32() &&
              wide.getElementType().isF64() &&
              wide.getType().getShape() == type.getShape();
  if (!fits || !areRounded(numbers, wide))
    return emitOpError("has 'exact' that is not its value in f64 (C3)");
  return success();
}
