# SPDX-License-Identifier: BSD-2-Clause
# The commands in README.md and doc/tutorial.md print what stands below them. A line "    $ COMMAND" is one, continued
# after a backslash; the indented lines after it are its output, first what it says on standard error. Files that the
# text shows, a block below a line <!-- file: NAME -->, are there. Of fptrain, whose lines tell the speed of the machine,
# only success is asked, where it was built.
set -u
source=$(cd "$top_srcdir" && pwd)
built=$(cd "$top_builddir" && pwd)
fptrain=$built/tools/fptrain/fptrain
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
LC_ALL=C
export LC_ALL
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "'$FPEMU'" >"$work/bin/fpemu"
printf '#!/bin/sh\nexec %s "$@"\n' "'$fptrain'" >"$work/bin/fptrain"
printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >"$work/bin/cc"
printf '#!/bin/sh\necho "%s"\n' "-I$source/include -L$built/lib/.libs -lfpemu" >"$work/bin/pkg-config"
chmod +x "$work/bin/fpemu" "$work/bin/fptrain" "$work/bin/cc" "$work/bin/pkg-config"
export LD_LIBRARY_PATH="$built/lib/.libs"
PATH=$work/bin:$PATH
status=0

# Each command into a file N.run, its output into N.wanted, files into their names.
split() {
    awk '
        function finish() { # blank lines at the end are of the text
            sub(/\n+$/, "", wanted)
            if (n)
                printf "%s%s", wanted, wanted == "" ? "" : "\n" >(n ".wanted")
            wanted = ""
        }
        file != "" && /^```/ { if (inside) { file = ""; inside = 0 } else inside = 1; next }
        inside { print >file; next }
        /^<!-- file: / { file = $3; next }
        more { sub(/^ */, ""); more = /\\$/; print >(n ".run"); next }
        /^    \$ / { finish(); n++; $0 = substr($0, 7); more = /\\$/; print >(n ".run"); block = 1; next }
        /^    / && block { wanted = wanted substr($0, 5) "\n"; next }
        /^$/ && block { wanted = wanted "\n"; next }
        { block = 0 }
        END { finish() }' "$1"
}

for page in README.md doc/tutorial.md; do
    rm -rf "$work/here"
    mkdir "$work/here"
    cd "$work/here" || exit 1
    split "$source/$page"
    n=1
    while [ -e $n.run ]; do
        command=$(cat $n.run)
        compared=yes
        case $command in
        "fptrain "* | "head "*) compared=no; [ -x "$fptrain" ] || command=: ;;
        "fpemu validate "*) fpemu --version | grep -q 'with GNU MPFR' || command=: compared=no ;;
        "python3 "*) command -v python3 >/dev/null || { echo "without python3 $page stops here"; break; } ;;
        esac
        sh -c "$command" >got 2>err
        code=$?
        wanted=0 # the search for differences that finds some ends with 1
        case $command in "fpemu fuzz "*) grep -q '^no difference' $n.wanted || wanted=1 ;; esac
        if [ $code -ne $wanted ] || { [ $compared = no ] && [ -s err ]; }; then
            echo "$page: status $code: $command"
            cat err
            status=1
        elif [ $compared = yes ] && ! cat err got | diff $n.wanted -; then
            echo "$page: another output: $command"
            status=1
        fi
        n=$((n + 1))
    done
    [ $n -gt 3 ] || { echo "$page has no commands"; status=1; }
done
exit $status
