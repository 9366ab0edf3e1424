"""Pages of HTML about results."""
