"""The native port: framing, parts, the handshake, the guard of the standard descriptors."""
