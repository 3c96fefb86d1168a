//===- ConstantValue.cpp - Numbers of nn.constant -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR rounds the numbers of a constant to its type when it parses them. But a
// model may be compiled in f64. So the text of a constant is parsed twice: once
// as written, and once as f64. Printed constants have all digits of the f64
// numbers, so that parsing them again gives the same numbers in both types.
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "pdlc/Support/FloatConversion.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Maximum number of elements that are printed as decimal numbers. The elements
/// of a larger constant are printed as bytes, in hexadecimal.
static constexpr int64_t kMaxDecimals = 100;

/// Returns true if `test` holds for all numbers. Equal numbers are tested once.
static bool allOf(DenseElementsAttr numbers,
                  function_ref<bool(const APFloat &)> test) {
  if (numbers.isSplat())
    return test(numbers.getSplatValue<APFloat>());
  return llvm::all_of(numbers.getValues<APFloat>(), test);
}

/// Returns true if rounding `wide` (f64) to f32 gives `numbers`.
static bool areRounded(DenseElementsAttr numbers, DenseElementsAttr wide) {
  auto isRounded = [](const APFloat &number, const APFloat &wideNumber) {
    return number.bitwiseIsEqual(
        convertFloat(wideNumber, APFloat::IEEEsingle()));
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

/// Returns true if f32 represents all of `numbers` (f64) exactly.
static bool fitsF32(DenseElementsAttr numbers) {
  return allOf(numbers, [](const APFloat &number) {
    bool losesInfo = false;
    convertFloat(number, APFloat::IEEEsingle(), &losesInfo);
    return !losesInfo;
  });
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Parses the numbers in the `dense<...>` of `text` as f64. Returns null if the
/// text contains bytes in hexadecimal, which cannot be parsed as another type.
static DenseElementsAttr readAgain(StringRef text, ShapedType type) {
  StringRef list = text.drop_until([](char c) { return c == '<'; });
  if (list.ltrim("<").ltrim().starts_with("\""))
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
  SMLoc begin = parser.getCurrentLocation();
  if (parser.parseAttribute(value))
    return failure();
  StringRef text(begin.getPointer(),
                 parser.getCurrentLocation().getPointer() - begin.getPointer());
  if (succeeded(parser.parseOptionalKeyword("exact")))
    return parser.parseAttribute(exact);
  ShapedType type = value.getShapedType();
  if (!isa<DenseElementsAttr>(value) || !type.getElementType().isF32())
    return success();
  if (text.starts_with("#"))
    return parser.emitError(begin)
           << "an alias holds its numbers rounded to f32; write those of an "
              "nn.constant where it stands, as dense<...>";
  DenseElementsAttr again = readAgain(text, type);
  // A list may contain a number as the hexadecimal bits of an f32. Parsed as
  // f64, these bits are a different number; then the f32 value is used.
  if (again && !fitsF32(again) &&
      areRounded(cast<DenseElementsAttr>(value), again))
    exact = again;
  return success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Returns the number as a decimal text that is parsed to the same f64. The
/// number must be finite. The text contains a point, because MLIR requires it.
static std::string decimalsOf(const APFloat &number) {
  SmallString<32> text;
  number.toString(text, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0,
                  /*TruncateZero=*/false);
  if (APFloat(APFloat::IEEEdouble(), text).bitwiseIsEqual(number))
    return text.str().str();
  text.clear();
  number.toString(text);
  if (text.str().contains('.'))
    return text.str().str();
  auto [digits, exponent] = text.str().split('E');
  return (digits + ".0" + (exponent.empty() ? "" : "E") + exponent).str();
}

/// Prints an f32 number that represents `wide`.
static void printNumber(raw_ostream &stream, const APFloat &number,
                        const APFloat &wide) {
  if (wide.isFinite())
    stream << decimalsOf(wide);
  else
    stream << llvm::format(
        "0x%08X",
        static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue()));
}

/// Prints nested lists of `shape`. `printNext` prints the next number.
static void printLists(raw_ostream &stream, ArrayRef<int64_t> shape,
                       function_ref<void()> printNext) {
  if (shape.empty())
    return printNext();
  stream << '[';
  for (int64_t i = 0; i < shape.front(); ++i) {
    if (i > 0)
      stream << ", ";
    printLists(stream, shape.drop_front(), printNext);
  }
  stream << ']';
}

/// Prints the f32 `numbers` with the digits of `wide`.
static void printDecimals(raw_ostream &stream, DenseElementsAttr numbers,
                          DenseElementsAttr wide) {
  stream << "dense<";
  if (numbers.isSplat() && wide.isSplat()) {
    printNumber(stream, numbers.getSplatValue<APFloat>(),
                wide.getSplatValue<APFloat>());
  } else {
    auto number = numbers.value_begin<APFloat>();
    auto wideNumber = wide.value_begin<APFloat>();
    printLists(stream, numbers.getType().getShape(),
               [&] { printNumber(stream, *number++, *wideNumber++); });
  }
  stream << "> : " << numbers.getType();
}

void pdlc::nn::printConstantValue(OpAsmPrinter &printer, Operation *,
                                  ElementsAttr value, ElementsAttr exact) {
  auto numbers = dyn_cast<DenseElementsAttr>(value);
  auto wide = dyn_cast_or_null<DenseElementsAttr>(exact);
  if (numbers && !exact && numbers.getElementType().isF32())
    wide = cast<DenseFPElementsAttr>(numbers).mapValues(
        Float64Type::get(value.getContext()), [](const APFloat &number) {
          return convertFloat(number, APFloat::IEEEdouble()).bitcastToAPInt();
        });
  const bool isShort =
      wide && wide.getNumElements() > 0 &&
      (wide.isSplat() || wide.getNumElements() <= kMaxDecimals);
  // Decimals are used only if parsing them restores `exact`.
  auto isFinite = [](const APFloat &number) { return number.isFinite(); };
  if (isShort && (!exact || (!fitsF32(wide) && allOf(wide, isFinite)))) {
    printDecimals(printer.getStream(), numbers, wide);
    return;
  }
  printer.printAttribute(value);
  if (exact) {
    printer << " exact ";
    printer.printAttribute(exact);
  }
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// Folds to `value`, or to both attributes if there is an `exact`. So two
/// constants are merged only if both attributes are equal.
OpFoldResult ConstantOp::fold(FoldAdaptor) {
  if (ElementsAttr exact = getExactAttr())
    return ArrayAttr::get(getContext(), {getValueAttr(), exact});
  return getValueAttr();
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
