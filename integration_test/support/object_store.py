# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An S3-compatible store for tests: moto's server after a proxy that injects faults.

The proxy checks the signature of each request with botocore, which computes it independently of
PDL. It records all requests. moto and boto3 come from PyPI (test_packages.py); tests are skipped
without them."""

import http.client
import http.server
import logging
import os
import re
import threading
import time
import urllib.parse

import test_packages
from waiting import LONG, wait_until

ACCESS, REGION = "AKIDTESTTESTTESTTEST", "us-east-1"
SECRET = "secret/with+signs=that/must+not+be/logged0"


def signature_of(method, url, headers, names):
    """Returns the signature that botocore computes for a request."""
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    token = headers.get("x-amz-security-token")
    auth = S3SigV4Auth(Credentials(ACCESS, SECRET, token), "s3", REGION)
    request = AWSRequest(method=method, url=url,
                         headers={name: headers[name] for name in names})
    request.context["timestamp"] = headers["x-amz-date"]
    canonical = auth.canonical_request(request)
    return auth.signature(auth.string_to_sign(request, canonical), request)


class Fault:
    """A fault for the requests that `matches(method, path)` accepts, `times` times.

    kind: `status` answers with 503 before the store sees the request, `lost` forwards the request
    and closes the connection instead of answering, `cut` sends half of the answer, `slow` waits
    before it answers. `held` waits until the event `released` is set. `denied` answers with 403."""

    def __init__(self, kind, times, matches=lambda method, path: True):
        self.kind, self.times, self.matches = kind, times, matches
        self.released = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *_):
        pass

    def refuse(self, status, code, message):
        body = (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>'
                f"<Message>{message}</Message></Error>").encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def check_signature(self, headers):
        given = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/[^,]*, SignedHeaders=([^,]*), "
            r"Signature=([0-9a-f]{64})", headers.get("authorization", ""))
        if not given:
            return "AccessDenied"
        if given[1] != ACCESS:
            return "InvalidAccessKeyId"
        expected = signature_of(self.command, f"http://{headers['host']}{self.path}", headers,
                                given[2].split(";"))
        return None if expected == given[3] else "SignatureDoesNotMatch"

    def answer(self):
        store = self.server.store
        with store.lock:
            store.active += 1
        try:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length) if length else b""
            headers = {name.lower(): value for name, value in self.headers.items()}
            path = urllib.parse.unquote(self.path)
            self.answer_request(store, body, headers, path)
        finally:
            with store.lock:
                store.active -= 1

    def answer_request(self, store, body, headers, path):
        store.requests.append((self.command, path, headers))
        refused = self.check_signature(headers)
        if refused:
            store.refused.append((refused, self.command, self.path))
            return self.refuse(403, refused, "the proxy of the test refuses the request")
        taken = store.take_fault(self.command, path)
        fault = taken.kind if taken else None
        if fault == "status":
            return self.refuse(503, "SlowDown", "Please reduce your request rate.")
        if fault == "denied":
            return self.refuse(403, "AccessDenied", "Access Denied.")
        if fault == "held":
            taken.released.wait(LONG)
        connection = http.client.HTTPConnection("127.0.0.1", store.port, timeout=30)
        # Short pages, so that each list has several.
        target = self.path
        if "list-type=2" in target:
            target = store.path_of_list(target) + "&max-keys=5"
        connection.request(self.command, target, body=body, headers=headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        if fault == "lost":
            self.close_connection = True
            return self.connection.close()
        if fault == "slow":
            threading.Event().wait(1)
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length", "server",
                                    "date"):
                self.send_header(name, value)
        size = response.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if fault == "cut":
            self.wfile.write(content[:len(content) // 2])
            self.wfile.flush()
            self.close_connection = True
            return self.connection.close()
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer


class ObjectStore:
    """moto's server and the proxy before it. `environment` has the variables of a client."""

    def __init__(self, bucket="bucket"):
        test_packages.require("moto", "boto3", "flask")
        import boto3
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.bucket, self.requests, self.refused, self.faults = bucket, [], [], []
        self.old_lists = None
        self.lock = threading.Lock()
        # Number of requests to which the proxy has not responded yet.
        self.active = 0
        self.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.moto.start()
        self.port = self.moto.get_host_and_port()[1]
        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.proxy.daemon_threads = True
        self.proxy.store = self
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self.proxy.server_address[1]}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.environment = {
            **kept, "AWS_ENDPOINT_URL_S3": self.endpoint, "AWS_ACCESS_KEY_ID": ACCESS,
            "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nonexistent",
            "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "NO_PROXY": "*"}
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", aws_access_key_id=ACCESS,
            aws_secret_access_key=SECRET, region_name=REGION)
        self.client.create_bucket(Bucket=bucket)

    def close(self):
        self.proxy.shutdown()
        self.proxy.server_close()
        self.moto.stop()

    def wait_until_idle(self):
        """Waits until no request is in progress, also of clients that have ended."""
        wait_until(lambda: self.active == 0, said=lambda: f"{self.active} requests are in progress")

    def take_fault(self, method, path):
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and fault.matches(method, path):
                    fault.times -= 1
                    return fault
        return None

    def path_of_list(self, path):
        """Returns the path from which the proxy takes a list."""
        bucket, question, query = path.partition("?")
        return (f"/{self.old_lists}" if self.old_lists else bucket) + question + query

    def show_old_lists(self, shows=lambda key: True):
        """From now on, lists show the current keys for which `shows(key)` holds, whatever is
        written or removed."""
        old = f"lists-{time.monotonic_ns()}"
        self.client.create_bucket(Bucket=old)
        for key in filter(shows, self.keys()):
            self.client.copy_object(Bucket=old, Key=key,
                                    CopySource={"Bucket": self.bucket, "Key": key})
        self.old_lists = old

    def show_current_lists(self):
        self.old_lists = None

    def delete(self, prefix):
        for key in self.keys(prefix):
            self.client.delete_object(Bucket=self.bucket, Key=key)

    def put(self, key, content):
        if hasattr(content, "read_bytes"):
            content = content.read_bytes()
        self.client.put_object(Bucket=self.bucket, Key=key, Body=content)

    def get(self, key):
        return self.client.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def keys(self, prefix=""):
        pages = self.client.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=prefix)
        return [entry["Key"] for page in pages for entry in page.get("Contents", [])]

    def unfinished_uploads(self):
        return self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])

    def address(self, key):
        return f"s3://{self.bucket}/{key}"
