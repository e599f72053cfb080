"""Other packages' names over libfpemu's numbers."""
