#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# quickstart.sh - the forms of ./quickstart: what each configures and makes, that a larger one follows a smaller one but
# not the other way round, and what is said meanwhile. configure, make and the installing of packages are played.
# From the makefile: top_srcdir.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$top_srcdir/quickstart" "$work"
cd "$work" || exit 1
status=0

mkdir bin
cat >configure <<'END'
#!/bin/sh
echo "configure $CFLAGS $*" >>../calls
touch Makefile
printf 'S["FPTRAIN_TRUE"]=""\n' >config.status
END
cat >bin/make <<'END'
#!/bin/sh
case " $* " in *" --version "*) exit ;; *" -n "*) printf 'echo "  CC  " 1.o\necho "  CC  " 2.o\n'; exit ;; esac
echo "make $*" >>calls
mkdir -p build/tools/fpemu build/tools/fptrain
for program in fpemu/fpemu fptrain/fptrain; do cp program build/tools/$program; done
case "$*" in *" check" | *" check "*) printf '# PASS:  3\n# SKIP:  1\n# FAIL:  0\n' >build/test-suite.log ;; esac
[ ! -e broken ] || { echo "cc: no"; exit 2; }
printf '  CC  1.o\n  CC  2.o\n'
END
cat >program <<'END'
#!/bin/sh
[ $# = 0 ] || echo "$*" >>programs
[ "$1" = report ] || exit 0
while [ "$1" != --tables ]; do shift; done
mkdir -p "${2%/*}"
printf '%s\n' '| runs | seeds | accuracy, % | best, % |' '|---|---:|---:|---:|' '| fp32 | 1 | 93.70 | 94.00 |' '' \
    '| fp32 | 1 | 2 |' >"$2"
END
for package in apt-get sudo; do
    printf '#!/bin/sh\necho "%s $*" >>"%s"\n' $package "$work/calls" >bin/$package
done
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi # no GPU
chmod +x configure program bin/*
export PATH=$work/bin:$PATH
unset CFLAGS

expect() { # FORM CALLS: patterns of the calls but those that install, in order
    : >calls
    timeout 60 ./quickstart $1 >out 2>&1 || { echo "quickstart $1: $(cat out)"; status=1; }
    sed -i '/^apt-get\|^sudo/d; s/ -j[0-9]*//' calls
    shift
    printf '%s\n' "$@" | diff - calls || status=1
}

quick="make -C build kernels tools/fpemu/fpemu"
trainer="make -C build tools/fptrain/fptrain"
expect "" "configure -O2 --enable-variants=native --without-cuda --without-mpfr --without-check --without-onednn --without-python" \
    "$quick" "$trainer"
grep -q '^Builds in ./build .* minutes' out && grep -q '^  2 of 2 files, [0-9]* s$' out || { cat out; status=1; }
[ "$(grep 'right$' out)" = 'fp32         93.70 % right' ] || { cat out; status=1; }
[ "$(grep -c '^run .*--force.* --out build/demo/training/fp' programs)" = 5 ] || { cat programs; status=1; }
expect "" "$quick" "$trainer"
expect check "configure -O2 --without-cuda" "make -C build check TESTS=" "make -C build check"
[ "$(tail -n 1 out)" = "3 passed, 0 failed, 1 skipped" ] || { cat out; status=1; }
expect "" "$quick" "$trainer"
expect all "configure -O2 " "make -C build all"
expect check "make -C build check TESTS=" "make -C build check"
echo 'echo other options' >build/config.status
expect check "make -C build check TESTS=" "make -C build check"
grep -q '^./build was configured by hand' out || { cat out; status=1; }
rm build/quickstart.form
expect all "make -C build all"
grep -q '^./build was configured by hand' out || { cat out; status=1; }

touch broken
./quickstart >out 2>&1 && status=1
grep -q '^cc: no$' out && tail -n 1 out | grep -q '^quickstart: failed: make kernels' || { cat out; status=1; }
./quickstart everything >out 2>&1
[ $? = 2 ] && grep -q '^usage: ./quickstart \[check | all\]$' out || { cat out; status=1; }
exit $status
