"""The tables and figures of Søgaard and Johannsen (2012) as code."""
