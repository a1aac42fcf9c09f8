"""The spaCy component of this plugin.

spaCy is imported only here, so that parsing without spaCy's pipelines does not load it.
"""
