# Installs Python and Node packages; sourced, with `here` and `work` set.

# Prints a folder named after a hash of the requirements file; `fill FOLDER` runs if the folder is not complete yet.
# Another script that needs the same folder waits.
installed() {
    mkdir -p "$work"
    (flock 9 && installed_alone "$@") 9>"$work/$1.lock"
}
installed_alone() {
    local name=$1 listing=$2 fill=$3 key folder
    key=$(cat "$here/$listing" <(python3 --version) <(node --version 2>&1) | sha256sum | cut -c1-12)
    folder=$work/$name-$key
    if [[ ! -e $folder/.complete ]]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        "$fill" "$folder" "$here/$listing" >&2
        touch "$folder/.complete"
    fi
    echo "$folder"
}
python_packages() { python3 -m venv "$1" && "$1/bin/pip" install --quiet --requirement "$2"; }
node_packages() { cp "$here/package.json" "$2" "$1" && (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); }
