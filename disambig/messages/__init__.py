"""Every message that a user can cause, each with its code, in files by code.

A message says what happened, what was seen and what to do, in one line. Nothing but messages lives here.
"""
