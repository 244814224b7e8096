"""The pages and posts, by what they are about."""
