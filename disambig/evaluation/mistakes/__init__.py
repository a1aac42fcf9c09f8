"""How many real mistakes a checker finds and mends, and how often it flags what is right.

A checker is whatever proposes edits of texts (`edits`): models (`checkers`), or a program beside them. It is
asked once (`trial`), for all that it could propose; figures at any limit come out of that (`figures`).
"""
