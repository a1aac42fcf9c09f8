"""Non-referential "it": its view of the text, its task, its attributes (Bergsma, Lin and Goebel 2008)."""
