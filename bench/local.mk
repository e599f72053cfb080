# libfpemu beside its peers, which come from a package registry into a throw-away environment; bench/peers/run.sh says
# what is installed. Measured once more, in an environment that stays: make bench-peers PEERS_ENVIRONMENT=DIRECTORY
EXTRA_DIST += bench/peers/run.sh bench/peers/peers.py bench/peers/RESULTS.md
PEERS_ENVIRONMENT =
bench-peers: lib/libfpemu.la
	$(SHELL) $(top_srcdir)/bench/peers/run.sh lib/.libs/libfpemu.so $(PEERS_ENVIRONMENT)
.PHONY: bench-peers
