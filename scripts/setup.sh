#!/usr/bin/env bash
# Installs what is missing: scripts/setup.sh [core] [lint] [book] [browser] [bench], by default core. Asks for rights it has
# not got by sudo, if there is one; else it prints the command that would do it, and stops with status 1. What was found
# once is remembered in build/, so a second call costs nothing.
set -euo pipefail
# shellcheck source=needs.sh
. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"
cd "$NEEDS_ROOT"

missing_names=()
missing_packages=()

note_missing() { # NEED
    local name see debian fedora
    IFS='|' read -r name see debian fedora _ <<<"$1"
    $see && return
    missing_names+=("$name")
    local packages=$debian package
    [[ $(package_manager) == dnf ]] && packages=$fedora
    for package in $packages; do
        # shellcheck disable=SC2207  # one name may stand for several packages
        missing_packages+=($(resolve_package "$package"))
    done
}

look() { # GROUP…
    missing_names=() missing_packages=()
    local group need
    for group in "$@"; do
        local -n needs="NEEDS_${group^^}"
        for need in "${needs[@]}"; do note_missing "$need"; done
    done
}

install_commands() { # SUDO
    if [[ $(package_manager) == apt-get ]]; then
        echo "${1}apt-get update -qq"
        echo "${1}env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${missing_packages[*]}"
    else
        echo "${1}dnf install -y ${missing_packages[*]}"
    fi
}

# "", "sudo " or, without rights, the status 1.
rights() {
    [[ $(id -u) -eq 0 ]] && return
    if has sudo && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
        echo "sudo "
        return
    fi
    return 1
}

stop_without_rights() {
    echo "This needs packages that are not installed: ${missing_names[*]}." >&2
    echo "Installing them needs rights that you do not have here. Run:" >&2
    echo >&2
    install_commands "sudo " | sed 's/env DEBIAN_FRONTEND=noninteractive //; s/ -qq//; s/^/    /' >&2
    exit 1
}

install_missing() {
    local sudo command
    sudo=$(rights) || stop_without_rights
    echo "Installing: ${missing_names[*]}" >&2
    install_commands "$sudo" | while read -r -a command; do
        "${command[@]}" </dev/null >>build/setup.log 2>&1 && continue
        tail -n 20 build/setup.log >&2
        echo "The installation failed; build/setup.log has all of it." >&2
        exit 1
    done
}

# Debian 12 and Fedora have no package of mdBook; where there is Rust, Cargo builds it.
cargo_mdbook() {
    has mdbook || ! has cargo && return
    echo "Building mdBook with cargo: this takes some minutes, once." >&2
    cargo install --quiet --locked mdbook --version '^0.5' >&2 || echo "mdBook cannot be built here." >&2
}

main() {
    local groups=("$@")
    [[ $# -gt 0 ]] || groups=(core)
    local stamp
    mkdir -p build
    stamp=build/.setup-$(IFS=-; echo "${groups[*]}")
    [[ $stamp -nt scripts/needs.sh && $stamp -nt scripts/setup.sh ]] && return
    if [[ -z $(package_manager) ]]; then
        echo "Neither apt-get nor dnf is here; see scripts/needs.sh for what to install." >&2
        exit 1
    fi
    look "${groups[@]}"
    if ((${#missing_packages[@]} > 0)); then
        install_missing
        look "${groups[@]}"
    fi
    if [[ " ${groups[*]} " == *" book "* ]]; then
        cargo_mdbook
        look "${groups[@]}"
    fi
    if ((${#missing_names[@]} > 0)); then
        echo "Still missing: ${missing_names[*]}" >&2
        # the book itself is optional: without mdBook its Markdown can be read as it is
        [[ ${groups[*]} == book ]] || exit 1
        return
    fi
    touch "$stamp"
}

main "$@"
