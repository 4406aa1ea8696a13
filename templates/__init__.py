"""The templates of issues and reports (Jinja2), installed as bundler.templates."""
