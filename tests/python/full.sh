# SPDX-License-Identifier: BSD-2-Clause
# With PyTorch, JAX and all other packages: see run.sh.
exec bash "$top_srcdir/tests/python/run.sh" full
