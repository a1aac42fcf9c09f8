"""CSV, TSV and Parquet: rows as documents, decisions as rows."""
