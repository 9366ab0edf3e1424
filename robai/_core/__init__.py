"""Compiled rules and engines; private."""
