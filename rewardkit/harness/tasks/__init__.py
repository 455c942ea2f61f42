"""Problems, how to ask them and who judges the replies."""
