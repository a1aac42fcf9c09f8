"""Part-of-speech tags: features of tokens, the structured perceptron, the component."""
