//===- AbiLayout.cpp - Struct layouts of the C ABI ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Conversion/AbiLayout.h"

using namespace mlir;
using namespace pdlc::abi;

namespace {
/// Description of a struct that is a member of other structs; null for other
/// types.
template <typename T> constexpr const Struct *nested = nullptr;
} // namespace

#define MEMBER(STRUCT, NAME)                                                   \
  {#NAME, kindOf<decltype(STRUCT::NAME)>(), offsetof(STRUCT, NAME),            \
   sizeof(decltype(STRUCT::NAME)), nested<decltype(STRUCT::NAME)>}

/// Defines `layoutOf<STRUCT>` from the listed members.
#define LAYOUT(STRUCT, ...)                                                    \
  static constexpr Field STRUCT##Fields[] = {__VA_ARGS__};                     \
  static_assert(covers<STRUCT>(STRUCT##Fields), "abi.h has another " #STRUCT); \
  static constexpr Struct STRUCT##Layout = {#STRUCT, sizeof(STRUCT),           \
                                            STRUCT##Fields};                   \
  namespace {                                                                  \
  template <>                                                                  \
  [[maybe_unused]] constexpr const Struct *nested<STRUCT> = &STRUCT##Layout;   \
  }                                                                            \
  template <> const Struct &pdlc::abi::layoutOf<STRUCT>() {                    \
    return STRUCT##Layout;                                                     \
  }

// clang-format off
LAYOUT(pdl_field,
  MEMBER(pdl_field, struct_size),
  MEMBER(pdl_field, name),
  MEMBER(pdl_field, kind),
  MEMBER(pdl_field, element_type),
  MEMBER(pdl_field, width),
  MEMBER(pdl_field, hash_kind),
  MEMBER(pdl_field, salt_kind),
  MEMBER(pdl_field, salt),
  MEMBER(pdl_field, missing_kind),
  MEMBER(pdl_field, missing_value),
  MEMBER(pdl_field, missing_token),
  MEMBER(pdl_field, missing_element_kind),
  MEMBER(pdl_field, missing_element_value),
  MEMBER(pdl_field, missing_element_token),
  MEMBER(pdl_field, missing_text_count),
  MEMBER(pdl_field, missing_texts),
  MEMBER(pdl_field, column_count),
  MEMBER(pdl_field, column_positions),
  MEMBER(pdl_field, column_names),
  MEMBER(pdl_field, separator),
  MEMBER(pdl_field, value_count),
  MEMBER(pdl_field, value_texts),
  MEMBER(pdl_field, value_numbers))

LAYOUT(pdl_field_data,
  MEMBER(pdl_field_data, values),
  MEMBER(pdl_field_data, splits),
  MEMBER(pdl_field_data, value_count))

LAYOUT(pdl_initializer,
  MEMBER(pdl_initializer, kind),
  MEMBER(pdl_initializer, a),
  MEMBER(pdl_initializer, b))

LAYOUT(pdl_symbol,
  MEMBER(pdl_symbol, struct_size),
  MEMBER(pdl_symbol, name),
  MEMBER(pdl_symbol, id),
  MEMBER(pdl_symbol, kind),
  MEMBER(pdl_symbol, element_type),
  MEMBER(pdl_symbol, storage),
  MEMBER(pdl_symbol, rank),
  MEMBER(pdl_symbol, shape),
  MEMBER(pdl_symbol, row_count),
  MEMBER(pdl_symbol, row_width),
  MEMBER(pdl_symbol, gradient_width),
  MEMBER(pdl_symbol, group),
  MEMBER(pdl_symbol, frozen_part),
  MEMBER(pdl_symbol, initializer),
  MEMBER(pdl_symbol, unknown),
  MEMBER(pdl_symbol, slot_count),
  MEMBER(pdl_symbol, slot_names),
  MEMBER(pdl_symbol, slot_initial_values),
  MEMBER(pdl_symbol, row_slot_count),
  MEMBER(pdl_symbol, kernel_unit),
  MEMBER(pdl_symbol, dense_kernel),
  MEMBER(pdl_symbol, row_kernel),
  MEMBER(pdl_symbol, device_kernel),
  MEMBER(pdl_symbol, late_dense_kernel),
  MEMBER(pdl_symbol, late_row_kernel),
  MEMBER(pdl_symbol, unit_count),
  MEMBER(pdl_symbol, block_rows),
  MEMBER(pdl_symbol, unit_costs),
  MEMBER(pdl_symbol, admission),
  MEMBER(pdl_symbol, admission_count),
  MEMBER(pdl_symbol, admission_probability),
  MEMBER(pdl_symbol, shrink_every),
  MEMBER(pdl_symbol, shrink_unseen),
  MEMBER(pdl_symbol, score_weights),
  MEMBER(pdl_symbol, shrink_decay),
  MEMBER(pdl_symbol, shrink_least),
  MEMBER(pdl_symbol, admission_score),
  MEMBER(pdl_symbol, admission_weights))

LAYOUT(pdl_once_arguments,
  MEMBER(pdl_once_arguments, step),
  MEMBER(pdl_once_arguments, weight),
  MEMBER(pdl_once_arguments, squared_norm),
  MEMBER(pdl_once_arguments, senders))

LAYOUT(pdl_scalar,
  MEMBER(pdl_scalar, name),
  MEMBER(pdl_scalar, is_divisor))

LAYOUT(pdl_group,
  MEMBER(pdl_group, struct_size),
  MEMBER(pdl_group, name),
  MEMBER(pdl_group, untouched),
  MEMBER(pdl_group, clip),
  MEMBER(pdl_group, element_type),
  MEMBER(pdl_group, scalar_count),
  MEMBER(pdl_group, scalars),
  MEMBER(pdl_group, once),
  MEMBER(pdl_group, merge),
  MEMBER(pdl_group, compensates))

LAYOUT(pdl_clip,
  MEMBER(pdl_clip, struct_size),
  MEMBER(pdl_clip, name),
  MEMBER(pdl_clip, limit))

LAYOUT(pdl_metric,
  MEMBER(pdl_metric, struct_size),
  MEMBER(pdl_metric, name),
  MEMBER(pdl_metric, kind),
  MEMBER(pdl_metric, parameter))

LAYOUT(pdl_lookup,
  MEMBER(pdl_lookup, key_count),
  MEMBER(pdl_lookup, keys),
  MEMBER(pdl_lookup, occurrence_count),
  MEMBER(pdl_lookup, inverse),
  MEMBER(pdl_lookup, key_splits),
  MEMBER(pdl_lookup, occurrences),
  MEMBER(pdl_lookup, rows),
  MEMBER(pdl_lookup, storage))

LAYOUT(pdl_affine_size,
  MEMBER(pdl_affine_size, constant),
  MEMBER(pdl_affine_size, per_batch),
  MEMBER(pdl_affine_size, per_batch_squared),
  MEMBER(pdl_affine_size, per_id),
  MEMBER(pdl_affine_size, per_key),
  MEMBER(pdl_affine_size, per_occurrence))

LAYOUT(pdl_step_context,
  MEMBER(pdl_step_context, struct_size),
  MEMBER(pdl_step_context, worker),
  MEMBER(pdl_step_context, batch),
  MEMBER(pdl_step_context, fields),
  MEMBER(pdl_step_context, lookups),
  MEMBER(pdl_step_context, parameters),
  MEMBER(pdl_step_context, gradients),
  MEMBER(pdl_step_context, loss_sum),
  MEMBER(pdl_step_context, weight_sum),
  MEMBER(pdl_step_context, metrics),
  MEMBER(pdl_step_context, outputs),
  MEMBER(pdl_step_context, prepare_arena),
  MEMBER(pdl_step_context, compute_arena),
  MEMBER(pdl_step_context, draws))

LAYOUT(pdl_lookup_descriptor,
  MEMBER(pdl_lookup_descriptor, symbol))

LAYOUT(pdl_update_descriptor,
  MEMBER(pdl_update_descriptor, symbol),
  MEMBER(pdl_update_descriptor, lookup),
  MEMBER(pdl_update_descriptor, objective))

LAYOUT(pdl_output,
  MEMBER(pdl_output, name),
  MEMBER(pdl_output, element_type),
  MEMBER(pdl_output, width))

LAYOUT(pdl_channel,
  MEMBER(pdl_channel, kind),
  MEMBER(pdl_channel, symbol),
  MEMBER(pdl_channel, clip))

LAYOUT(pdl_id_range,
  MEMBER(pdl_id_range, field),
  MEMBER(pdl_id_range, first_column),
  MEMBER(pdl_id_range, column_count),
  MEMBER(pdl_id_range, first),
  MEMBER(pdl_id_range, end),
  MEMBER(pdl_id_range, allowed))

LAYOUT(pdl_program,
  MEMBER(pdl_program, struct_size),
  MEMBER(pdl_program, name),
  MEMBER(pdl_program, frozen),
  MEMBER(pdl_program, field_count),
  MEMBER(pdl_program, fields),
  MEMBER(pdl_program, joined_count),
  MEMBER(pdl_program, joined),
  MEMBER(pdl_program, id_range_count),
  MEMBER(pdl_program, id_ranges),
  MEMBER(pdl_program, lookup_count),
  MEMBER(pdl_program, lookups),
  MEMBER(pdl_program, update_count),
  MEMBER(pdl_program, updates),
  MEMBER(pdl_program, output_count),
  MEMBER(pdl_program, outputs),
  MEMBER(pdl_program, objective_count),
  MEMBER(pdl_program, observes_groups),
  MEMBER(pdl_program, prepare_arena),
  MEMBER(pdl_program, compute_arena),
  MEMBER(pdl_program, prepare),
  MEMBER(pdl_program, compute),
  MEMBER(pdl_program, channel_count),
  MEMBER(pdl_program, channels))

LAYOUT(pdl_part,
  MEMBER(pdl_part, kind),
  MEMBER(pdl_part, name),
  MEMBER(pdl_part, value))

LAYOUT(pdl_draws,
  MEMBER(pdl_draws, seed),
  MEMBER(pdl_draws, epoch),
  MEMBER(pdl_draws, sample_count),
  MEMBER(pdl_draws, samples))

LAYOUT(pdl_device_kernel,
  MEMBER(pdl_device_kernel, name),
  MEMBER(pdl_device_kernel, argument_count),
  MEMBER(pdl_device_kernel, arguments),
  MEMBER(pdl_device_kernel, run))

LAYOUT(pdl_descriptor,
  MEMBER(pdl_descriptor, struct_size),
  MEMBER(pdl_descriptor, abi_version),
  MEMBER(pdl_descriptor, model_name),
  MEMBER(pdl_descriptor, compiler_version),
  MEMBER(pdl_descriptor, numerics),
  MEMBER(pdl_descriptor, compute),
  MEMBER(pdl_descriptor, target_cpu),
  MEMBER(pdl_descriptor, cpu_feature_word_count),
  MEMBER(pdl_descriptor, cpu_features),
  MEMBER(pdl_descriptor, mode),
  MEMBER(pdl_descriptor, role),
  MEMBER(pdl_descriptor, layout_fingerprint),
  MEMBER(pdl_descriptor, training_fingerprint),
  MEMBER(pdl_descriptor, wire_fingerprint),
  MEMBER(pdl_descriptor, part_count),
  MEMBER(pdl_descriptor, parts),
  MEMBER(pdl_descriptor, field_count),
  MEMBER(pdl_descriptor, fields),
  MEMBER(pdl_descriptor, symbol_count),
  MEMBER(pdl_descriptor, symbols),
  MEMBER(pdl_descriptor, group_count),
  MEMBER(pdl_descriptor, groups),
  MEMBER(pdl_descriptor, clip_count),
  MEMBER(pdl_descriptor, clips),
  MEMBER(pdl_descriptor, metric_count),
  MEMBER(pdl_descriptor, metrics),
  MEMBER(pdl_descriptor, program_count),
  MEMBER(pdl_descriptor, programs),
  MEMBER(pdl_descriptor, target),
  MEMBER(pdl_descriptor, device_products),
  MEMBER(pdl_descriptor, device_kernel_count),
  MEMBER(pdl_descriptor, device_kernels),
  MEMBER(pdl_descriptor, device_code))

LAYOUT(pdl_pooled_input,
  MEMBER(pdl_pooled_input, pooling),
  MEMBER(pdl_pooled_input, first),
  MEMBER(pdl_pooled_input, bag_count),
  MEMBER(pdl_pooled_input, cotangent),
  MEMBER(pdl_pooled_input, row_bags),
  MEMBER(pdl_pooled_input, row_stride),
  MEMBER(pdl_pooled_input, splits))

LAYOUT(pdl_post,
  MEMBER(pdl_post, kind),
  MEMBER(pdl_post, operand))

// clang-format on

LLVM::LLVMStructType pdlc::abi::llvmType(MLIRContext *context,
                                         const Struct &layout) {
  SmallVector<Type> members;
  for (const Field &field : layout.fields) {
    switch (field.kind) {
    case Kind::I32:
      members.push_back(IntegerType::get(context, 32));
      break;
    case Kind::I64:
      members.push_back(IntegerType::get(context, 64));
      break;
    case Kind::F64:
      members.push_back(Float64Type::get(context));
      break;
    case Kind::Pointer:
      members.push_back(LLVM::LLVMPointerType::get(context));
      break;
    case Kind::Struct:
      members.push_back(llvmType(context, *field.nested));
      break;
    }
  }
  auto type = LLVM::LLVMStructType::getIdentified(context, layout.name);
  // Fails if a different body was set before. An equal body is accepted.
  if (failed(type.setBody(members, /*isPacked=*/false)))
    return LLVM::LLVMStructType::getNewIdentified(context, layout.name,
                                                  members);
  return type;
}
