"""Bundles of directories on this machine, for tests."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftool.bundle.contents import BundleContents
from kraftool.commands.bundle_run import BundleLimits, make_bundle
from kraftool.commands.output import Output
from kraftool.commands.remote_nodes import local_nodes
from kraftool.commands.remote_script import BundleWish
from kraftool.decoders import shown_names
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import DoctorReport, diagnose
from kraftool.storage import bundle_files

NO_LOGS = BundleWish(log_bytes=1 << 20, server_logs="/nowhere")


def bundle_of(
    *paths: Path, file: Path, most: int = 1 << 30, with_secrets: bool = False
) -> BundleContents:
    """Write a bundle of these directories, without reports."""
    with zipfile.ZipFile(file, "w") as bundle:
        return make_bundle(
            Output(quiet=True),
            local_nodes([str(path) for path in paths], NO_LOGS),
            bundle,
            BundleLimits(metadata=most, server_logs=1 << 20),
            lambda _: iter(()),
            name=str(file),
            seconds=60,
            with_secrets=with_secrets,
        )


@contextmanager
def as_new_process() -> Iterator[None]:
    """What one process has opened is nothing to the next one."""
    bundle_files.forget()
    shown_names.forget()
    try:
        yield
    finally:
        bundle_files.forget()
        shown_names.forget()


def doctor(*paths: object) -> DoctorReport:
    locations, unread = locations_of([str(path) for path in paths])
    return diagnose(examine(locations, unread))
