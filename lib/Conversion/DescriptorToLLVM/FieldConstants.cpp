//===- FieldConstants.cpp - Fields of the constant descriptor -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FieldConstants.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pdlc;

double pdlc::numberOf(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  return static_cast<double>(cast<IntegerAttr>(attribute).getInt());
}

int32_t pdlc::elementTypeOf(Type type) {
  return type.isF64() ? PDL_F64 : type.isF32() ? PDL_F32 : PDL_I64;
}

/// Returns the text of the id that replaces missing ids.
static std::string tokenOf(Attribute missing) {
  if (auto text = dyn_cast<StringAttr>(missing))
    return text.getValue().str();
  return llvm::itostr(cast<IntegerAttr>(missing).getInt());
}

/// Returns the texts that count as missing; empty for the default ones.
static SmallVector<std::string> missingTextsOf(nn::RecordOp record) {
  ArrayAttr texts = record.getMissingTextsAttr();
  if (!texts)
    return {};
  // For the runtime, an empty list stands for the default texts. A record
  // without missing texts therefore gets the empty text, which counts as
  // missing in any case.
  if (texts.empty())
    return {""};
  return llvm::map_to_vector(texts.getAsValueRange<StringAttr>(),
                             [](StringRef text) { return text.str(); });
}

static Constant<pdl_field> buildField(ConstantBuilder &constants,
                                      nn::FieldOp field,
                                      ArrayRef<std::string> missingTexts) {
  Constant<pdl_field> result;
  pdl_field &data = result.data;
  std::string name = field.getSymName().str();
  data.struct_size = sizeof(pdl_field);
  result.point(data.name, constants.string(name));
  data.kind = field.isRagged()  ? PDL_FIELD_RAGGED
              : field.isFloat() ? PDL_FIELD_DENSE
                                : PDL_FIELD_IDS;
  data.element_type = field.isFloat()
                          ? elementTypeOf(nn::elementTypeOf(field.getType()))
                          : PDL_I64;
  data.width = field.getWidth();
  if (nn::HashAttr hash = field.getHashAttr()) {
    data.hash_kind = hash.getXxh64() ? PDL_HASH_XXH64 : PDL_HASH_NONE;
    data.salt_kind = hash.getSaltBySlot() ? PDL_SALT_SLOT : PDL_SALT_CONSTANT;
    data.salt = hash.getSalt();
  }
  // Sets the replacement for missing values.
  const auto setMissing = [&](Attribute missing, int32_t &kind, double &value,
                              const char *const &token) {
    if (!missing)
      return;
    kind = field.isFloat() ? PDL_MISSING_VALUE : PDL_MISSING_TOKEN;
    if (field.isFloat())
      value = numberOf(missing);
    else
      result.point(token, constants.string(tokenOf(missing)));
  };
  data.missing_kind = field.isRagged() ? PDL_MISSING_EMPTY : PDL_MISSING_ERROR;
  setMissing(field.getMissingAttr(), data.missing_kind, data.missing_value,
             data.missing_token);
  data.missing_element_kind = PDL_MISSING_ERROR;
  setMissing(field.getMissingElementAttr(), data.missing_element_kind,
             data.missing_element_value, data.missing_element_token);
  const std::string prefix = "pdl.field." + name;
  if (!missingTexts.empty()) {
    data.missing_text_count = missingTexts.size();
    result.point(data.missing_texts,
                 constants.strings(prefix + ".missing", missingTexts));
  }
  if (ArrayAttr columns = field.getColumnsAttr()) {
    data.column_count = columns.size();
    SmallVector<int64_t> positions;
    SmallVector<std::string> names;
    for (Attribute column : columns) {
      if (auto text = dyn_cast<StringAttr>(column))
        names.push_back(text.getValue().str());
      else
        positions.push_back(cast<IntegerAttr>(column).getInt());
    }
    result.point(data.column_positions,
                 constants.int64s(prefix + ".columns", positions));
    result.point(data.column_names,
                 constants.strings(prefix + ".names", names));
  }
  if (StringAttr separator = field.getSeparatorAttr())
    data.separator = static_cast<unsigned char>(separator.getValue().front());
  if (DictionaryAttr values = field.getValuesAttr()) {
    data.value_count = values.size();
    SmallVector<std::string> texts;
    SmallVector<double> numbers;
    for (NamedAttribute value : values) {
      texts.push_back(value.getName().str());
      numbers.push_back(numberOf(value.getValue()));
    }
    result.point(data.value_texts, constants.strings(prefix + ".texts", texts));
    result.point(data.value_numbers,
                 constants.doubles(prefix + ".numbers", numbers));
  }
  return result;
}

std::vector<Constant<pdl_field>> pdlc::buildFields(ConstantBuilder &constants,
                                                   nn::RecordOp record) {
  const SmallVector<std::string> missingTexts = missingTextsOf(record);
  std::vector<Constant<pdl_field>> fields;
  for (auto field : record.getBody().getOps<nn::FieldOp>())
    fields.push_back(buildField(constants, field, missingTexts));
  return fields;
}
