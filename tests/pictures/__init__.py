"""Takes the pictures of the documents and the icons of the site: ``python -m tests.pictures``."""
