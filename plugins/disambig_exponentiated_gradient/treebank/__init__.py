"""Treebanks: trees and their brackets, read, changed, headed and compared."""
