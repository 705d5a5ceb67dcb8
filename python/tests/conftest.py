"""Ctrl-C is tested: a shell that starts the tests in the background lets them ignore SIGINT."""
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
