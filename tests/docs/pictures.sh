# SPDX-License-Identifier: BSD-2-Clause
# The pictures of the documents are what doc/pictures/draw.sh makes of the present library and figures.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
pictures=$top_srcdir/doc/pictures
sh "$pictures/draw.sh" "$work" || exit 1
status=0
for name in numbers speed architecture; do
    cmp "$work/$name.svg" "$pictures/$name.svg" || status=1
    [ "$(wc -c <"$work/$name.svg")" -gt 2000 ] || { echo "$name.svg is empty"; status=1; }
done
exit $status
