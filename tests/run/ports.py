"""Ports of loopback that nobody else takes."""

import random
import socket

# Whoever chose a port keeps it from the other tests on this machine as long as it lives: by the
# name of a socket, which ends with it.
kept = []


def first_of_its_own():
    """The first port that the kernel gives to those that ask for any."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        return int(file.read().split()[0])


def free_port():
    """A port that nobody listens on. It is none of those that the kernel gives to those that ask
    for any: between this answer and its use, another process could get it."""
    end = first_of_its_own()
    begin = 10240 if end > 12000 else 1024
    for _ in range(10000):
        port = random.randrange(begin, end)
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0slackline test port {port}")
            with socket.socket() as taken:
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                taken.bind(("127.0.0.1", port))
        except OSError:
            name.close()
            continue
        kept.append(name)
        return port
    raise RuntimeError(f"no port from {begin} to {end} is free")
