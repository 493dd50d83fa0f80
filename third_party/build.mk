FETCH := $(B)/fetch
fetched = $(FETCH)/$(shell awk '$$1 == "Name:" { in_it = $$2 == "$(1)" } in_it && $$1 == "File:" { print $$2 }' \
                                third_party/manifest)

$(FETCH)/%:
	@third_party/fetch $(THIRD_PARTY_$*) $(FETCH)

include third_party/newlib.mk third_party/lwip.mk third_party/duckdb.mk
