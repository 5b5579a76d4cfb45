"""Lines of the log about clients that may not do what they ask for.

Owns their fields. A client that keeps asking does not fill the log.
"""

from __future__ import annotations

import logging

from kraftool.controller.permissions import NotPermitted
from kraftool.decoders.addresses import shown_address
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net.lines import Limit, claimed
from kraftool.net.server import Peer
from kraftool.node.narration import say


def say_refused(
    peer: Peer, frame: RequestFrame, refused: NotPermitted, *, is_forwarded: bool
) -> None:
    """Say who tried what."""
    say(
        "not authorized",
        logging.WARNING,
        limit=Limit(key=(peer.listener, peer.host, peer.principal, refused.operation)),
        principal=claimed(peer.principal),
        operation=refused.operation,
        resource=claimed(f"{refused.resource.title()}:{refused.name}"),
        request=frame.name,
        listener=peer.listener,
        address=_address(peer, is_forwarded=is_forwarded),
    )


def say_not_loaded(peer: Peer, frame: RequestFrame, *, is_forwarded: bool) -> None:
    """Say who came before there were any ACLs to decide by."""
    say(
        "no ACLs are loaded yet",
        logging.WARNING,
        limit=Limit(key=(peer.listener, peer.host, peer.principal)),
        principal=claimed(peer.principal),
        request=frame.name,
        listener=peer.listener,
        address=_address(peer, is_forwarded=is_forwarded),
    )


def _address(peer: Peer, *, is_forwarded: bool) -> str:
    """Of the client. A broker says where its client is, and not by which port."""
    return peer.host if is_forwarded else shown_address(peer.host, peer.port)
