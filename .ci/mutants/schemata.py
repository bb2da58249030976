"""A copy of the repository in which one build holds all mutants; an environment variable selects one at run time."""

import collections
import json
import os
import pathlib
import re
import subprocess
import zlib

PACKAGES = {"mcp-proto": "crate", "mcp-proto-embedded": "::mcp_proto"}
TESTED = ["mcp-proto"] + [f"mcp-proto-{name}" for name in ("embedded", "proptests", "tests", "transcripts")]
MEMBERS = ["adapters/embedded", "adapters/framed-link", "adapters/http", "macros", "proptests", "tests", "tests/transcripts"]
TEST_FILES = ["tests", "adapters/inspect/src/tap", "adapters/handles/fixtures", "fuzz/regressions"]
# Tests that start programs or read files of the repository. Such tests cannot catch a mutant.
LEFT_OUT = ["event_loop", "examples", "forms", "inspect", "layers", "output_schemas", "url_bridge"]
# The dependencies of these tests and of the examples.
UNUSED = ["axum", "getrandom", "mio", "rustix", "tokio", *(f"mcp-proto-{name}" for name in ("http", "std", "tokio", "tower"))]
UNSTABLE = "#![feature(core_intrinsics, const_eval_select)] #![allow(internal_features)] "
SELECTED = "mod selected; #[doc(hidden)] pub use selected::selected; mod buffer;"
FEATURES = [f"mcp-proto/{feature}" for feature in ("std", "derive", "heapless", "monitor")]
FEATURES += [f"mcp-proto-embedded/{feature}" for feature in ("heapless", "framed", "http")]
# Text in which braces have no meaning: comments, strings, raw strings, characters.
OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|b?r(#*)".*?"\1|b?'(?:\\[^\n]+?|[^\\'\n])'""", re.DOTALL
)
# A statement in one line that is not a declaration or a jump: a call or an assignment.
STATEMENT = re.compile(r"^ +((?!let |return\b|break\b|continue\b|use |const |static )[a-z_*(][^\n]*;)$", re.MULTILINE)


class Mutant:
    """A change of a function. `key` identifies it without line numbers."""

    def __init__(self, file, text, description, span, replacement, function):
        self.file, self.description, self.replacement = file, description, replacement
        (self.start, self.end), self.function = span, function
        # `first` is the lowest number of a mutant of the function. This number identifies the function.
        self.number, self.first, self.key = 0, 0, None
        # Whether the compiler may be the only caller of the function. The compiler evaluates the original.
        self.is_constant = self.function and re.search(r"\bconst fn\b", text[slice(*function)].split("{", 1)[0])
        # Identifies the text of the function, for mutants that did not compile in an earlier run.
        self.stamp = self.function and zlib.crc32(text[slice(*self.function)].encode())


def offset(text, position):
    """The index of a line and column, both counted from one."""
    index = 0
    for _ in range(position["line"] - 1):
        index = text.index("\n", index) + 1
    return index + position["column"] - 1


def span_of(text, found):
    return tuple(offset(text, found["span"][side]) for side in ("start", "end"))


def list_mutants(root):
    """The mutants that cargo-mutants proposes, and one without each statement, which cargo-mutants does not propose."""
    command = ["cargo", "mutants", "--list", "--json", "--colors=never", "--no-config", "--dir", root]
    command += [f"--package={package}" for package in PACKAGES]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    texts = {file: (root / file).read_text() for file in {one["file"] for one in found}}
    mutants, functions = [], {}
    for one in found:
        file, text, function = one["file"], texts[one["file"]], one["function"]
        span = function and span_of(text, function)
        description = one["name"].split(": ", 1)[1]
        mutants.append(Mutant(file, text, description, span_of(text, one), one["replacement"], span))
        if function:
            functions[file, span] = function["function_name"]
    deleted = {}
    for (file, span), name in sorted(functions.items()):
        for statement in STATEMENT.finditer(texts[file], *body_of(texts[file], span)):
            code = statement[1]
            before = texts[file][: statement.start()].rstrip().rsplit("\n", 1)[-1].lstrip()
            # If the line before does not end a statement or a block, this line continues an expression.
            begins = before.endswith((";", "{", "}")) or before.startswith("//")
            if begins and all(code.count(pair[0]) == code.count(pair[1]) for pair in ("()", "{}", "[]")):
                # The innermost function comes last.
                description = f"delete statement {code} in {name}"
                deleted[file, statement.start(1)] = Mutant(file, texts[file], description, statement.span(1), "", span)
    mutants = sorted([*mutants, *deleted.values()], key=lambda one: (one.file, one.start))
    seen = collections.Counter()
    for mutant in mutants:
        mutant.key = f"{mutant.file}: {mutant.description}"
        seen[mutant.key] += 1
        if seen[mutant.key] > 1:
            mutant.key += f" ({seen[mutant.key]})"
    return mutants


def copy_tree(root, tree, mutated):
    """Copies what the tested packages need, except the `mutated` files. Unchanged files keep their time, so that they
    are not built again."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Cargo.*", "*.md", "docs", "src", *TEST_FILES, *MEMBERS],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    for name in names:
        if (root / name).is_file() and name not in mutated:
            write(tree / name, prepared(name, (root / name).read_bytes()))
    write(tree / "src/selected.rs", (root / ".ci/mutants/selected.rs").read_bytes())


def prepared(name, content):
    """The content of a file in the copy. Its lines have the numbers of the original."""
    if not name.endswith((".rs", ".toml")):
        return content
    return prepared_text(name, content.decode()).encode()


def prepared_text(name, text):
    match name:
        case "Cargo.toml":
            return manifest(text)
        case "tests/Cargo.toml":
            return without_unused(text)
        case "adapters/embedded/Cargo.toml":
            return without_lints(text)
        case "adapters/embedded/src/lib.rs":
            return allowed(text)
        case "src/lib.rs":
            return UNSTABLE + allowed(text).replace("mod buffer;", SELECTED, 1)
        case "tests/main.rs":
            return re.sub(rf"mod ({'|'.join(LEFT_OUT)});\n", "", text)
    return text


def without_lints(text):
    return text.replace("[lints]\nworkspace = true\n", "")


def allowed(text):
    return "#![allow(warnings, arithmetic_overflow, unconditional_panic, long_running_const_eval)] " + text.replace("deny(", "allow(")


def manifest(text):
    """The manifest with fewer members and dependencies."""
    members = "".join(f'    "{member}",\n' for member in MEMBERS)
    text = re.sub(r"members = \[.*?\]", f"members = [\n{members}]", text, count=1, flags=re.DOTALL)
    return without_unused(text)


def without_unused(text):
    """The manifest without the dependencies of the tests that are left out."""
    head, development = without_lints(text).split("[dev-dependencies]")
    return head + "[dev-dependencies]" + re.sub(rf"\n(?:{'|'.join(UNUSED)}) = [^\n]*", "", development)


def write(path, content):
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def body_of(text, function):
    """The range between the braces of a function's body."""
    start, end = function
    index, depth = start, 0
    while index < end:
        opaque = OPAQUE.match(text, index)
        if opaque:
            index = opaque.end()
            continue
        if text[index] in "([":
            depth += 1
        elif text[index] in ")]":
            depth -= 1
        elif text[index] == "{" and depth == 0:
            return index + 1, text.rindex("}", index, end)
        index += 1
    return None


class Rewriter:
    """Writes the mutated files, and finds the mutants that a compiler error belongs to."""

    def __init__(self, root, tree, mutants):
        self.root, self.tree = root, tree
        self.files = collections.defaultdict(list)
        # Per file: (first line, last line, mutants) of each mutant's code, and of each function.
        self.lines = {}
        for mutant in mutants:
            self.files[mutant.file].append(mutant)

    def write(self, file, dropped):
        """Writes a file with all of its mutants except those in `dropped`."""
        text = (self.root / file).read_text()
        groups = {}
        for mutant in self.files[file]:
            if mutant.function and mutant not in dropped:
                outer = max((one.function for one in self.files[file] if one.function and
                             one.function[0] <= mutant.start and mutant.end <= one.function[1]),
                            key=lambda span: span[1] - span[0])
                groups.setdefault(outer, []).append(mutant)
        selected = ("::mcp_proto" if file.startswith("adapters/") else "crate") + "::selected"
        parts, at, line, lines = [], 0, 1, []

        def add(part):
            nonlocal line
            parts.append(part)
            line += part.count("\n")

        for function, group in sorted(groups.items()):
            start, end = body_of(text, function)
            add(text[at:start])
            first = line
            add(f"\nmatch {selected}({group[0].number}, {group[-1].number}) {{ 0 => {{{text[start:end]}\n}}")
            for mutant in group:
                mutant.first = group[0].number
                add("\n")
                began = line
                mutated = text[start : mutant.start] + mutant.replacement + " " + text[mutant.end : end]
                add(f"{mutant.number} => {{{mutated}\n}}")
                lines.append((began, line, [mutant]))
            add("\n_ => loop {} }")
            lines.append((first, line, group))
            at = end
        add(text[at:])
        write(self.tree / file, prepared(file, "".join(parts).encode()))
        self.lines[file] = lines

    def blamed(self, message):
        """The mutants to drop because of a compiler error: one, or all of a function."""
        for span in sorted(message["spans"], key=lambda span: not span["is_primary"]):
            while span:
                found = [
                    mutants
                    for first, last, mutants in self.lines.get(span["file_name"], ())
                    if first <= span["line_start"] <= last
                ]
                if found:
                    return min(found, key=len)
                span = (span["expansion"] or {}).get("span")
        return []


def cargo(tree, *arguments):
    """Runs cargo on the copy. Returns its messages, and whether it succeeded."""
    packages = [argument for package in TESTED for argument in ("-p", package)]
    features = "--features=" + ",".join(FEATURES)
    # The core uses an intrinsic that is unstable. Optimized tests take a fraction of the time, which is worth a slower build.
    environment = dict(os.environ, RUSTC_BOOTSTRAP="mcp_proto", CARGO_TARGET_DIR=tree.parent / "build",
                       CARGO_PROFILE_DEV_OPT_LEVEL="1", CARGO_PROFILE_TEST_OPT_LEVEL="1")
    done = subprocess.run(
        ["cargo", *arguments, "--quiet", "--offline", "--message-format=json", *packages, features],
        cwd=tree, env=environment, stdout=subprocess.PIPE, text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode == 0


def build(root, tree, mutants, known):
    """Builds all tests. Returns the test binaries with their folders. Adds the mutants that do not compile to `known`,
    a dictionary from keys to the stamps of functions."""
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    rewriter = Rewriter(root, tree, mutants)
    copy_tree(root, tree, rewriter.files)
    dropped = {mutant for mutant in mutants if known.get(mutant.key) == mutant.stamp}
    for file in rewriter.files:
        rewriter.write(file, dropped)
    # The library, the library with its unit tests, and all tests: a mutant that fails late would build all of it again.
    steps = [("check", "--lib"), ("check", "--lib", "--profile=test"), ("test", "--no-run", "--lib", "--test=it")]
    while steps:
        messages, succeeded = cargo(tree, *steps[0])
        if succeeded:
            steps.pop(0)
            continue
        errors = [one["message"] for one in messages
                  if one["reason"] == "compiler-message" and one["message"]["level"] == "error"]
        blamed = {mutant for error in errors for mutant in rewriter.blamed(error)} - dropped
        print(f"cargo {steps[0][0]}: {len(errors)} errors, {len(blamed)} more mutants do not compile", flush=True)
        if not blamed:
            raise SystemExit("\n".join(error["rendered"] for error in errors) or "the copy does not build")
        dropped |= blamed
        known.update({mutant.key: mutant.stamp for mutant in blamed})
        (tree.parent / "uncompiled.json").write_text(json.dumps(known, indent=1, sort_keys=True))
        for file in {mutant.file for mutant in blamed}:
            rewriter.write(file, dropped)
    binaries = {
        one["executable"]: str(pathlib.Path(one["manifest_path"]).parent)
        for one in messages
        if one["reason"] == "compiler-artifact" and one["executable"] and one["profile"]["test"]
    }
    return binaries, dropped
