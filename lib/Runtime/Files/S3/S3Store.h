//===- S3Store.h - S3-compatible object stores ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_S3STORE_H
#define LIB_RUNTIME_FILES_S3_S3STORE_H

#include "Files/S3/S3Client.h"
#include "pdlrt/Files/Store.h"

#include <memory>

namespace pdlrt {

/// Returns the store of addresses `s3://`. Reads the settings of the process at
/// the first call, and returns their error if there is one. Thread-safe.
Expected<Store *> s3Store();

/// Creates a store that sends its requests by `client`. For tests.
std::unique_ptr<Store> createS3Store(std::unique_ptr<S3Client> client);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_S3STORE_H
