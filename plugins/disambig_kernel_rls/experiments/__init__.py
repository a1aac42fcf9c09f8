"""The paper's tables again, and two questions that it leaves open."""
