# Steps for board images, which run in an emulator.
# shellcheck shell=bash

installed_targets() {
    local name
    for name in $(awk '!/^#/ { print $3 }' examples/firmware/boards/images | sort -u); do target "$name"; done
}

target_of() { awk -v image="$1" '$1 == image { print $3 }' examples/firmware/boards/images; }

build_image() {
    local name
    name=$(target_of "$1")
    target "$name"
    (cd examples/firmware && say cargo build --quiet --locked --release --features "$1" --bin "$1" --target "$name")
}

installed_qemu() {
    local missing=()
    command -v qemu-system-arm >/dev/null || missing+=(qemu-system-arm)
    command -v qemu-system-riscv32 >/dev/null || missing+=(qemu-system-misc)
    ((${#missing[@]} == 0)) ||
        packages "${missing[@]}" || not_run "${missing[*]} cannot be installed"
}

installed_c_compiler() {
    command -v arm-none-eabi-gcc >/dev/null ||
        packages gcc-arm-none-eabi || not_run "gcc-arm-none-eabi cannot be installed"
}

# Board images: all must link, and the image that only has tools must not contain code of unused features.
unused='resources|prompts|completion|sampling|elicit|subscri|watch|batch|listen|outbound_request|keep_alive|message_mode'
step_firmware() {
    need rustup nm awk
    local images image target
    images=$(grep -v '^#' examples/firmware/boards/images)
    installed_targets
    alone images
    cd examples/firmware
    say cargo fmt --check
    say cargo clippy --quiet --locked --features device,http-device --all-targets -- -D warnings
    say cargo test --quiet --locked --features device,http-device
    while read -r image _ target; do
        say cargo clippy --quiet --locked --features "$image" --lib --bin "$image" --target "$target" -- -D warnings
        say cargo build --quiet --locked --release --features "$image" --bin "$image" --target "$target"
    done <<<"$images"
    # A variant that only `.ci/footprint --codecs` builds.
    target=$(awk '$1 == "footprint" { print $3 }' boards/images)
    say cargo clippy --quiet --locked --features footprint,fields,core-decoder,core-encoder --lib --bin footprint --target "$target" -- -D warnings
    contains_only_used blinky "$unused"
    contains_only_used smallest "$unused|stateless|slots::(id_index|deadlines)|in_flight_hooks::(expire|release|write_queued)"
}

# Checks that an image for thumbv6m contains no code of these features.
contains_only_used() {
    local image others
    image=$(target_directory)/thumbv6m-none-eabi/release/$1
    # A function that is called once may be inlined and have no symbol, but method names remain as strings. A default
    # method of the trait of features stands for a feature that is absent.
    others=$(nm -C "$image" | grep 'mcp_proto::' | grep -v 'feature::Sealed::' | grep -iE "$2" || true)
    others+=$(printf '\n'; tr '\0' '\n' <"$image" | grep -aoiE "($unused|roots)/[a-z]+" || true)
    if [[ -n ${others//[[:space:]]/} ]]; then
        printf '%s contains unused features:\n%s\n' "$1" "$others"
        exit 1
    fi
    echo "$1 contains no unused features"
}

# MCP in picoserve: the library for a board, and the program on this computer.
step_picoserve() {
    need rustup
    target thumbv7m-none-eabi
    cd examples/picoserve
    say cargo fmt --check
    say cargo clippy --quiet --locked --all-targets -- -D warnings
    say cargo test --quiet --locked
    say cargo clippy --quiet --locked --lib --no-default-features --target thumbv7m-none-eabi -- -D warnings
}

# Projects from the templates for `cargo generate`, one for each board.
step_templates() {
    need rustup
    local name
    for name in thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imc-unknown-none-elf; do
        target "$name"
    done
    installed_qemu
    say .ci/templates
}

# Sizes of the images, checked against the limits in the script, and that no image can panic.
step_footprint() {
    need rustup nm size python3 make
    installed_targets
    installed_qemu
    installed_c_compiler
    alone images
    say .ci/footprint --check
}

# The official Python clients drive boards in QEMU through their UART, and one through its Ethernet. On another board,
# tasks survive clients that are killed. A board that is a client calls a tool of the official Python servers.
step_boards() {
    need rustup python3
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || not_run "Python is older than 3.11"
    local image images=() folder programs
    installed_qemu
    build_programs
    programs=$(target_directory)/debug
    folder=$(cd examples/firmware && target_directory)
    for image in lm3s6965 embassy microbit virt dump http tasks client; do
        build_image $image
        images+=("$folder/$(target_of $image)/release/$image")
    done
    say .ci/interop/boards examples/firmware/boards/qemu "$programs"/{mcp-serial-bridge,mcp-inspect} "${images[@]}"
}

# Servers in C: checks that the header is current, and drives the servers with official clients, also on a board.
step_c() {
    need cc make python3
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || not_run "Python is older than 3.11"
    local build=${CARGO_TARGET_DIR:-$PWD/target} image
    local qemu=(qemu-system-arm -machine lm3s6965evb -display none -monitor none -serial stdio -kernel)
    target thumbv7m-none-eabi
    installed_qemu
    installed_c_compiler
    cargo_tool cbindgen 0.29.4
    alone images
    (cd adapters/c && say cbindgen --quiet --verify --config cbindgen.toml --output include/mcp_proto.h .)
    say make --silent -C adapters/c BUILD="$build" posix lm3s6965
    say arm-none-eabi-size "$build"/c/{blinky,device,client}.elf
    for image in blinky device client; do
        if arm-none-eabi-nm "$build/c/$image.elf" | grep -i 'panic\|alloc'; then
            echo "$image.elf contains panics, or a heap"
            exit 1
        fi
    done
    say .ci/interop/c "$build/c" "${qemu[@]}"
}

# Official clients drive a board in QEMU through `mcp-serial-bridge`: those for Python with all checks, and all of them on
# a noisy line. `.ci/interop/noise --long` runs the second part for longer.
step_bridge() {
    need python3 rustup node npm
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || not_run "Python is older than 3.11"
    local bridge folder target image images=()
    installed_qemu
    build_programs
    bridge=$(target_directory)/debug/mcp-serial-bridge
    folder=$(cd examples/firmware && target_directory)
    # One image without support for the session mark, one with the session mark, and one with frames, on a line that
    # damages bytes.
    for image in blinky lm3s6965 framed; do
        build_image $image
        images+=("$folder/$(target_of $image)/release/$image")
    done
    say .ci/interop/bridge "$bridge" "${images[@]}"
    say .ci/interop/noise "$bridge" "${images[2]}" "$(target_directory)/interop-rmcp"
}
