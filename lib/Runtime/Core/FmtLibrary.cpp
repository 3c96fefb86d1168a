//===- FmtLibrary.cpp - Functions of the fmt library ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the functions of the fmt library once, for all files that format
// messages. With fmt as headers only, each of these files would contain them.
// With the fmt library, compiled programs would need it at run time.
//
//===----------------------------------------------------------------------===//

#include <fmt/format-inl.h>

// Another release may have other templates in its library.
static_assert(FMT_VERSION / 10000 == 9, "look through the list below");

FMT_BEGIN_NAMESPACE
namespace detail {

// Templates that fmt's headers declare and its library defines.
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template thousands_sep_result<wchar_t> thousands_sep_impl<wchar_t>(locale_ref);
template char decimal_point_impl(locale_ref);
template wchar_t decimal_point_impl(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;

} // namespace detail
FMT_END_NAMESPACE
