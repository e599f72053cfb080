#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes configure and Makefile.in from configure.ac and Makefile.am; needs autoconf, automake, libtool and pkg-config.
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --force --install
