# SPDX-License-Identifier: BSD-2-Clause
# What the documents name exists: the targets of their links, headings too, the files, the functions and the constants.
set -u
cd "$top_srcdir" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
status=0
rooms='bench|doc|examples|gpu|include|lib|m4|python|share|tests|tools'
complain() {
    echo "$*"
    status=1
}

find $(echo "$rooms" | tr '|' ' ') -type f >"$work/files"
{ ls -d *.md; grep '\.md$' "$work/files"; } >"$work/pages"
[ "$(wc -l <"$work/pages")" -gt 8 ] || complain "few pages found"

# ----------------------------------------------------------------------------- links
# headings PAGE: what a link to a heading calls it.
headings() {
    awk '/^```/ { code = !code } /^#+ / && !code {
        sub(/^#+ /, ""); $0 = tolower($0); gsub(/[^a-z0-9 _-]/, ""); gsub(/ /, "-"); print }' "$1"
}

while read -r page; do
    awk '/^```/ { code = !code } !code && !/^    / { # PAGE TARGET, one a line; a link may go on in the next line
            text = text " " $0 }
        END { while (match(text, /\]\([^) ]+\)/)) {
            print substr(text, RSTART + 2, RLENGTH - 3); text = substr(text, RSTART + RLENGTH) } }' "$page" |
        grep -v '^[a-z]*:' >"$work/links"
    while read -r link; do
        target=${link%%#*}
        file=$page
        [ -z "$target" ] || file=$(dirname "$page")/$target
        if [ ! -e "$file" ]; then
            complain "$page: no $link"
        elif [ "$link" != "$target" ] && ! headings "$file" | grep -qxF -e "${link#*#}"; then
            complain "$page: no heading $link"
        fi
    done <"$work/links"
done <"$work/pages"

# ----------------------------------------------------------------------------- files, functions, constants
# Words between backticks: paths that begin with a room, and names of source files wherever they lie.
# Identifiers of the sources.
grep -E '\.(c|h|cu|cuh|def|map|m4|py)$' "$work/files" | grep -E '^(include|lib|gpu|tools|m4|python|examples)/' | xargs cat |
    grep -owE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$work/names"
{ echo fpemu_noun_verb; ls share/fpemu/hdl | sed 's/\..*//'; } >>"$work/names" # how names are made; files
[ "$(wc -l <"$work/names")" -gt 1000 ] || complain "few names found"
{ echo NEWS; grep -v -e doc/results -e tests/ "$work/pages"; } >"$work/own"
while read -r page; do
    grep -oE '`[^` ]+`' "$page" | tr -d '`' | sort -u >"$work/words"
    grep -E "^($rooms)/[A-Za-z0-9_./*-]+\$" "$work/words" | grep -vE '_NAME|\.(log|la)$' | while read -r path; do
        ls -d $path >/dev/null 2>&1 || [ -e "$path.c" ] || [ -e "$path.cc" ] || echo "$page: no $path" # a program
    done >"$work/missing"
    grep -E '^[A-Za-z0-9_]+(\.inc)?\.(c|h|cu|cuh|def|m4)$' "$work/words" | grep -v NAME | while read -r name; do
        grep -q "/$name\$" "$work/files" || echo "$page: no file $name"
    done >>"$work/missing"
    grep -oE '^[a-z][a-z0-9_]*\(\)$' "$work/words" | while read -r name; do
        grep -qw "${name%()}" "$work/names" || echo "$page: no function $name"
    done >>"$work/missing"
    # In a row of a table, a function and the file that it is in.
    sed -nE 's/^[|].*[|] `([a-z_0-9]+)\(\)` [|] `([^`]+)` [|]$/\1 \2/p' "$page" | while read -r name path; do
        grep -sqw "$name" "$path" || echo "$page: $name is not in $path"
    done >>"$work/missing"
    # Public ones, anywhere: a name may lack its ending, as fpemu_quantize does.
    grep -owE '(fpemu|FPEMU)_[A-Za-z0-9_]+' "$page" | sort -u | while read -r name; do
        grep -qE "^${name%_}(_|\$)" "$work/names" || [ -e "m4/$name.m4" ] || echo "$page: no $name"
    done >>"$work/missing"
    [ ! -s "$work/missing" ] || complain "$(cat "$work/missing")"
done <"$work/own"
exit $status
