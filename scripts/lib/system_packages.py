"""Installs a package of the distribution where that is possible without asking anybody."""

import os
import shutil

from lib.steps import Fault, Log, say

QUIET = {"DEBIAN_FRONTEND": "noninteractive"}


def install(names: list[str], why: str, log: Log) -> None:
    """Installs Debian packages as root or through a sudo that asks nothing.

    Raises Fault with the command to type where that cannot be.
    """
    wanted = " ".join(names)
    by_hand = f"{why} Install it with: sudo apt-get install {wanted}."
    if shutil.which("apt-get") is None:
        raise Fault(f"{why} Install {wanted} with your system's packages.")
    prefix: list[str] = []
    if os.getuid() != 0:
        if shutil.which("sudo") is None:
            raise Fault(by_hand)
        prefix = ["sudo", "-n"]
    say(f"Installing {wanted} …")
    try:
        log.run([*prefix, "apt-get", "update"], by_hand, env=QUIET)
        log.run([*prefix, "apt-get", "install", "-y", "--no-install-recommends", *names], by_hand, env=QUIET)
    except Fault:
        raise Fault(by_hand) from None
