"""`kraftool format`: a node's directories, made ready for a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet, ServerProperties
from kraftool.commands.output import Output, printable
from kraftool.commands.quorum_options import (
    AccessOptions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraftool.storage.format_plan import FormatPlan
    from kraftool.storage.scram_records import ScramUser


def format_(
    *,
    config: ServerProperties,
    cluster_id: Annotated[
        str,
        Option("--cluster-id", "-t", metavar="ID", help="Cluster id; the same for every node."),
    ],
    standalone: Annotated[
        bool,
        Option(
            "--standalone", "-s", help="Make this controller the only voter of the first quorum."
        ),
    ] = False,
    initial_controllers: Annotated[
        str,
        Option(
            "--initial-controllers",
            "-I",
            metavar="ID@HOST:PORT:DIRECTORY_ID,…",
            help="Voters of the first quorum; the same value on each of these controllers.",
        ),
    ] = "",
    no_initial_controllers: Annotated[
        bool,
        Option(
            "--no-initial-controllers", "-N", help="Let this controller join an existing quorum."
        ),
    ] = False,
    release_version: Annotated[
        str,
        Option(
            "--release-version",
            "-r",
            metavar="RELEASE",
            help="Start the cluster with the feature levels of this release, such as 4.3 or"
            " 4.3-IV0. Required when a cluster begins, unless one of the next two is given.",
        ),
    ] = "",
    kafka_home: Annotated[
        str,
        Option(
            "--kafka-home",
            metavar="DIR",
            help="Use the release of this Kafka installation, from its libs/*server-common*.jar.",
        ),
    ] = "",
    bootstrap_controller: Annotated[
        str,
        Option(
            "--bootstrap-controller",
            metavar="HOST:PORT,…",
            help="Use the metadata.version that this running quorum has finalized.",
        ),
    ] = "",
    feature: Annotated[
        list[str] | None,
        Option(
            "--feature",
            "-f",
            metavar="NAME=LEVEL",
            help="Set another level of a feature. Repeat it for more features.",
        ),
    ] = None,
    add_scram: Annotated[
        list[str] | None,
        Option(
            "--add-scram",
            "-S",
            metavar="CREDENTIAL",
            help="SCRAM-SHA-256=[name=alice,password=…], optionally with iterations, salt and"
            " saltedpassword. Repeat it for more users.",
        ),
    ] = None,
    scram_from: Annotated[
        str,
        Option(
            "--scram-from",
            metavar="PATH",
            help="Take the SCRAM users of a backup or of a data directory.",
        ),
    ] = "",
    access: AccessOptions,
    ignore_formatted: Annotated[
        bool,
        Option("--ignore-formatted", "-g", help="Leave formatted directories unchanged."),
    ] = False,
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Show what would be formatted, and how. Write nothing."),
    ] = False,
    output: PlainOutput = PlainFormat.TABLE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Format the directories of a node for a cluster.

    \b
    Examples:
    $ kraftool format -c /etc/kafka/server.properties -t 5L6g3nShT-eMCtK--X86sw -s -r 4.3 --dry-run
    $ kraftool storage format -c /etc/kafka/server.properties -t 5L6g3nShT-eMCtK--X86sw -N --dry-run

    Takes the options of kafka-storage format, and writes the same files. Each directory gets a
    meta.properties, and a new cluster gets its first records. A controller of a dynamic quorum also
    gets the initial voters. Up to metadata.version 4.3-IV0 kraftool lays out files as Kafka 4.3
    does, and from 4.4 on as Kafka 4.4.0 does.

    For a new cluster kraftool has to know the release of its oldest server. If the levels are newer
    than a server, that server exits at start, or loses the users of --add-scram. Name the release
    with --release-version, --kafka-home, --bootstrap-controller or --feature
    metadata.version=LEVEL. The output shows which one was used. A broker, and a controller with
    --no-initial-controllers, need no release: without one kraftool writes only meta.properties,
    which every Kafka can read.

    In addition to what Kafka refuses, kraftool refuses anything that would give one cluster two
    voter sets. It refuses a directory whose metadata partition already has a log, and a second
    directory with one. It refuses voters that share an address or a directory id. It refuses a
    formatted directory whose id differs from the one in --initial-controllers.

    A formatted directory is never changed. meta.properties is written last, so you can run an
    interrupted command again. Relative directories are below the working directory, as for Kafka.
    """
    from kraftool.commands.format_release import choose_release
    from kraftool.decoders.java_text import read_uuid
    from kraftool.node.config import read_config
    from kraftool.storage.format_levels import FormatImpossible, FormatRefused, feature_levels
    from kraftool.storage.format_plan import plan_format
    from kraftool.storage.format_request import FormatRequest
    from kraftool.storage.scram_records import scram_user

    to = Output(quiet=quiet)
    read = read_config(config)
    for note in read.notes:
        to.note(note)
    if not cluster_id.strip():
        raise UsageError("--cluster-id is empty", hint="`kraftool storage random-uuid` gives one")
    if read_uuid(cluster_id) is None:
        to.note(
            f"--cluster-id {printable(cluster_id)} does not have the form that `kraftool"
            " storage random-uuid` prints. Kafka accepts it: every node of the cluster needs"
            " exactly this text"
        )
    target = None
    if bootstrap_controller:
        target = access.target_at(bootstrap_controller)
    else:
        access.refuse_without_quorum()
    try:
        features = feature_levels(feature or [])
        release = choose_release(release_version, features, kafka_home, target)
        request = FormatRequest(
            node_id=read.node_id,
            cluster_id=cluster_id,
            directories=read.directories(),
            metadata_directory=read.metadata_directory,
            is_controller=read.is_controller,
            static_voters=read.static_voters,
            listener=read.default_listener,
            advertised=read.listeners.advertised.get(read.default_listener),
            standalone=standalone,
            initial_controllers=initial_controllers,
            no_initial_controllers=no_initial_controllers,
            release=release.name,
            metadata_version_source=release.source or None,
            running_cluster=release.cluster_id,
            features=features,
            scram_users=[*_kept_users(scram_from), *map(scram_user, add_scram or ())],
            ignore_formatted=ignore_formatted,
            is_dry_run=dry_run,
        )
        plan = plan_format(request)
    except FormatImpossible as error:
        raise UsageError(error.message, hint=error.hint) from None
    except FormatRefused as error:
        raise RefusedError(error.message, hint=error.hint) from None
    for note in (*plan.notes, *(f"{problem}; left out" for problem in plan.unusable)):
        to.note(note)
    if output is PlainFormat.JSON:
        if not dry_run:
            for _ in _written(plan):
                pass
        to.document(plan)
    elif dry_run:
        _show(to, plan)
    else:
        if release.is_looked_up and plan.directories:
            to.line(f"The release {release.name} comes from {printable(release.source)}.")
        for line in _written(plan):
            to.line(line)
            to.flush()
        if not plan.directories:
            to.line("All of the log directories are already formatted.")
    to.finish()


def _kept_users(path: str) -> list[ScramUser]:
    """The SCRAM users of a PATH."""
    if not path:
        return []
    from kraftool.reports.state.load import load_state
    from kraftool.storage.scram_records import scram_users_of

    return scram_users_of(load_state(path).image.scram)


def _written(plan: FormatPlan) -> Iterator[str]:
    """Carry the plan out; a line for each directory when it is begun, in kafka-storage's words."""
    import time

    from kraftool.image.metadata_version import METADATA_VERSION, level_name
    from kraftool.storage.files import Files
    from kraftool.storage.format_write import write_format

    level = plan.metadata_version
    named = "" if level is None else f" with {METADATA_VERSION} {level_name(level)}"
    for directory in write_format(plan, Files(), int(time.time() * 1000)):
        yield f"Formatting {directory.role.value} {printable(directory.path)}{named}."


def _show(to: Output, plan: FormatPlan) -> None:
    """Show what would be done. Directory ids that are chosen by lot are not shown: others will
    be.
    """
    to.line(f"Cluster {printable(plan.cluster_id)}, node {plan.node_id}")
    if plan.is_beginning:
        _show_beginning(to, plan)
    for directory in plan.directories:
        to.line(f"Would format {directory.role.value} {printable(directory.path)}")
    for path in plan.formatted:
        to.line(f"Would leave {printable(path)}, which is formatted")
    if not plan.directories:
        to.line("All of the log directories are already formatted: nothing would be written.")


def _show_beginning(to: Output, plan: FormatPlan) -> None:
    """The cluster's first records and voters."""
    from kraftool.image.metadata_version import METADATA_VERSION, level_name

    for name, level in plan.levels.items():
        origin = f" ({level_name(level)}), from {printable(plan.metadata_version_source or '')}"
        to.line(f"  {name}={level}{origin if name == METADATA_VERSION else ''}")
    for user in plan.scram_users:
        to.line(f"  {user.mechanism} for {printable(user.name)}")
    for voter in plan.voters:
        for name, at in voter.endpoints.items():
            to.line(f"  voter {voter.id} at {printable(str(at))} ({printable(name)})")
