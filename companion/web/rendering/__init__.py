"""Turns data into HTML: templates, drawings, texts and paper."""
