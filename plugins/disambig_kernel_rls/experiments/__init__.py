"""The tables of Popescu (2004) as code, and what the paper does not have: learning curves, genre shift."""
