# SPDX-License-Identifier: BSD-2-Clause
# sizes.awk - from the public headers a program that asks fpemu_sizeof for every struct of theirs. A struct whose size no
# header asserts, or fewer structs than there must be, make it fail too.
/^typedef struct fpemu_[a-z0-9_]+ \{/ { name[++count] = substr($3, 7) }
/^FPEMU_STATIC_ASSERT\(sizeof\(fpemu_/ { split($0, part, /[()]/); asserted[substr(part[3], 7)] = 1 }
END {
    print "/* Made by sizes.awk. */\n#include <fpemu.h>\n#include <stdio.h>\n#include <string.h>\n"
    print "static int bad;\n\nstatic void check(const char *noun, size_t size, int asserted)\n{"
    print "    if (fpemu_sizeof(noun) != size || size == 0 || !asserted) {"
    print "        bad = 1;"
    print "        printf(\"%s: %zu bytes, fpemu_sizeof says %zu%s\\n\", noun, size, fpemu_sizeof(noun),"
    print "               asserted ? \"\" : \", and no header asserts the size\");\n    }\n}\n"
    print "int main(void)\n{"
    for (i = 1; i <= count; i++)
        printf "    check(\"%s\", sizeof(fpemu_%s), %d);\n", name[i], name[i], asserted[name[i]] + 0
    printf "    if (%d < 19) {\n        printf(\"%d structs in the headers\\n\");\n        bad = 1;\n    }\n", count, count
    print "    return bad || fpemu_sizeof(\"no such noun\") || fpemu_sizeof(\"\") || fpemu_sizeof(NULL);\n}"
}
