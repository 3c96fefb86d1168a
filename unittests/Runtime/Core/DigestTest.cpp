//===- DigestTest.cpp - Published vectors of keyed digests ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Sha256.h"
#include "pdlrt/Core/SipHash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

using namespace pdlrt;

static std::string hex(const void *data, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    const unsigned byte = static_cast<const uint8_t *>(data)[i];
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

// Examples of FIPS 180-4, and sizes around that of a block.
TEST(DigestTest, Sha256) {
  const auto digest = [](const std::string &text) {
    return hex(sha256(text).data(), 32);
  };
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb924"
                        "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223"
                           "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

// Cases 1, 2, 6 and 7 of RFC 4231.
TEST(DigestTest, HmacSha256) {
  const auto digest = [](const std::string &key, const std::string &text) {
    return hex(hmacSha256(key, text).data(), 32);
  };
  EXPECT_EQ(digest(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b"
            "881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(digest("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c7"
            "5a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(digest(std::string(131, '\xaa'),
                   "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f"
            "8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(digest(std::string(131, '\xaa'),
                   "This is a test using a larger than block-size key and a "
                   "larger than block-size data. The key needs to be hashed "
                   "before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944"
            "bfdc63644f0713938a7f51535c3a35e2");
}

// The vectors of the reference implementation: the key is 00 01 ... 0f, the
// text 00 01 ... with 0, 1 and 15 bytes.
TEST(DigestTest, SipHash) {
  SipKey key;
  std::string text;
  for (int i = 0; i < 16; ++i)
    text += char(i);
  std::memcpy(key.data(), text.data(), sizeof(key));
  const auto digest = [&](size_t size) {
    const SipDigest value = sipHash128(key, text.substr(0, size));
    return hex(value.data(), sizeof(value));
  };
  EXPECT_EQ(digest(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(digest(1), "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(digest(15), "5493e99933b0a8117e08ec0f97cfc3d9");
}

TEST(DigestTest, EqualInConstantTimeComparesAllBytes) {
  EXPECT_TRUE(equalInConstantTime("", ""));
  EXPECT_TRUE(equalInConstantTime("sesam", "sesam"));
  for (const char *other : {"", "sesa", "sesame", "Sesam", "sesan"})
    EXPECT_FALSE(equalInConstantTime("sesam", other)) << other;
}
