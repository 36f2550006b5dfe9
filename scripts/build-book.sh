#!/usr/bin/env bash
# Renders the book to build/book. Exit status: 0 done, 1 mdBook had something to say, 77 no mdBook here.
# MDBOOK=PATH chooses the mdBook to use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mdbook=${MDBOOK:-mdbook}
if ! command -v "$mdbook" >/dev/null; then
    echo "build-book: SKIP: mdBook is not installed"
    exit 77
fi

status=0
log=$("$mdbook" build 2>&1) || status=$?
# What mdBook says beyond its INFO lines is a warning, or a preprocessor that failed.
if [[ $status -ne 0 ]] || grep -qvE '\bINFO\b|^$' <<<"$log"; then
    printf '%s\n' "$log" >&2
    echo "build-book: mdBook has a warning or an error" >&2
    exit 1
fi

# mdBook 0.4.48 as Debian 13 has it refers to book.js and does not write it.
if grep -q 'src="book\.js"' build/book/index.html && [[ ! -e build/book/book.js ]]; then
    cp chapters/theme/fallback/book.js build/book/book.js
fi
echo "build-book: build/book/index.html ($("$mdbook" --version))"
