"""Models over HTTP, on this machine: LanguageTool's public interface, our own records, a page to try them."""
