S It depends of the weather , and its hard to find a quite place . It was better then we had hoped .
A 2 3|||R:SLIP|||on|||REQUIRED|||-NONE-|||0
A 7 8|||R:FORM|||it's|||REQUIRED|||-NONE-|||0
A 12 13|||R:SPELLING|||quiet|||REQUIRED|||-NONE-|||0
A 18 19|||R:SPELLING|||than|||REQUIRED|||-NONE-|||0

S We sat on the bank of the river . He has an interest in old maps , and it is clear that he will loose them .
A 24 25|||R:SLIP|||lose|||REQUIRED|||-NONE-|||0

