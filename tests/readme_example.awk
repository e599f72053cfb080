# SPDX-License-Identifier: BSD-2-Clause
# The C program of README.md: the code block between the two markers, without its fence.
/<!-- example: end -->/ { inside = 0 }
inside && !/^```/ { print; lines++ }
/<!-- example: begin -->/ { inside = 1 }
END { if (!lines) { print "README.md has no example between its markers" >"/dev/stderr"; exit 1 } }
