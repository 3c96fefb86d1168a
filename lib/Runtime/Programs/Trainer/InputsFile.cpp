//===- InputsFile.cpp - Inputs of a program as safetensors ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/InputsFile.h"

#include "Data/FieldTexts.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Files/Safetensors.h"

using namespace pdlrt;

InputsFile::InputsFile(const pdl_descriptor &descriptor,
                       const pdl_program &program, bool hasTexts)
    : descriptor(descriptor), program(program), hasTexts(hasTexts) {
  for (int32_t i = 0; i < program.field_count; ++i)
    fields.push_back(
        {&descriptor.fields[program.fields[i]], {}, {0}, {}, {}, {0}});
}

/// Adds the texts of one sample to `into`, and removes them from the front of
/// `copied`.
void InputsFile::addTexts(Field &into, std::string_view &copied) {
  for (int64_t slot = 0; slot < into.field->width; ++slot) {
    found.clear();
    takeFieldTexts(copied, found);
    for (const std::string_view id : found) {
      into.texts += id;
      into.textEnds.push_back(int64_t(into.texts.size()));
    }
    into.textSplits.push_back(int64_t(into.textEnds.size()));
  }
}

void InputsFile::add(const Batch &batch) {
  for (size_t i = 0; i < fields.size(); ++i) {
    Field &into = fields[i];
    const pdl_field_data &data = batch.fields()[i];
    const auto *bytes = static_cast<const std::byte *>(data.values);
    into.values.insert(into.values.end(), bytes,
                       bytes + size_t(data.value_count) *
                                   elementSize(into.field->element_type));
    if (into.field->kind != PDL_FIELD_RAGGED)
      continue;
    const int64_t before = into.splits.back();
    for (int64_t bag = 1; bag <= batch.size() * into.field->width; ++bag)
      into.splits.push_back(before + data.splits[bag]);
  }
  for (int64_t i = 0; i < batch.size(); ++i) {
    rows.push_back(batch.row(i));
    samples.push_back(batch.sampleNumbers()[i]);
    std::string_view copied = batch.copiedCell(i);
    for (Field &field : fields)
      if (hasTexts && pdlrt::hasTexts(*field.field))
        addTexts(field, copied);
  }
}

Status InputsFile::write(const std::string &path) const {
  SafetensorsWriter writer;
  const auto addIntegers = [&](const std::string &name,
                               const std::vector<int64_t> &values) {
    return writer.add(name, TensorType::I64, {int64_t(values.size())},
                      values.data());
  };
  const auto count = int64_t(rows.size());
  for (const Field &each : fields) {
    const pdl_field &field = *each.field;
    const std::string name = field.name;
    const TensorType type = field.element_type == PDL_F32   ? TensorType::F32
                            : field.element_type == PDL_F64 ? TensorType::F64
                                                            : TensorType::I64;
    const bool isRagged = field.kind == PDL_FIELD_RAGGED;
    PDLRT_RETURN_IF_ERROR(
        isRagged
            ? writer.add(name + ".values", type, {each.splits.back()},
                         each.values.data())
            : writer.add(name, type, {count, field.width}, each.values.data()));
    if (isRagged)
      PDLRT_RETURN_IF_ERROR(addIntegers(name + ".splits", each.splits));
    if (!hasTexts || !pdlrt::hasTexts(field))
      continue;
    PDLRT_RETURN_IF_ERROR(writer.add(name + ".texts", TensorType::U8,
                                     {int64_t(each.texts.size())},
                                     each.texts.data()));
    PDLRT_RETURN_IF_ERROR(addIntegers(name + ".text_ends", each.textEnds));
    if (isRagged)
      PDLRT_RETURN_IF_ERROR(
          addIntegers(name + ".text_splits", each.textSplits));
  }
  PDLRT_RETURN_IF_ERROR(addIntegers(".rows", rows));
  PDLRT_RETURN_IF_ERROR(addIntegers(".samples", samples));
  writer.setMetadata("model", descriptor.model_name);
  writer.setMetadata("ids", "keys");
  writer.setMetadata("program", program.name);
  return writer.write(path);
}
