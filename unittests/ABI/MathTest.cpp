//===- MathTest.cpp - The scalar functions against the C library ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatReference.h"

#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace pdltest;

extern "C" {
float pdlabi_expf(float x);
float pdlabi_logf(float x);
float pdlabi_log1pf(float x);
float pdlabi_tanhf(float x);
float pdlabi_sigmoidf(float x);
float pdlabi_sinf(float x);
float pdlabi_cosf(float x);
double pdlabi_pow(double x, double y);
double pdlabi_cos(double x);
double pdlabi_sin(double x);
}

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double infinity64 = std::numeric_limits<double>::infinity();

/// Returns arguments spread over f32, and all floats around the points where a
/// function changes its method. FloatSweep covers all floats.
std::vector<float> sampledFloats() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 16411)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float center : {0.0f, 0x1p-126f, 0.3333333f, 0.625f, 0.6666667f, 1.0f,
                       1.3333334f, 88.72284f, 87.33655f, 103.97208f, infinity})
    for (float sign : {1.0f, -1.0f}) {
      const uint32_t bits = std::bit_cast<uint32_t>(sign * center);
      for (uint32_t near = bits - 500; near != bits + 500; ++near)
        values.push_back(std::bit_cast<float>(near));
    }
  return values;
}

TEST(MathTest, FloatFunctionsAreWithinTheirBound) {
  const std::vector<float> in = sampledFloats();
  std::vector<float> out(in.size());
  for (const FloatFunction &function : floatFunctions) {
    function.compute(in.data(), out.data(), static_cast<int64_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_LE(ulpsOff(out[i], function.reference(in[i])), ulpBound)
          << function.name << " at " << in[i];
  }
}

TEST(MathTest, LoopsAndSingleCallsGiveTheSameBits) {
  const std::vector<float> in = sampledFloats();
  std::vector<float> out(in.size());
  using Function = float (*)(float);
  const Function exported[] = {pdlabi_expf,  pdlabi_logf,     pdlabi_log1pf,
                               pdlabi_tanhf, pdlabi_sigmoidf, pdlabi_sinf,
                               pdlabi_cosf};
  for (size_t f = 0; f < std::size(exported); ++f) {
    floatFunctions[f].compute(in.data(), out.data(),
                              static_cast<int64_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      const float single = exported[f](in[i]);
      ASSERT_TRUE(std::bit_cast<uint32_t>(single) ==
                      std::bit_cast<uint32_t>(out[i]) ||
                  (std::isnan(single) && std::isnan(out[i])))
          << floatFunctions[f].name << " at " << in[i];
    }
  }
}

TEST(MathTest, ExactFloatValues) {
  EXPECT_EQ(pdlabi::exp(0.0f), 1.0f);
  EXPECT_EQ(pdlabi::exp(-infinity), 0.0f);
  EXPECT_EQ(pdlabi::exp(infinity), infinity);
  EXPECT_EQ(pdlabi::log(1.0f), 0.0f);
  EXPECT_EQ(pdlabi::log(0.0f), -infinity);
  EXPECT_EQ(pdlabi::log(-0.0f), -infinity);
  EXPECT_EQ(pdlabi::log(infinity), infinity);
  EXPECT_TRUE(std::isnan(pdlabi::log(-1.0f)));
  EXPECT_EQ(pdlabi::log1p(-1.0f), -infinity);
  EXPECT_TRUE(std::isnan(pdlabi::log1p(-1.5f)));
  EXPECT_EQ(pdlabi::log1p(0x1p-149f), 0x1p-149f);
  EXPECT_TRUE(std::signbit(pdlabi::log1p(-0.0f)));
  EXPECT_TRUE(std::signbit(pdlabi::tanh(-0.0f)));
  EXPECT_EQ(pdlabi::tanh(-infinity), -1.0f);
  EXPECT_EQ(pdlabi::sigmoid(0.0f), 0.5f);
  EXPECT_EQ(pdlabi::sigmoid(-infinity), 0.0f);
  EXPECT_EQ(pdlabi::sigmoid(infinity), 1.0f);
  // A denormal result is kept.
  EXPECT_GT(pdlabi::sigmoid(-100.0f), 0.0f);
  EXPECT_LT(pdlabi::sigmoid(-100.0f), 0x1p-126f);
}

TEST(MathTest, TurnsAreWithinTheirBound) {
  double worst = 0;
  for (int i = -(1 << 24); i < (1 << 24); i += 7) {
    const float turns = static_cast<float>(i) * 0x1p-24f;
    const double angle = 2 * M_PI * static_cast<double>(turns);
    worst =
        std::max({worst, std::fabs(pdlabi::sinTurns(turns) - std::sin(angle)),
                  std::fabs(pdlabi::cosTurns(turns) - std::cos(angle))});
  }
  EXPECT_LE(worst, 0x1p-23);
  EXPECT_EQ(pdlabi::cosTurns(0.25f), 0.0f);
  EXPECT_EQ(pdlabi::sinTurns(0.25f), 1.0f);
  EXPECT_EQ(pdlabi::cosTurns(-1000.5f), -1.0f);
}

/// Returns the spacing of doubles at `reference`, but at least that of
/// denormals.
double spacing(long double reference) {
  const double magnitude = std::fabs(static_cast<double>(reference));
  return std::nextafter(magnitude, infinity64) - magnitude;
}

TEST(MathTest, PowIsWithinItsBound) {
  std::mt19937_64 random(11);
  double worst = 0;
  const auto check = [&](double x, double y) {
    const long double reference =
        std::pow(static_cast<long double>(x), static_cast<long double>(y));
    const double value = pdlabi::pow(x, y);
    if (std::fabs(reference) >= 0x1p+1024L || std::fabs(reference) < 0x1p-1022L)
      return;
    const double ulps = static_cast<double>(
        std::fabs(static_cast<long double>(value) - reference) /
        spacing(reference));
    ASSERT_LE(ulps, 1.0) << x << " to the " << y;
    worst = std::max(worst, ulps);
  };
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 200000; ++i) {
    // Test powers such as those of Adam and of schedules.
    check(1 - std::ldexp(1 + unit(random), -1 - i % 20), i % 5000);
    check(unit(random), 20 * unit(random) - 10);
    check(std::exp(1400 * unit(random) - 700), 2 * unit(random) - 1);
    check(1 + std::ldexp(unit(random) - 0.5, -(i % 40)),
          std::ldexp(unit(random) - 0.5, i % 50));
  }
  EXPECT_GT(worst, 0.45);
}

TEST(MathTest, PowOverflowsUnderflowsAndReachesDenormals) {
  EXPECT_EQ(pdlabi_pow(2, 1024), infinity64);
  EXPECT_EQ(pdlabi_pow(-2, 1025), -infinity64);
  EXPECT_EQ(pdlabi_pow(2, 1023), 0x1p+1023);
  EXPECT_EQ(pdlabi_pow(2, -1074), 0x1p-1074);
  EXPECT_EQ(pdlabi_pow(0x1p-1074, 0.5), 0x1p-537);
  EXPECT_EQ(pdlabi_pow(2, -1080), 0.0);
  EXPECT_EQ(pdlabi_pow(10, 1e300), infinity64);
  EXPECT_EQ(pdlabi_pow(10, -1e300), 0.0);
  EXPECT_EQ(pdlabi_pow(3, 2), 9.0);
}

/// The C library's function implements the exceptional cases of Annex F.
TEST(MathTest, PowTreatsExceptionalCasesAsCDoes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {
      0.0,      -0.0,       1.0,         -1.0, 2.0,      -2.0,       0.5,
      -0.5,     3.0,        -3,          2.5,  0x1p53,   0x1p53 + 2, 0x1p996,
      -0x1p996, infinity64, -infinity64, nan,  0x1p-1074};
  for (double x : values)
    for (double y : values) {
      const double reference = std::pow(x, y);
      const double value = pdlabi::pow(x, y);
      if (std::isnan(reference)) {
        EXPECT_TRUE(std::isnan(value)) << x << " to the " << y;
        continue;
      }
      EXPECT_EQ(std::bit_cast<uint64_t>(value),
                std::bit_cast<uint64_t>(reference))
          << x << " to the " << y << ": " << value;
    }
}

TEST(MathTest, SinAndCosAreWithinTheirBound) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto checkOne = [](double x, double found, long double reference) {
    const double error = static_cast<double>(
        std::fabs(static_cast<long double>(found) - reference));
    // Near a zero, the long double reference itself is not exact.
    ASSERT_LE(error, std::max(spacing(reference), 0x1p-80)) << x;
  };
  const auto check = [&](double x) {
    checkOne(x, pdlabi_cos(x), std::cos(static_cast<long double>(x)));
    checkOne(-x, pdlabi_sin(-x), std::sin(static_cast<long double>(-x)));
  };
  for (int i = 0; i < 300000; ++i) {
    check(M_PI * unit(random));
    check(1000 * (unit(random) - 0.5));
    check(0x1p+24 * unit(random));
  }
  for (int n = 1; n < 100000; n += 2)
    check(n * M_PI_2);
  EXPECT_EQ(pdlabi_cos(0.0), 1.0);
  EXPECT_EQ(pdlabi_cos(M_PI), -1.0);
  EXPECT_TRUE(std::isnan(pdlabi_cos(infinity64)));
  EXPECT_TRUE(std::isnan(pdlabi_cos(0x1p+25)));
  EXPECT_EQ(pdlabi_sin(M_PI_2), 1.0);
  EXPECT_TRUE(std::signbit(pdlabi_sin(-0.0)));
  EXPECT_TRUE(std::isnan(pdlabi_sin(-infinity64)));
}

} // namespace
