#!/bin/bash -eu
# SPDX-License-Identifier: BSD-2-Clause OR Apache-2.0
#
# Copyright 2026 The libfpemu authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
#
################################################################################
# build.sh - for OSS-Fuzz: in $OUT a program fuzz_KIND for each kind, with its inputs to begin with, its options and,
# where there is one, its dictionary.
prefix=$WORK/prefix
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

install_library() { # SOURCE OPTION...
    local source=$1
    shift
    cmake -S "$SRC/$source" -B "$WORK/$source" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "$@"
    cmake --build "$WORK/$source" --target install -j"$(nproc)"
}
install_library jansson -DJANSSON_BUILD_SHARED_LIBS=OFF -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF \
    -DJANSSON_WITHOUT_TESTS=ON
install_library libzip -DBUILD_SHARED_LIBS=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_OSSFUZZ=OFF \
    -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DENABLE_OPENSSL=OFF \
    -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_COMMONCRYPTO=OFF

fuzz=$SRC/libfpemu/tests/fuzz
read -ra kinds < <("$fuzz/build.sh" --kinds | sed 's/ command / /') # which loses memory, as command.c says
WORK=$WORK/fpemu STATIC=1 JOBS=$(nproc) "$fuzz/build.sh" "${kinds[@]}"
"$fuzz/run.sh" --unpack "$WORK/inputs"
for kind in "${kinds[@]}"; do
    zip -q -j -r "$OUT/fuzz_${kind}_seed_corpus.zip" "$WORK/inputs/seeds/$kind"
    printf '[libfuzzer]\nmax_len = 4096\n' >"$OUT/fuzz_$kind.options"
    "$fuzz/build.sh" --words "$kind" >"$OUT/fuzz_$kind.dict"
    [ -s "$OUT/fuzz_$kind.dict" ] || rm "$OUT/fuzz_$kind.dict"
done
