//===- Threads.h - Shared by tests of device functions ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_DEVICELIBRARY_THREADS_H
#define PDL_UNITTESTS_DEVICELIBRARY_THREADS_H

#include "pdlabi/abi/codes.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <random>
#include <span>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace pdltest {

using ElementTypes = testing::Types<float, double>;

template <typename T>
inline constexpr int32_t typeCode =
    std::is_same_v<T, float> ? PDL_F32 : PDL_F64;

/// Chooses the function for an element type.
template <typename T, typename Float, typename Double>
constexpr auto choose(Float *f32, Double *f64) {
  if constexpr (std::is_same_v<T, float>)
    return f32;
  else
    return f64;
}
#define PDL_DEVICE_FUNCTION(T, name)                                           \
  ::pdltest::choose<T>(pdldevice_##name##_f32, pdldevice_##name##_f64)

/// Numbers of threads to test with: a single one, fewer than there are turns,
/// and more.
inline constexpr int64_t threadCounts[] = {1, 3, 7, 1000, 5000};

/// Calls body(first, stride) for each of `threads` threads, in any order.
template <typename Body>
void runThreads(int64_t threads, std::mt19937 &random, Body body) {
  std::vector<int64_t> order(static_cast<size_t>(threads));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (int64_t thread : order)
    body(thread, threads);
}

/// End of a Fenced array that is directly followed by its fence.
enum class Fence { before, after };
inline constexpr Fence fences[] = {Fence::before, Fence::after};

/// Elements with inaccessible memory before and after them. At one end it
/// starts immediately, at the other with the next page.
template <typename T> class Fenced {
public:
  Fenced(const std::vector<T> &values, Fence fence) : count(values.size()) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = count * sizeof(T);
    inside = (bytes + page - 1) / page * page;
    size = inside + 2 * page;
    void *memory =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    base = static_cast<char *>(memory);
    begin = base + page;
    mprotect(begin, inside, PROT_READ | PROT_WRITE);
    elements = reinterpret_cast<T *>(
        fence == Fence::before ? begin : begin + inside - bytes);
    std::copy(values.begin(), values.end(), elements);
  }
  /// Input that a kernel may only read.
  static Fenced input(const std::vector<T> &values, Fence fence) {
    Fenced result(values, fence);
    mprotect(result.begin, result.inside, PROT_READ);
    return result;
  }
  Fenced(Fenced &&other) noexcept
      : count(other.count), size(other.size), inside(other.inside),
        base(std::exchange(other.base, nullptr)), begin(other.begin),
        elements(other.elements) {}
  Fenced &operator=(Fenced &&) = delete;
  ~Fenced() {
    if (base)
      munmap(base, size);
  }
  T *data() const { return elements; }
  std::span<const T> values() const { return {elements, count}; }

private:
  size_t count, size, inside;
  char *base, *begin;
  T *elements;
};

template <typename T> bool sameBits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b);
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <typename T>
void expectSameBits(std::span<const T> got, std::span<const T> want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(sameBits(got[i], want[i]))
        << "element " << i << ": " << got[i] << ", not " << want[i];
}

/// Kinds of numbers of a test.
enum class Numbers {
  normal,  ///< about 1, as in real models
  extreme, ///< now and then NaN, infinite, denormal, or a zero of some sign
  tiny     ///< about the least normal number
};
inline constexpr Numbers numbers[] = {Numbers::normal, Numbers::extreme,
                                      Numbers::tiny};

template <typename T> T anyNumber(Numbers kind, std::mt19937 &random) {
  using Limits = std::numeric_limits<T>;
  const T normal = std::normal_distribution<T>()(random);
  if (kind == Numbers::tiny)
    return normal * Limits::min();
  if (kind == Numbers::normal || random() % 16)
    return normal;
  const T specials[] = {Limits::quiet_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        T(0),
                        -T(0),
                        Limits::denorm_min(),
                        -3 * Limits::denorm_min(),
                        Limits::max()};
  // The sums of small shapes must not all be NaN.
  const size_t kinds = random() % 8 ? 5 : 0;
  return specials[kinds + random() % (std::size(specials) - kinds)];
}

template <typename T>
std::vector<T> anyNumbers(int64_t count, Numbers kind, std::mt19937 &random) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T &value : values)
    value = anyNumber<T>(kind, random);
  return values;
}

} // namespace pdltest

#endif // PDL_UNITTESTS_DEVICELIBRARY_THREADS_H
