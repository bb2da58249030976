#!/usr/bin/env python3
"""Drives every feature of the example everything_server with the official Python SDK of this interpreter, 1.x or 2.x.

    python_features.py SERVER [ARGUMENT...]
    python_features.py URL

Each group of features runs once for each revision that this SDK supports, in the form of that revision. A line that
starts with RESULT sums up a group in one era; each error is printed in a line that starts with FAILED.
"""

import asyncio
import base64
import contextlib
import logging
import sys
import warnings

from python_client import HANDSHAKE, SDK, STATELESS, Failed, Problems, Sdk1, Sdk2, expect, is_url

if SDK.startswith("1."):
    import mcp.types as types
else:
    import mcp_types as types

GROUP_LIMIT = 30  # seconds
PROFILE = {"username": "ada", "email": "ada@example.com"}
CHOICES = {
    "untitledSingle": "option1",
    "titledSingle": "value2",
    "legacyEnum": "opt3",
    "untitledMulti": ["option1", "option2"],
    "titledMulti": ["value3"],
}


def plain(model):
    """Converts an SDK's object for a message back to JSON."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class World:
    """One connection, the host's answers on it, and the received notifications."""

    def __init__(self, command, version):
        self.version, self.stateless = version, version == STATELESS
        self.logged, self.heard, self.asked = [], [], []
        self.elicit = {"action": "accept", "content": {}}
        self.problems = Problems()
        callbacks = {
            "sampling_callback": self.on_sample,
            "elicitation_callback": self.on_elicit,
            "list_roots_callback": self.on_roots,
            "logging_callback": self.on_log,
        }
        problems = type("Handler", (), {"on_message": self.on_message})()
        if SDK.startswith("1."):
            self.peer = Sdk1(command, version, problems, **callbacks)
        else:
            if self.stateless:
                callbacks["log_level"] = "info"
            self.peer = Sdk2(command, version, problems, **callbacks)

    async def on_message(self, message):
        message = getattr(message, "root", message)
        if isinstance(message, Exception):
            self.problems.seen.append(repr(message))
        elif hasattr(message, "method"):
            self.heard.append(plain(message))

    async def on_log(self, params):
        self.logged.append(params.level)

    async def on_roots(self, context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada", name="Ada")])

    async def on_sample(self, context, params):
        self.asked.append(plain(params))
        content = types.TextContent(type="text", text="made by a model")
        return types.CreateMessageResult(role="assistant", content=content, model="m", **{"stopReason": "endTurn"})

    async def on_elicit(self, context, params):
        self.asked.append(plain(params))
        return types.ElicitResult(**self.elicit)

    @property
    def api(self):
        return self.peer.session if SDK.startswith("1.") else self.peer.client

    def since(self, version):
        return self.version >= version

    async def call(self, name, arguments=None, **options):
        content, structured, is_error = await self.peer.call(name, arguments, timeout=20, **options)
        return [plain(block) for block in content], structured, is_error

    async def text(self, name, arguments=None, **options):
        content, _, is_error = await self.call(name, arguments, **options)
        if is_error or len(content) != 1 or content[0]["type"] != "text":
            raise Failed(f"{name}: expected one text, got {content}")
        return content[0]["text"]

    def uri(self, uri):
        if SDK.startswith("1."):
            from pydantic import AnyUrl

            return AnyUrl(uri)
        return uri

    async def read(self, uri):
        return plain(await self.api.read_resource(self.uri(uri)))["contents"]

    async def hears(self, method, uri=None):
        """Waits for a notification, and removes it from `heard`. Fails after about four seconds."""
        for _ in range(200):
            for message in self.heard:
                if message["method"] == method and (uri is None or message["params"]["uri"] == uri):
                    self.heard.remove(message)
                    return
            await asyncio.sleep(0.02)
        raise Failed(f"{method} {uri or ''} was not heard, only {self.heard}")


async def refused(what, code, request):
    try:
        answer = await request
    except Exception as error:
        if not hasattr(error, "error"):
            raise
        expect(f"error code of {what}", error.error.code, code)
    else:
        raise Failed(f"{what} must be refused, but is {answer}")


async def content(world):
    expect("a text", await world.text("test_simple_text"), "This is a simple text response for testing.")
    [image], _, _ = await world.call("test_image_content", {})
    expect("an image", (image["type"], image["mimeType"]), ("image", "image/png"))
    expect("its bytes", base64.b64decode(image["data"])[:4], b"\x89PNG")
    if world.since("2025-03-26"):
        [sound], _, _ = await world.call("test_audio_content", {})
        expect("sound", (sound["type"], sound["mimeType"]), ("audio", "audio/wav"))
    [embedded], _, _ = await world.call("test_embedded_resource", {})
    expect("a resource in it", embedded["resource"]["text"], "This is an embedded resource content.")
    several, _, _ = await world.call("test_multiple_content_types", {})
    expect("several kinds", [block["type"] for block in several], ["text", "image", "resource"])
    shown, _, _ = await world.call("show_content", {})
    if world.since("2025-06-18") and "resource_link" not in [block["type"] for block in shown]:
        raise Failed(f"no link in {shown}")
    failed, _, is_error = await world.call("test_error_handling", {})
    expect("isError", (is_error, failed[0]["text"]), (True, "This tool intentionally returns an error for testing"))


async def structured(world):
    _, value, _ = await world.call("add", {"a": 1, "b": 2})
    expect("structuredContent", value, {"sum": 3} if world.since("2025-06-18") else None)


async def progress(world):
    steps = []

    async def on_progress(value, total, message):
        steps.append((value, total))

    await world.text("test_tool_with_progress", {}, progress=on_progress)
    expect("steps", steps, [(0, 2), (1, 2), (2, 2)])


async def cancel(world):
    try:
        await world.peer.call("slow", {"seconds": 1}, timeout=0.3)
    except world.peer.Error:
        pass
    else:
        raise Failed("slow was over in 0.3 seconds")
    expect("echo after it", await world.text("echo", {"message": "still there"}), "still there")
    if not world.peer.sends_cancel:
        # The server receives no cancellation, so its answer arrives after the call has ended.
        await asyncio.sleep(1)
        world.problems.seen.clear()


async def levels(world):
    if not world.stateless:
        await world.api.set_logging_level("info")
    await world.text("log", {"text": "hi"})
    every = ["info", "notice", "warning", "error", "critical", "alert", "emergency"]
    expect("levels", world.logged, every)
    if not world.stateless:
        await world.api.set_logging_level("error")
        world.logged.clear()
        await world.text("log", {"text": "hi"})
        expect("levels", world.logged, every[3:])
    world.logged.clear()
    await world.text("test_tool_with_logging", {})
    expect("log messages of a worker", len(world.logged), 3 if world.stateless else 0)


async def resources(world):
    listed = {entry["uri"]: entry for entry in plain(await world.api.list_resources())["resources"]}
    for uri in ("test://static-text", "test://static-binary", "test://watched-resource", "clock://ticks"):
        if uri not in listed:
            raise Failed(f"{uri} is not listed, only {sorted(listed)}")
    [part] = await world.read("test://static-text")
    expect("text", part["text"], "This is the content of the static text resource.")
    [part] = await world.read("test://static-binary")
    expect("bytes", (part["mimeType"], base64.b64decode(part["blob"])[:4]), ("image/png", b"\x89PNG"))
    code = -32602 if world.stateless else -32002
    await refused("a resource that is not there", code, world.read("test://nonexistent"))


async def templates(world):
    listed = plain(await world.api.list_resource_templates())["resourceTemplates"]
    expect("templates", [entry["uriTemplate"] for entry in listed], ["note://{name}", "test://template/{id}/data"])
    [part] = await world.read("test://template/123/data")
    expect("media type", part["mimeType"], "application/json")
    if "123" not in part["text"]:
        raise Failed(f"the id is not in {part}")


async def changes(world):
    if world.stateless:
        async with world.api.listen(resources_list_changed=True, tools_list_changed=True) as subscription:
            events = aiter(subscription)
            await world.call("write_note", {"name": "todo", "text": "interop"})
            expect("event", type(await anext(events)).__name__, "ResourcesListChanged")
            await world.call("test_trigger_prompt_change", {})
            await world.call("test_trigger_tool_change", {})
            expect("event", type(await anext(events)).__name__, "ToolsListChanged")
    else:
        await world.call("write_note", {"name": "todo", "text": "interop"})
        await world.hears("notifications/resources/list_changed")
        await world.call("test_trigger_tool_change", {})
        await world.hears("notifications/tools/list_changed")
        await world.call("test_trigger_prompt_change", {})
        await world.hears("notifications/prompts/list_changed")
    listed = [entry["uri"] for entry in plain(await world.api.list_resources())["resources"]]
    expect("the note is listed", "note://todo" in listed, True)
    expect("the note", (await world.read("note://todo"))[0]["text"], "interop")
    await world.text("remove_note", {"name": "todo"})


async def subscriptions(world):
    uri = "clock://ticks"
    if world.stateless:
        async with world.api.listen(resource_subscriptions=[uri]) as subscription:
            expect("what is honored", plain(subscription.honored), {"resourceSubscriptions": [uri]})
            events = aiter(subscription)
            for _ in range(2):
                await world.text("tick", {})
                event = await anext(events)
                expect("event", (type(event).__name__, event.uri), ("ResourceUpdated", uri))
        return
    await world.api.subscribe_resource(world.uri(uri))
    await world.text("tick", {})
    await world.hears("notifications/resources/updated", uri)
    await world.api.unsubscribe_resource(world.uri(uri))
    await world.text("tick", {})
    await world.peer.ping()
    expect("heard after it was ended", [it for it in world.heard if "updated" in it["method"]], [])


async def prompts(world):
    listed = {entry["name"]: entry for entry in plain(await world.api.list_prompts())["prompts"]}
    expect("arguments", [it["name"] for it in listed["test_prompt_with_arguments"]["arguments"]], ["arg1", "arg2"])

    async def said(name, arguments=None):
        messages = plain(await world.api.get_prompt(name, arguments))["messages"]
        return [(message["role"], message["content"]) for message in messages]

    [(role, block)] = await said("test_simple_prompt")
    expect("a prompt", (role, block["text"]), ("user", "This is a simple prompt for testing."))
    [(_, block)] = await said("test_prompt_with_arguments", {"arg1": "ä", "arg2": "b"})
    expect("its arguments", block["text"], "Prompt with arguments: arg1='ä', arg2='b'")
    (_, block), _ = await said("test_prompt_with_embedded_resource", {"resourceUri": "test://static-text"})
    expect("a resource in it", block["resource"]["uri"], "test://static-text")
    (_, block), _ = await said("test_prompt_with_image")
    expect("an image in it", (block["type"], block["mimeType"]), ("image", "image/png"))
    await refused("a prompt without its argument", -32602, said("test_prompt_with_arguments", {"arg1": "a"}))
    await refused("an unknown prompt", -32602, said("no_such_prompt"))


async def completion(world):
    async def values(name, argument, value):
        reference = types.PromptReference(type="ref/prompt", name=name)
        result = await world.api.complete(reference, {"name": argument, "value": value})
        return plain(result)["completion"]["values"]

    expect("par", await values("test_prompt_with_arguments", "arg1", "par"), ["paris", "park", "party"])
    expect("part", await values("test_prompt_with_arguments", "arg1", "part"), ["party"])
    expect("c", await values("discuss_note", "mood", "c"), ["critical", "curious"])
    expect("nothing", await values("discuss_note", "mood", "x"), [])


async def sampling(world):
    text = await world.text("test_sampling", {"prompt": "say something"})
    expect("what the model said", text, "LLM response: made by a model")
    said = world.asked[-1]
    expect("what it was asked", (said["messages"][0]["content"]["text"], said["maxTokens"]), ("say something", 100))


async def roots(world):
    expect("roots", await world.text("ask_roots", {}), "Roots: file:///home/ada")


async def elicitation(world):
    world.elicit = {"action": "accept", "content": PROFILE}
    text = await world.text("test_elicitation", {"message": "Who?"})
    if "action=accept" not in text or "ada@example.com" not in text:
        raise Failed(f"the form's content is not in {text}")
    expect("what was asked", world.asked[-1]["message"], "Who?")
    for action in ("decline", "cancel"):
        world.elicit = {"action": action}
        text = await world.text("test_elicitation", {"message": "Who?"})
        expect(action, f"action={action}" in text, True)
    world.elicit = {"action": "accept", "content": {"name": "Ada", "age": 36, "score": 1.5, "verified": False}}
    text = await world.text("test_elicitation_sep1034_defaults", {})
    expect("defaults", world.asked[-1]["requestedSchema"]["properties"]["age"]["default"], 30)
    expect("numbers", '"age":36' in text and '"score":1.5' in text, True)
    if world.since("2025-11-25"):
        world.elicit = {"action": "accept", "content": CHOICES}
        text = await world.text("test_elicitation_sep1330_enums", {})
        expect("choices", '"untitledMulti":["option1","option2"]' in text, True)


async def urls(world):
    world.elicit = {"action": "accept"}
    text = await world.text("ask_page", {})
    expect("page", (world.asked[-1]["mode"], "action=accept" in text), ("url", True))


async def rounds(world):
    world.elicit = {"action": "accept", "content": {"name": "Ada", "color": "blue", "ok": True, "context": "c"}}
    hello = await world.text("test_input_required_result_elicitation", {})
    expect("one round", hello, "Hello, Ada!")
    expect("a state", "state-ok" in await world.text("test_input_required_result_request_state", {}), True)
    several = await world.text("test_input_required_result_multiple_inputs", {})
    expect("three questions at once", several, 'made by a model, "Ada", in 1 roots')
    expect("two rounds", "blue" in await world.text("test_input_required_result_multi_round", {}), True)
    prompt = plain(await world.api.get_prompt("test_input_required_result_prompt"))
    expect("a prompt that asks", len(prompt["messages"]) > 0, True)


GROUPS = {
    "content": (content, "2024-11-05"),
    "structured content": (structured, "2024-11-05"),
    "progress": (progress, "2024-11-05"),
    "cancel": (cancel, "2024-11-05"),
    "logging": (levels, "2024-11-05"),
    "resources": (resources, "2024-11-05"),
    "templates": (templates, "2024-11-05"),
    "list changes": (changes, "2024-11-05"),
    "subscriptions": (subscriptions, "2024-11-05"),
    "prompts": (prompts, "2024-11-05"),
    "completion": (completion, "2024-11-05"),
    "sampling": (sampling, "2024-11-05"),
    "roots": (roots, "2024-11-05"),
    "elicitation": (elicitation, "2025-06-18"),
    "url elicitation": (urls, "2025-11-25"),
    "rounds": (rounds, STATELESS),
}


def innermost(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) if isinstance(error, Failed) else repr(error)


async def run(command, version, failures):
    """Runs each group that the revision has. A failed group does not stop the others."""
    logging.getLogger().handlers = []
    world = World(command, version)
    async with world.peer:
        for name, (check, since) in GROUPS.items():
            if version < since:
                continue
            try:
                async with asyncio.timeout(GROUP_LIMIT):
                    await check(world)
                world.problems.none()
                print(f"  ok  {name}", flush=True)
            except TimeoutError:
                failures.setdefault(name, []).append(f"{version}: nothing happened for {GROUP_LIMIT} s")
            except Exception as error:
                failures.setdefault(name, []).append(f"{version}: {innermost(error)}")


def main():
    warnings.simplefilter("ignore")
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    transport = " over HTTP" if is_url(command) else ""
    failed = False
    # Skip 2024-11-05, which has another transport for HTTP.
    handshake = HANDSHAKE[1:] if is_url(command) else HANDSHAKE
    for era, versions in (("handshake", handshake), ("stateless", [] if SDK.startswith("1.") else [STATELESS])):
        failures = {}
        for version in versions:
            print(f"python mcp {SDK}, features | {version}", flush=True)
            try:
                asyncio.run(run(command, version, failures))
            except BaseException as error:
                failures.setdefault("connection", []).append(f"{version}: {innermost(error)}")
        for name in [*GROUPS, "connection"] if versions else []:
            if versions[-1] < GROUPS.get(name, (None, ""))[1]:
                continue
            for why in failures.get(name, []):
                print(f"FAILED {name}, {why}")
            verdict = "FAILED" if name in failures else "ok"
            print(f"RESULT python mcp {SDK}{transport}, {name} | {era} | {verdict}", flush=True)
            failed |= name in failures
    sys.exit(failed)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
