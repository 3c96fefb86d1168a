//===- TableDevice.h - A device with the kernels of tables ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_TABLE_TABLEDEVICE_H
#define PDL_UNITTESTS_RUNTIME_TABLE_TABLEDEVICE_H

#include "pdlabi/device.h"
#include "pdlabi/table.h"
#include "pdlrt/Device/Device.h"

#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdltest {

/// Calls a function of the device library with arguments from memory, like the
/// compiler's functions for the host.
template <auto function> struct CallFromMemory;
template <typename... A, void (*function)(A...)>
struct CallFromMemory<function> {
  static void run(const uint64_t *arguments, int64_t first, int64_t stride) {
    call(arguments, first, stride,
         std::make_index_sequence<sizeof...(A) - 2>());
  }

private:
  template <typename T> static T argument(uint64_t bits) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<T>(bits);
    else
      return static_cast<T>(bits);
  }
  template <size_t... i>
  static void call(const uint64_t *arguments, int64_t first, int64_t stride,
                   std::index_sequence<i...>) {
    function(
        argument<std::tuple_element_t<i, std::tuple<A...>>>(arguments[i])...,
        first, stride);
  }
};

/// Returns all kernels of tables of an element type, after one kernel of
/// another kind.
inline std::vector<pdlrt::DeviceKernel> tableKernelsOf(bool isFloat) {
  using Run = decltype(pdlrt::DeviceKernel::run);
  const Run runs[] = {
      CallFromMemory<pdldevice_table_find>::run,
      CallFromMemory<pdldevice_table_count>::run,
      CallFromMemory<pdldevice_table_place>::run,
      isFloat ? CallFromMemory<pdldevice_table_insert_f32>::run
              : CallFromMemory<pdldevice_table_insert_f64>::run,
      isFloat ? CallFromMemory<pdldevice_table_gather_f32>::run
              : CallFromMemory<pdldevice_table_gather_f64>::run,
      CallFromMemory<pdldevice_table_rehash>::run,
      CallFromMemory<pdldevice_table_list>::run,
      CallFromMemory<pdldevice_table_read>::run,
      CallFromMemory<pdldevice_table_write>::run,
      CallFromMemory<pdldevice_table_keys>::run,
      CallFromMemory<pdldevice_table_mark>::run,
      isFloat ? CallFromMemory<pdldevice_table_spread_f32>::run
              : CallFromMemory<pdldevice_table_spread_f64>::run,
      CallFromMemory<pdldevice_table_widen>::run,
      CallFromMemory<pdldevice_table_round>::run,
      CallFromMemory<pdldevice_table_note>::run,
  };
  static_assert(std::size(runs) == std::size(pdlabi::tableKernels));
  // Names live as long as the process.
  static std::deque<std::string> names;
  std::vector<pdlrt::DeviceKernel> kernels = {{"kernel_of_a_stage", {}, {}}};
  for (size_t k = 0; k < std::size(runs); ++k) {
    const pdlabi::KernelSignature &signature = pdlabi::tableKernels[k];
    names.push_back(std::string("pdldevice_") + signature.name);
    if (signature.isTyped)
      names.back() += isFloat ? "_f32" : "_f64";
    pdlrt::DeviceKernel kernel{names.back().c_str(), {}, runs[k]};
    for (const char *kind = signature.arguments; *kind; ++kind)
      kernel.arguments.push_back(*kind == 'n' ? pdlrt::DeviceArgument::Number
                                 : *kind == 'r'
                                     ? pdlrt::DeviceArgument::Read
                                     : pdlrt::DeviceArgument::Written);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

} // namespace pdltest

#endif // PDL_UNITTESTS_RUNTIME_TABLE_TABLEDEVICE_H
