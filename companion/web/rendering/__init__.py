"""From data to HTML: templates, drawings, texts, paper."""
