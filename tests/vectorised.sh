# SPDX-License-Identifier: BSD-2-Clause
# vectorised.sh - that the array loops meant for vector instructions have them: in the object files of x86-64-v3 and
# x86-64-v4, the code of every such loop must do arithmetic on whole vectors. Run in the build directory.
#
# usage: vectorised.sh [VECTOR OBJECT...]     VECTOR: ymm for x86-64-v3, zmm for x86-64-v4; its three objects

objdump=${OBJDUMP:-objdump}
command -v "$objdump" >/dev/null || { echo "vectorised.sh: no objdump"; exit 77; }
grep -q '^KERNEL_OPTIMISATION = .*-O3' Makefile 2>/dev/null || [ $# -gt 0 ] || {
    echo "vectorised.sh: configured without optimisation"
    exit 77
}
grep -q '^SANITIZER_FLAGS = *-' Makefile 2>/dev/null && { echo "vectorised.sh: sanitizers change the loops"; exit 77; }

# Prints what is wrong with the object files $2..., whose vectors are in registers $1.
examine() {
    vector=$1
    shift
    "$objdump" -d --no-show-raw-insn "$@" | awk -v vector="$vector" '
        # wrapping goes element by element; exact_f16 and exact_bf16 move words in vectors and calculate nothing; powers
        # up and down are those away from and to zero
        function meant(name) {
            if (name ~ /^exact_b?f16$|^loop_round_power_FPEMU_MODE_RT[PN]/)
                return 0
            return (name ~ /^loop_round_(power|float|any)_/ ||
                   name ~ /^loop_(round_affine_|round_quick_posit_|count|finish|extremes|columns_amax|runs_|scale_[ty])/ ||
                   name ~ /^loop_compat_(input|past|zeros)/ || name ~ /^kernel_(OWN|F16|BF16|any|scaled|POWERS|TIMES|BY|QUOTIENT)_/ ||
                   name ~ /^loop_(pow2_(powers|codes)|encode|decode)/ ||
                   name ~ /^mac_(none|full_range|ends|inf|sat|inside)_/ ||
                   name ~ /^(fill_hash|hash_source|philox_words|philox_source)/ ||
                   name ~ /^(largest$|largest_error|extremes_b?f16$|exact_|odd_second_|widen$|narrow_b?f16$)/ ||
                   (vector == "zmm" && name ~ /^odd_/))
        }
        function close_function() {
            if (name != "" && meant(name)) {
                seen++
                if (arithmetic < 2)
                    print object ": " name " has " arithmetic + 0 " vector operations"
                if (name ~ /^kernel_(OWN|F16|BF16)_.*_SR$/ && products < 3) # the hash
                    print object ": " name " has " products + 0 " products of vectors"
            }
            arithmetic = products = 0
        }
        /file format/ { close_function(); name = ""; object = substr($1, 1, length($1) - 1) }
        /^[0-9a-f]+ <.*>:$/ { close_function(); name = $2; gsub(/[<>:]/, "", name); next }
        $0 ~ "%" vector && /\tvpmulld/ { products++ }
        $0 ~ "%" vector && /\tv(p?(add|sub|and|or|xor|mul|ternlog|max|min|cmp|sll|fn?madd)|cvt|sqrt|div|blend)/ { arithmetic++ }
        END { close_function(); if (seen < 400) print object ": only " seen + 0 " loops found" }'
}

if [ $# -gt 0 ]; then
    defects=$(examine "$@")
else
    found=0 defects=
    for set in v3:ymm v4:zmm; do
        objects=$(ls lib/loops/.libs/*x86_64_"${set%:*}"*.o 2>/dev/null) || continue
        found=1
        seen=$(examine "${set#*:}" $objects)
        defects=$defects${defects:+${seen:+
}}$seen
    done
    if [ $found = 0 ]; then
        grep -q '^#define FPEMU_HAVE_V3 1' config.h && { echo "vectorised.sh: the objects of x86-64-v3 are not where they were"; exit 1; }
        echo "vectorised.sh: no loops for x86-64-v3 or v4 were built"
        exit 77
    fi
fi
# gcc 11 leaves some twenty loops without, most of them for AVX2: slower, with the same results.
version=$(${CC:-cc} -dumpfullversion 2>/dev/null)
count=$(printf '%s\n' "$defects" | grep -c .)
if [ "$count" -gt 0 ] && [ "$count" -le 30 ] && [ "${version%%.*}" -lt 12 ] 2>/dev/null &&
    ! ${CC:-cc} --version | grep -q clang && ! printf '%s\n' "$defects" | grep -q ' only '; then
    echo "vectorised.sh: gcc $version leaves $count loops without vectors"
    exit 77
fi
[ -z "$defects" ] || { printf '%s\n' "$defects"; exit 1; }
