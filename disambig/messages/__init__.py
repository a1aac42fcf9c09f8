"""All messages for users, each with its code, grouped by the range of the code.

A message is one line that says what happened, what was seen and what to do. This
package contains only messages.
"""
