"""The tables and figures of Gao, Suzuki and Yu (2006), and what their learners give elsewhere."""
