"""What the component of this plugin is: spaCy is imported here, and nowhere else in the plugin."""
