#!/usr/bin/env python3
"""Calls tools of a board until stdin ends, with the official Python SDK of this interpreter; `noise_run.py` starts it.

    python_calls.py MODE PROGRAM
"""

import asyncio
import sys
import threading

from python_client import SDK, Problems, Sdk1, Sdk2, text_of

LIMIT = 60  # seconds for a call


async def calls(peer, has_ended, name, arguments):
    number = 0
    while not has_ended.is_set():
        number += 1
        given, wanted = arguments(number)
        try:
            content, _, is_error = await peer.call(name, given, timeout=LIMIT)
        except peer.Error as error:
            print("error", name, error.error.code, flush=True)
            continue
        if is_error or text_of(content) != wanted:
            sys.exit(f"{name} {given} responds {content}")
        print("ok", name, flush=True)


async def main(mode, program):
    has_ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), has_ended.set()), daemon=True).start()
    async with (Sdk1 if SDK.startswith("1.") else Sdk2)([program], mode, Problems()) as peer:
        await asyncio.gather(
            calls(peer, has_ended, "led_set", lambda n: ({"on": n % 2 == 0}, f"the LED is {'off' if n % 2 else 'on'}")),
            calls(peer, has_ended, "self_test", lambda _: ({}, "test passed")),
        )


asyncio.run(main(*sys.argv[1:]))
