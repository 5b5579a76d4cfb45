"""HOST:PORT, as Kafka's settings, records and options write it.

Owns where the host ends and the port begins. It refuses to look a name up, and leaves to its users
what they take for a host: Kafka's settings allow less than an option may.
"""

HIGHEST_PORT = 65535


def host_and_port(text: str) -> tuple[str, int | None]:
    """Host, an IPv6 address without its brackets, and port; None for what is no port's number."""
    host, mark, port = text.strip().rpartition(":")
    if not mark:
        host, port = port, ""
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    # Python refuses to convert thousands of digits.
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 10 else -1
    return host, number if 0 <= number <= HIGHEST_PORT else None


def shown_address(host: str, port: int) -> str:
    """HOST:PORT, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
