"""Trees as pictures: in the terminal, and in a page of HTML."""
