# DuckDB's library, a second engine of `tarn sql`; nothing else needs it.
DUCKDB := $(B)/duckdb/libduckdb.so
DUCKDB_FILE := $(call fetched,duckdb)
THIRD_PARTY_$(notdir $(DUCKDB_FILE)) := duckdb

.PHONY: duckdb deps-duckdb
duckdb: $(DUCKDB) ## fetch DuckDB for `tarn sql --engine duckdb` and `tarn export --format parquet`
deps-duckdb:
	@command -v npm >/dev/null || tools/deps duckdb
$(DUCKDB): $(DUCKDB_FILE)
	@mkdir -p $(@D); tar -xzf $< -C $(@D) --strip-components=1 package/$(@F) package/LICENSE; touch $@
$(DUCKDB_FILE): | deps-duckdb
