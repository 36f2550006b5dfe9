#!/usr/bin/env bash
# Makes the skeleton of a chapter: new-chapter.sh NN-slug "Title"
# Every part says TODO, and its verify.lua fails until it is written.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

refuse() {
    echo "new-chapter.sh: $*" >&2
    echo 'usage: new-chapter.sh NN-slug "Title"     such as 05-poll "Poll"' >&2
    exit 2
}

(($# == 2)) || refuse "two arguments are needed"
id=$1 title=$2
[[ $id =~ ^[0-9][0-9]-[a-z0-9]+(-[a-z0-9]+)*$ ]] || refuse "'$id' is not of the form NN-slug"
[[ $title =~ ^[^\"\\[:cntrl:]]+$ ]] || refuse "the title must be one line without quotes"
manifest=$root/examples/manifest.toml
summary=$root/chapters/SUMMARY.md
[[ -e $manifest ]] || refuse "there is no examples/manifest.toml"
! grep -q "^id = \"${id%%-*}-" "$manifest" || refuse "there is a chapter ${id%%-*} already"
for path in "examples/$id" "chapters/$id.md" "diagrams/$id.excalidraw"; do
    [[ ! -e $root/$path ]] || refuse "$path exists already"
done

# from standard input, with the chapter's names put in
make_file() {
    local path=$root/$1
    mkdir -p "$(dirname "$path")"
    local text
    text=$(cat)
    text=${text//@ID@/"$id"}
    text=${text//@NUMBER@/"${id%%-*}"}
    text=${text//@TITLE@/"$title"}
    printf '%s\n' "$text" >"$path"
    echo "made $1"
}

make_program() {
    make_file "examples/$id/README.md" <<'TEXT'
# @TITLE@

TODO: the program's contract: commands, output lines, wire format, exit codes.
TEXT
    make_file "examples/$id/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/toolchain.cmake)
project(@ID@ LANGUAGES CXX)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/chapter.cmake)

chapter(@ID@ SOURCES src/main.cpp src/first.cpp REPLACES 1-first=src/first.cpp)
TEXT
    make_file "examples/$id/src/main.cpp" <<'TEXT'
// TODO: the program of this chapter.
#include <cstdio>

#include "first.hpp"

int main() {
    std::fputs("app: TODO: this chapter is not written yet\n", stderr);
    return first();
}
TEXT
    make_file "examples/$id/src/first.hpp" <<'TEXT'
// TODO: what the first exercise replaces.
#pragma once

int first();
TEXT
    for file in src exercises/1-first exercises/1-first/solution; do
        make_file "examples/$id/$file/first.cpp" <<'TEXT'
// TODO: the part that the first exercise replaces.
#include "first.hpp"

int first() { return 1; }
TEXT
    done
}

make_checks() {
    make_file "examples/$id/demo.sh" <<'TEXT'
#!/usr/bin/env bash
# shellcheck source=../../scripts/demo.sh
. "$(dirname "$0")/../../scripts/demo.sh"

story() {
    step "TODO" "TODO: what does the reader predict?"
    run app
}
demo "$@"
TEXT
    chmod +x "$root/examples/$id/demo.sh"
    make_file "examples/$id/verify.lua" <<'TEXT'
-- TODO: the checks of this chapter, with the library in verify/. Until then this fails.
print("TAP version 13")
print("not ok 1 - TODO: the checks of @ID@ are not written yet")
print("1..1")
os.exit(1)
TEXT
    make_file "examples/$id/exercises/1-first/README.md" <<'TEXT'
# TODO: the first exercise

TODO: the symptom, as a user would report it.

## What to change

TODO

## Judged by

- `TODO: the checks of @ID@ are not written yet`

## Hints

<details><summary>Hint 1</summary>

TODO

</details>

<details><summary>Hint 2</summary>

TODO

</details>

<details><summary>Hint 3</summary>

TODO

</details>
TEXT
}

make_prose() {
    {
        printf '# @TITLE@\n\n*Reading time: 1 minute*\n\nTODO: the question that the last chapter left open.\n'
        for section in "An experiment" "The idea" "How the code works" "Errors" "Concurrency lens" \
            "Build, run, observe" "Cross-check" "What changed since the last chapter" "Exercises" \
            "What you learned" "Verified"; do
            printf '\n## %s\n\nTODO\n' "$section"
        done
    } | make_file "chapters/$id.md"
    make_file "diagrams/$id.excalidraw" <<'TEXT'
{
  "type": "excalidraw",
  "version": 2,
  "alt": "TODO: the whole figure in words.",
  "elements": [
    {
      "id": "todo", "type": "text", "x": 40, "y": 40, "width": 200, "height": 25,
      "text": "TODO: the figure", "originalText": "TODO: the figure", "fontSize": 20, "fontFamily": 2,
      "textAlign": "left", "verticalAlign": "top", "containerId": null, "lineHeight": 1.25,
      "strokeColor": "#1f2933", "backgroundColor": "transparent", "fillStyle": "solid",
      "strokeWidth": 2, "strokeStyle": "solid", "roughness": 1, "opacity": 100, "angle": 0,
      "seed": 1, "version": 1, "versionNonce": 1, "isDeleted": false, "groupIds": [],
      "boundElements": [], "updated": 1, "link": null, "locked": false
    }
  ],
  "appState": {"viewBackgroundColor": "#ffffff"},
  "files": {}
}
TEXT
}

register() {
    printf '\n[[chapter]]\nid = "%s"\ntitle = "%s"\nmodels = []\nlanguages = ["cpp"]\ntime_limit = 60\n' \
        "$id" "$title" >>"$manifest"
    echo "changed examples/manifest.toml"
    [[ -e $summary ]] || printf '# Summary\n\n' >"$summary"
    local text
    text=$(summary_with_chapter)
    printf '%s\n' "$text" >"$summary"
    echo "changed chapters/SUMMARY.md"
}

# Its draft line becomes a link; without a draft the link goes behind the chapters before it.
summary_with_chapter() {
    awk -v id="$id" -v title="$title" '
        { line[NR] = $0 }
        index($0, "[" title "]()") { draft = NR }
        match($0, /\]\(([.]\/)?[0-9][0-9]-/) {
            number = substr($0, RSTART + RLENGTH - 3, 2)
            if (number < substr(id, 1, 2)) before = NR
        }
        END {
            entry = "- [" title "](" id ".md)"
            for (n = 1; n <= NR; n++) {
                if (n == draft) sub(/\]\(\)/, "](" id ".md)", line[n])
                print line[n]
                if (!draft && n == before) print entry
            }
            if (!draft && !before) print entry
        }' "$summary"
}

make_program
make_checks
make_prose
register
echo "Next: write the parts that say TODO, then draw the figure and run scripts/figure.py."
