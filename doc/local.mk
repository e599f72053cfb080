dist_man_MANS += doc/man/fpemu.3 doc/man/fpemu-formats.7
dist_doc_DATA += doc/numerics.md
