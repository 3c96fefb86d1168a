//===- HttpLibrary.h - HTTP requests in a library of its own ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs must run on hosts without libcurl. A program therefore opens
// `libpdl-http.so.1` in its folder when it uses the first address of an object
// store. The interface is in C, because the library and the program contain
// different C++ libraries.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_HTTPLIBRARY_H
#define LIB_RUNTIME_FILES_S3_HTTPLIBRARY_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// Changes with each change of this interface.
enum : uint32_t { PDLRT_HTTP_VERSION = 1 };

/// A request and its response. The library writes only the last group.
struct pdlrt_http_call {
  const char *method;
  const char *url;
  /// Lines `Name: value`.
  const char *const *headers;
  size_t headerCount;
  const char *body;
  size_t bodyBytes;
  /// File with certificates of authorities; null: those of the host.
  const char *authorities;
  /// Time limits in seconds: to connect, and for a transfer that moves less
  /// than 1 KiB/s.
  int32_t connectSeconds, stallSeconds;
  void *context;
  /// Receives a header line of the response, without its line end.
  void (*onHeader)(void *context, const char *line, size_t size);
  /// Receives bytes of the response's body; returning 0 ends the transfer.
  int (*onBody)(void *context, const char *bytes, size_t size);
  /// Returns 1 if the transfer must end.
  int (*isCancelled)(void *context);

  /// Status code of the response; 0: there was none.
  int32_t status;
  /// Message of a transfer that failed; empty: it was complete.
  char error[256];
  /// 1 if the failure is one of the network, so that another attempt may
  /// succeed.
  int32_t isTransient;
};

/// Performs a request. Connections are kept for later requests. Returns 0 if
/// there was a complete response, whatever its status. Thread-safe.
using pdlrt_http_perform = int32_t(pdlrt_http_call *call);

/// Returns the function; null if `version` is not PDLRT_HTTP_VERSION.
pdlrt_http_perform *pdlrt_http_library(uint32_t version);
}

#endif // LIB_RUNTIME_FILES_S3_HTTPLIBRARY_H
