"""The spaCy component of this plugin.

spaCy is imported only here, so that parsing without spaCy does not load it.
"""
