# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0
"""A libzmq peer for the tests of pkg/zmtp and pkg/kvevents.

Usage: peer.py publish|replay ENDPOINT MESSAGES BYTES [old|new]

Prints the endpoint it has bound, serves, and ends when its standard input does.
"""

import os
import struct
import sys
import threading
import time

import zmq

HEARTBEAT_MS = 20
TOPIC = b"kv-events"
END = b"\xff" * 8


def payload(sequence, size):
    """Bytes by which a reader knows the message, whatever its length."""
    return struct.pack(">Q", sequence) + b"x" * (size - 8)


def bind(socket, endpoint):
    if endpoint.endswith(":0"):
        port = socket.bind_to_random_port(endpoint[: -len(":0")])
        endpoint = endpoint[:-1] + str(port)
    else:
        socket.bind(endpoint)
    print(endpoint, flush=True)


def publish(context, endpoint, messages, size):
    """Send messages slowly enough for heartbeats to be due between them."""
    socket = context.socket(zmq.XPUB)
    socket.set(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
    socket.set(zmq.HEARTBEAT_TIMEOUT, 50 * HEARTBEAT_MS)
    socket.set(zmq.SNDHWM, 0)
    bind(socket, endpoint)
    subscription = socket.recv()
    assert subscription[:1] == b"\x01", subscription
    for sequence in range(messages):
        if sequence < 40:
            time.sleep(2 * HEARTBEAT_MS / 1000)
        socket.send_multipart([TOPIC, struct.pack(">Q", sequence), payload(sequence, size)])
    # A socket that goes with unread heartbeats resets the connection, and what is
    # still under way to a slow reader with it.
    threading.Event().wait()


def replay(context, endpoint, messages, size, form):
    """Answer like an engine: everything from the start on, at full speed."""
    socket = context.socket(zmq.ROUTER)
    bind(socket, endpoint)
    middle = [TOPIC] if form == "new" else []
    while True:
        identity, empty, start = socket.recv_multipart()
        assert empty == b"", empty
        for sequence in range(struct.unpack(">Q", start)[0], messages):
            socket.send_multipart([identity, b"", *middle, struct.pack(">Q", sequence), payload(sequence, size)])
        socket.send_multipart([identity, b"", *([b""] if middle else []), END, b""])


def main():
    mode, endpoint, messages, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    context = zmq.Context()
    if mode == "publish":
        work = (publish, (context, endpoint, messages, size))
    else:
        work = (replay, (context, endpoint, messages, size, sys.argv[5]))
    threading.Thread(target=work[0], args=work[1], daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
