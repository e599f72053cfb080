# SPDX-License-Identifier: BSD-2-Clause
# Every source file under version control says its licence in its first two lines.
set -u
cd "$top_srcdir" || exit 1
git ls-files --error-unmatch configure.ac >/dev/null 2>&1 || { echo 'no working tree of git'; exit 77; }
without=$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' '*.py' '*.pyi' '*.sh' '*.awk' |
    while read -r file; do
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-2-Clause' || echo "$file"
    done)
[ -z "$without" ] && exit 0
echo "no SPDX line:"
echo "$without"
exit 1
