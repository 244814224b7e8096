"""The routes, one module for each subject; the `blueprint` of each is found by itself."""
