"""A run of `eval run` as one page of HTML: `kept` reads it, `build` makes records, `page` writes."""
