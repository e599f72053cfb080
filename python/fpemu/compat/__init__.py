# SPDX-License-Identifier: BSD-2-Clause
"""Other packages' names over libfpemu's numbers."""
