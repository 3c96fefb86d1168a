//===- HttpCurl.cpp - HTTP requests by libcurl ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/HttpLibrary.h"

#include <curl/curl.h>

#include <atomic>
#include <cstring>

// This file uses no C++ library, so that the shared library runs on the oldest
// supported systems.

/// Handles that are not in use, with their open connections.
static std::atomic<CURL *> idleHandles[64];

/// Runs when the library is opened, before any of its functions is called.
[[gnu::constructor]] static void initialize() {
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

/// Returns an idle handle or a new one; null if there is no memory.
static CURL *takeHandle() {
  for (std::atomic<CURL *> &idle : idleHandles)
    if (CURL *const handle = idle.exchange(nullptr)) {
      curl_easy_reset(handle);
      return handle;
    }
  return curl_easy_init();
}

static void giveHandle(CURL *handle) {
  for (std::atomic<CURL *> &idle : idleHandles) {
    CURL *none = nullptr;
    if (idle.compare_exchange_strong(none, handle))
      return;
  }
  curl_easy_cleanup(handle);
}

static size_t takeHeader(char *bytes, size_t size, size_t count, void *into) {
  auto *const call = static_cast<pdlrt_http_call *>(into);
  size_t length = size * count;
  while (length > 0 && (bytes[length - 1] == '\r' || bytes[length - 1] == '\n'))
    --length;
  call->onHeader(call->context, bytes, length);
  return size * count;
}

static size_t takeBody(char *bytes, size_t size, size_t count, void *into) {
  auto *const call = static_cast<pdlrt_http_call *>(into);
  return call->onBody(call->context, bytes, size * count) ? size * count : 0;
}

static int checkCancelled(void *from, curl_off_t, curl_off_t, curl_off_t,
                          curl_off_t) {
  const auto *const call = static_cast<const pdlrt_http_call *>(from);
  return call->isCancelled(call->context);
}

/// Returns 1 for failures after which another attempt may succeed.
static int32_t isTransientCode(CURLcode code) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
  case CURLE_PARTIAL_FILE:
  case CURLE_OPERATION_TIMEDOUT:
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM:
  case CURLE_WEIRD_SERVER_REPLY:
    return 1;
  default:
    return 0;
  }
}

static void setOptions(CURL *handle, pdlrt_http_call *call, curl_slist *lines,
                       char *error) {
  curl_easy_setopt(handle, CURLOPT_URL, call->url);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  // Names of objects may contain "/../", which belongs to the name.
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, lines);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, long(call->connectSeconds));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1024L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, long(call->stallSeconds));
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 512L << 10);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, takeHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, call);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, takeBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, call);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, checkCancelled);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, call);
  if (call->authorities)
    curl_easy_setopt(handle, CURLOPT_CAINFO, call->authorities);
  if (std::strcmp(call->method, "HEAD") == 0) {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (std::strcmp(call->method, "PUT") == 0 ||
             std::strcmp(call->method, "POST") == 0) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     curl_off_t(call->bodyBytes));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call->body ? call->body : "");
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call->method);
  } else {
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call->method);
  }
}

static int32_t perform(pdlrt_http_call *call) {
  char error[CURL_ERROR_SIZE] = {};
  call->status = 0;
  call->error[0] = '\0';
  call->isTransient = 0;
  CURL *const handle = takeHandle();
  curl_slist *lines = nullptr;
  bool hasMemory = handle;
  for (size_t i = 0; hasMemory && i < call->headerCount; ++i) {
    curl_slist *const longer = curl_slist_append(lines, call->headers[i]);
    hasMemory = longer;
    lines = longer ? longer : lines;
  }
  CURLcode code = CURLE_OUT_OF_MEMORY;
  if (hasMemory) {
    setOptions(handle, call, lines, error);
    code = curl_easy_perform(handle);
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    call->status = int32_t(status);
  }
  curl_slist_free_all(lines);
  if (handle)
    giveHandle(handle);
  if (code == CURLE_OK)
    return 0;
  call->isTransient = isTransientCode(code);
  std::strncpy(call->error, *error ? error : curl_easy_strerror(code),
               sizeof(call->error) - 1);
  call->error[sizeof(call->error) - 1] = '\0';
  return int32_t(code);
}

extern "C" [[gnu::visibility("default")]] pdlrt_http_perform *
pdlrt_http_library(uint32_t version) {
  return version == PDLRT_HTTP_VERSION ? perform : nullptr;
}
