"""The words that completion offers: commands, their options, and the values of these.

Written by tools/completion.py: make man.
"""

_0 = ('log', 'checkpoint', 'bootstrap-checkpoint', 'quorum-state', 'meta-properties', 'leader-epoch-checkpoint', 'offset-checkpoint', 'partition-metadata', 'index', 'timeindex', 'txnindex', 'snapshot', 'properties', 'lock', 'clean-shutdown', 'witness')
_1 = ('table', 'json', 'csv')
_2 = ('auto', 'always', 'never')
_3 = ('table', 'json', 'jsonl', 'csv', 'kafka')
_4 = ('AbortTransactionRecord', 'AccessControlEntryRecord', 'BeginTransactionRecord', 'BrokerRegistrationChangeRecord', 'ClearElrRecord', 'ClientQuotaRecord', 'ConfigRecord', 'DelegationTokenRecord', 'EndTransactionRecord', 'FeatureLevelRecord', 'FenceBrokerRecord', 'NoOpRecord', 'PartitionChangeRecord', 'PartitionRecord', 'ProducerIdsRecord', 'RegisterBrokerRecord', 'RegisterControllerRecord', 'RemoveAccessControlEntryRecord', 'RemoveDelegationTokenRecord', 'RemoveTopicRecord', 'RemoveUserScramCredentialRecord', 'TopicRecord', 'UnfenceBrokerRecord', 'UnregisterBrokerRecord', 'UnregisterControllerRecord', 'UserScramCredentialRecord', 'ZkMigrationStateRecord', 'Abort', 'Commit', 'LeaderChange', 'SnapshotHeader', 'SnapshotFooter', 'KRaftVersion', 'KRaftVoters')
_5 = ('mark', 'hide')
_6 = ('fold', 'show')
_7 = ('topics', 'partitions', 'brokers', 'controllers', 'features', 'configs', 'quotas', 'acls', 'scram', 'tokens')
_8 = ('table', 'tree', 'json', 'jsonl')
_9 = ('elections', 'voters', 'features', 'brokers', 'controllers', 'transactions', 'snapshots', 'partitions', 'topics', 'configs', 'quotas', 'acls', 'users', 'tokens', 'gaps', 'nodes', 'damage')
_10 = ('table', 'json', 'jsonl', 'csv')
_11 = ('list', 'KT-BAK-CHECKPOINT', 'KT-BAK-ENCRYPTED', 'KT-BAK-MANIFEST', 'KT-BAK-NONE', 'KT-BAK-STATE', 'KT-BAK-UNFINISHED', 'KT-DIR-BOOTSTRAP-FORM', 'KT-DIR-CLUSTER-ID', 'KT-DIR-CLUSTER-ID-EMPTY', 'KT-DIR-CURRENT-VOTERS', 'KT-DIR-EMPTY', 'KT-DIR-ENDPOINT-DIFFERS', 'KT-DIR-EPOCHS', 'KT-DIR-EPOCHS-DIFFER', 'KT-DIR-EPOCHS-EMPTY', 'KT-DIR-EPOCHS-MISSING', 'KT-DIR-LEADER-VOTERS', 'KT-DIR-LEFTOVER', 'KT-DIR-LOG-DIR', 'KT-DIR-LOG-DIR-OFFLINE', 'KT-DIR-META', 'KT-DIR-META-MISSING', 'KT-DIR-META-ODD', 'KT-DIR-META-V0', 'KT-DIR-METADATA-PLACE', 'KT-DIR-NO-BOOTSTRAP', 'KT-DIR-NO-DIRECTORY-ID', 'KT-DIR-NO-QUORUM', 'KT-DIR-NODE-ID', 'KT-DIR-NODE-ID-EDITED', 'KT-DIR-NOT-A-VOTER', 'KT-DIR-OFFSETS', 'KT-DIR-QUORUM-LEADER', 'KT-DIR-QUORUM-STATE', 'KT-DIR-QUORUM-STATE-BEHIND', 'KT-DIR-QUORUM-STATE-MISSING', 'KT-DIR-QUORUM-STATE-ODD', 'KT-DIR-QUORUM-VERSION', 'KT-DIR-READ', 'KT-DIR-SAME-DIRECTORY-ID', 'KT-DIR-SAME-NODE-ID', 'KT-DIR-SKIPPED', 'KT-DIR-STALE-VOTER', 'KT-DIR-STATIC-DIFFER', 'KT-DIR-STATIC-IGNORED', 'KT-DIR-TEXT', 'KT-DIR-TOO-LARGE', 'KT-DIR-TOPIC-ID', 'KT-DIR-UNKNOWN-FILE', 'KT-DIR-UNKNOWN-KIND', 'KT-DIR-VOTE-STRANGER', 'KT-DIR-VOTERS-BEHIND', 'KT-DIR-VOTERS-CONFLICT', 'KT-DIR-VOTERS-DIFFER', 'KT-FLEET-FAILED', 'KT-FLEET-KRAFT-VERSION', 'KT-FLEET-METADATA-VERSION', 'KT-FLEET-ONE-OF-CLONES', 'KT-FLEET-OTHER-LOG', 'KT-FLEET-SAME-CLUSTER-ID', 'KT-LIVE-BEYOND-LEADER', 'KT-LIVE-BROKER', 'KT-LIVE-BROKER-ABSENT', 'KT-LIVE-CERTIFICATE-EXPIRED', 'KT-LIVE-CERTIFICATE-EXPIRES', 'KT-LIVE-CLUSTER-ID', 'KT-LIVE-DISAGREE', 'KT-LIVE-ELECTION', 'KT-LIVE-ELECTIONS', 'KT-LIVE-ENDPOINT', 'KT-LIVE-ENDPOINT-NOBODY', 'KT-LIVE-ENDPOINT-OTHER', 'KT-LIVE-EVEN-VOTERS', 'KT-LIVE-FALSE-UPGRADE', 'KT-LIVE-FEATURE-RANGE', 'KT-LIVE-FEATURES-DIFFER', 'KT-LIVE-FENCED', 'KT-LIVE-FEW-VOTERS', 'KT-LIVE-IDLE', 'KT-LIVE-IMBALANCE', 'KT-LIVE-LAG', 'KT-LIVE-NO-ANSWER', 'KT-LIVE-NO-CONTROLLER', 'KT-LIVE-NO-LEADER', 'KT-LIVE-NO-MAJORITY', 'KT-LIVE-NO-SPARE', 'KT-LIVE-ONE-CONTROLLER', 'KT-LIVE-OTHER-DIRECTORY', 'KT-LIVE-REASSIGNING', 'KT-LIVE-REFUSED', 'KT-LIVE-SHUTTING-DOWN', 'KT-LIVE-SILENT', 'KT-LIVE-SNAPSHOT-AGE', 'KT-LIVE-STALE-DIRECTORY', 'KT-LIVE-STALE-REGISTRATION', 'KT-LIVE-STANDBY', 'KT-LIVE-STATIC', 'KT-LIVE-STUCK', 'KT-LIVE-TRANSACTION-OPEN', 'KT-LIVE-TWO-LEADERS', 'KT-LIVE-UNDER-MIN-ISR', 'KT-LIVE-UNDER-REPLICATED', 'KT-LIVE-UNEXPECTED-VOTERS', 'KT-LIVE-UNOBSERVED', 'KT-LIVE-UNREACHED', 'KT-LIVE-VOTER-CHANGE', 'KT-LOG-BATCH-FORM', 'KT-LOG-BEGINS-LATER', 'KT-LOG-CRC', 'KT-LOG-DAMAGE', 'KT-LOG-DIVERGED', 'KT-LOG-END-LOST', 'KT-LOG-EPOCH-BACK', 'KT-LOG-EPOCH-START', 'KT-LOG-FALSE-UPGRADE', 'KT-LOG-FILE-NAME', 'KT-LOG-GAP', 'KT-LOG-INDEX', 'KT-LOG-INDEX-DIFFERS', 'KT-LOG-KRAFT-VERSION', 'KT-LOG-MAGIC', 'KT-LOG-MISSING', 'KT-LOG-NAME', 'KT-LOG-NAME-FORM', 'KT-LOG-NONE', 'KT-LOG-NOT-CHECKED', 'KT-LOG-NOT-METADATA', 'KT-LOG-PRODUCER-STATE', 'KT-LOG-PRODUCERS', 'KT-LOG-RECORD-FORM', 'KT-LOG-RECORDS', 'KT-LOG-REPLAY', 'KT-LOG-SWAP', 'KT-LOG-TORN-TAIL', 'KT-LOG-TWO-LEADERS', 'KT-LOG-TXN-OPEN', 'KT-LOG-UNKNOWN-TYPE', 'KT-LOG-VOTERS', 'KT-LOG-VOTERS-JUMP', 'KT-LOG-ZERO-TAIL', 'KT-REC-AHEAD', 'KT-REC-ANOTHER-PLAN', 'KT-REC-DISAGREE', 'KT-REC-ENDS', 'KT-REC-HALF', 'KT-REC-KEPT', 'KT-REC-LOSES', 'KT-REC-MOVED-ON', 'KT-REC-NO-LEADER', 'KT-REC-NOT-APPLIED', 'KT-REC-NOT-AS-PLANNED', 'KT-REC-NOT-SHOWN', 'KT-REC-OLD-QUORUM', 'KT-REC-QUARANTINED', 'KT-REC-RESTART', 'KT-REC-RETURNED', 'KT-REC-RUNNING', 'KT-REC-SETTING', 'KT-REC-SIMULATOR-DIFFERS', 'KT-REC-START', 'KT-REC-STATE', 'KT-REC-TWO-QUORUMS', 'KT-REC-UNCLEAN', 'KT-REC-UNDONE', 'KT-REC-VOTERS', 'KT-REC-VOTERS-CHANGED', 'KT-SIG-AUTO-JOIN', 'KT-SIG-BROKER-ENDPOINT', 'KT-SIG-BROKER-FENCED', 'KT-SIG-BROKER-TWINS', 'KT-SIG-COMMITTED-MINORITY', 'KT-SIG-DOUBLE-VOTE', 'KT-SIG-ELECTIONS', 'KT-SIG-ELR-MIN-ISR', 'KT-SIG-FAILED-ELECTIONS', 'KT-SIG-FEATURE-RANGE', 'KT-SIG-FOLDER-NAME', 'KT-SIG-FORGOTTEN-VOTE', 'KT-SIG-JUNK-SNAPSHOT', 'KT-SIG-LAG', 'KT-SIG-LAST-KNOWN-ELR', 'KT-SIG-LOCAL-ENDPOINT', 'KT-SIG-LOST-LOG', 'KT-SIG-LOST-REPLICAS', 'KT-SIG-METADATA-COPY', 'KT-SIG-MIGRATION-ORDER', 'KT-SIG-MIN-ISR', 'KT-SIG-NO-LEADER', 'KT-SIG-NO-MAJORITY', 'KT-SIG-NO-METADATA-VERSION', 'KT-SIG-NO-SNAPSHOT', 'KT-SIG-NOT-REGISTERED', 'KT-SIG-ODD-ENDPOINT', 'KT-SIG-OFFLINE', 'KT-SIG-OLD-MAJORITY', 'KT-SIG-OLD-SNAPSHOT', 'KT-SIG-RECOVERING', 'KT-SIG-RESTART-LOOP', 'KT-SIG-SAME-ENDPOINT', 'KT-SIG-SAME-PLACE', 'KT-SIG-SCRAM-CONTROLLERS', 'KT-SIG-SHARED-LOG-DIR', 'KT-SIG-SNAPSHOT-ATTEMPTS', 'KT-SIG-SPLIT-BRAIN', 'KT-SIG-STALE-SNAPSHOT', 'KT-SIG-STRAY', 'KT-SIG-STUCK-REASSIGNMENT', 'KT-SIG-TWO-FORMATS', 'KT-SIG-TWO-VOTER-CHANGES', 'KT-SIG-UNKNOWN-NODE', 'KT-SIG-UPGRADE-DIRECTORY-ID', 'KT-SIG-VOTER-LISTENER', 'KT-SIG-WHOLE-COPY', 'KT-SIG-WIPED-VOTER', 'KT-SNAP-AHEAD', 'KT-SNAP-BATCH-FORM', 'KT-SNAP-BROKER-CONFIG', 'KT-SNAP-BROKER-EPOCH', 'KT-SNAP-DAMAGE', 'KT-SNAP-DIFFERS', 'KT-SNAP-DIVERGED', 'KT-SNAP-EPOCH-BACK', 'KT-SNAP-FALSE-UPGRADE', 'KT-SNAP-FEATURE', 'KT-SNAP-FILE-NAME', 'KT-SNAP-FORM', 'KT-SNAP-KRAFT-VERSION', 'KT-SNAP-LOG-BOUNDARY', 'KT-SNAP-LOG-EPOCH', 'KT-SNAP-LOG-TIMESTAMP', 'KT-SNAP-LOG-VOTERS', 'KT-SNAP-METADATA-VERSION', 'KT-SNAP-MISSING', 'KT-SNAP-NAME', 'KT-SNAP-NONE', 'KT-SNAP-NOT-COMPARED', 'KT-SNAP-ORDER', 'KT-SNAP-PARTITION', 'KT-SNAP-RECORD', 'KT-SNAP-RECORD-FORM', 'KT-SNAP-REPLAY', 'KT-SNAP-SCRAM-LOST', 'KT-SNAP-TOPIC-CONFIG', 'KT-SNAP-TWICE', 'KT-SNAP-UNKNOWN-TYPE', 'KT-SNAP-VOTERS')
_12 = ('KT-BAK-CHECKPOINT', 'KT-BAK-ENCRYPTED', 'KT-BAK-MANIFEST', 'KT-BAK-NONE', 'KT-BAK-STATE', 'KT-BAK-UNFINISHED', 'KT-DIR-BOOTSTRAP-FORM', 'KT-DIR-CLUSTER-ID', 'KT-DIR-CLUSTER-ID-EMPTY', 'KT-DIR-CURRENT-VOTERS', 'KT-DIR-EMPTY', 'KT-DIR-ENDPOINT-DIFFERS', 'KT-DIR-EPOCHS', 'KT-DIR-EPOCHS-DIFFER', 'KT-DIR-EPOCHS-EMPTY', 'KT-DIR-EPOCHS-MISSING', 'KT-DIR-LEADER-VOTERS', 'KT-DIR-LEFTOVER', 'KT-DIR-LOG-DIR', 'KT-DIR-LOG-DIR-OFFLINE', 'KT-DIR-META', 'KT-DIR-META-MISSING', 'KT-DIR-META-ODD', 'KT-DIR-META-V0', 'KT-DIR-METADATA-PLACE', 'KT-DIR-NO-BOOTSTRAP', 'KT-DIR-NO-DIRECTORY-ID', 'KT-DIR-NO-QUORUM', 'KT-DIR-NODE-ID', 'KT-DIR-NODE-ID-EDITED', 'KT-DIR-NOT-A-VOTER', 'KT-DIR-OFFSETS', 'KT-DIR-QUORUM-LEADER', 'KT-DIR-QUORUM-STATE', 'KT-DIR-QUORUM-STATE-BEHIND', 'KT-DIR-QUORUM-STATE-MISSING', 'KT-DIR-QUORUM-STATE-ODD', 'KT-DIR-QUORUM-VERSION', 'KT-DIR-READ', 'KT-DIR-SAME-DIRECTORY-ID', 'KT-DIR-SAME-NODE-ID', 'KT-DIR-SKIPPED', 'KT-DIR-STALE-VOTER', 'KT-DIR-STATIC-DIFFER', 'KT-DIR-STATIC-IGNORED', 'KT-DIR-TEXT', 'KT-DIR-TOO-LARGE', 'KT-DIR-TOPIC-ID', 'KT-DIR-UNKNOWN-FILE', 'KT-DIR-UNKNOWN-KIND', 'KT-DIR-VOTE-STRANGER', 'KT-DIR-VOTERS-BEHIND', 'KT-DIR-VOTERS-CONFLICT', 'KT-DIR-VOTERS-DIFFER', 'KT-FLEET-FAILED', 'KT-FLEET-KRAFT-VERSION', 'KT-FLEET-METADATA-VERSION', 'KT-FLEET-ONE-OF-CLONES', 'KT-FLEET-OTHER-LOG', 'KT-FLEET-SAME-CLUSTER-ID', 'KT-LIVE-BEYOND-LEADER', 'KT-LIVE-BROKER', 'KT-LIVE-BROKER-ABSENT', 'KT-LIVE-CERTIFICATE-EXPIRED', 'KT-LIVE-CERTIFICATE-EXPIRES', 'KT-LIVE-CLUSTER-ID', 'KT-LIVE-DISAGREE', 'KT-LIVE-ELECTION', 'KT-LIVE-ELECTIONS', 'KT-LIVE-ENDPOINT', 'KT-LIVE-ENDPOINT-NOBODY', 'KT-LIVE-ENDPOINT-OTHER', 'KT-LIVE-EVEN-VOTERS', 'KT-LIVE-FALSE-UPGRADE', 'KT-LIVE-FEATURE-RANGE', 'KT-LIVE-FEATURES-DIFFER', 'KT-LIVE-FENCED', 'KT-LIVE-FEW-VOTERS', 'KT-LIVE-IDLE', 'KT-LIVE-IMBALANCE', 'KT-LIVE-LAG', 'KT-LIVE-NO-ANSWER', 'KT-LIVE-NO-CONTROLLER', 'KT-LIVE-NO-LEADER', 'KT-LIVE-NO-MAJORITY', 'KT-LIVE-NO-SPARE', 'KT-LIVE-ONE-CONTROLLER', 'KT-LIVE-OTHER-DIRECTORY', 'KT-LIVE-REASSIGNING', 'KT-LIVE-REFUSED', 'KT-LIVE-SHUTTING-DOWN', 'KT-LIVE-SILENT', 'KT-LIVE-SNAPSHOT-AGE', 'KT-LIVE-STALE-DIRECTORY', 'KT-LIVE-STALE-REGISTRATION', 'KT-LIVE-STANDBY', 'KT-LIVE-STATIC', 'KT-LIVE-STUCK', 'KT-LIVE-TRANSACTION-OPEN', 'KT-LIVE-TWO-LEADERS', 'KT-LIVE-UNDER-MIN-ISR', 'KT-LIVE-UNDER-REPLICATED', 'KT-LIVE-UNEXPECTED-VOTERS', 'KT-LIVE-UNOBSERVED', 'KT-LIVE-UNREACHED', 'KT-LIVE-VOTER-CHANGE', 'KT-LOG-BATCH-FORM', 'KT-LOG-BEGINS-LATER', 'KT-LOG-CRC', 'KT-LOG-DAMAGE', 'KT-LOG-DIVERGED', 'KT-LOG-END-LOST', 'KT-LOG-EPOCH-BACK', 'KT-LOG-EPOCH-START', 'KT-LOG-FALSE-UPGRADE', 'KT-LOG-FILE-NAME', 'KT-LOG-GAP', 'KT-LOG-INDEX', 'KT-LOG-INDEX-DIFFERS', 'KT-LOG-KRAFT-VERSION', 'KT-LOG-MAGIC', 'KT-LOG-MISSING', 'KT-LOG-NAME', 'KT-LOG-NAME-FORM', 'KT-LOG-NONE', 'KT-LOG-NOT-CHECKED', 'KT-LOG-NOT-METADATA', 'KT-LOG-PRODUCER-STATE', 'KT-LOG-PRODUCERS', 'KT-LOG-RECORD-FORM', 'KT-LOG-RECORDS', 'KT-LOG-REPLAY', 'KT-LOG-SWAP', 'KT-LOG-TORN-TAIL', 'KT-LOG-TWO-LEADERS', 'KT-LOG-TXN-OPEN', 'KT-LOG-UNKNOWN-TYPE', 'KT-LOG-VOTERS', 'KT-LOG-VOTERS-JUMP', 'KT-LOG-ZERO-TAIL', 'KT-REC-AHEAD', 'KT-REC-ANOTHER-PLAN', 'KT-REC-DISAGREE', 'KT-REC-ENDS', 'KT-REC-HALF', 'KT-REC-KEPT', 'KT-REC-LOSES', 'KT-REC-MOVED-ON', 'KT-REC-NO-LEADER', 'KT-REC-NOT-APPLIED', 'KT-REC-NOT-AS-PLANNED', 'KT-REC-NOT-SHOWN', 'KT-REC-OLD-QUORUM', 'KT-REC-QUARANTINED', 'KT-REC-RESTART', 'KT-REC-RETURNED', 'KT-REC-RUNNING', 'KT-REC-SETTING', 'KT-REC-SIMULATOR-DIFFERS', 'KT-REC-START', 'KT-REC-STATE', 'KT-REC-TWO-QUORUMS', 'KT-REC-UNCLEAN', 'KT-REC-UNDONE', 'KT-REC-VOTERS', 'KT-REC-VOTERS-CHANGED', 'KT-SIG-AUTO-JOIN', 'KT-SIG-BROKER-ENDPOINT', 'KT-SIG-BROKER-FENCED', 'KT-SIG-BROKER-TWINS', 'KT-SIG-COMMITTED-MINORITY', 'KT-SIG-DOUBLE-VOTE', 'KT-SIG-ELECTIONS', 'KT-SIG-ELR-MIN-ISR', 'KT-SIG-FAILED-ELECTIONS', 'KT-SIG-FEATURE-RANGE', 'KT-SIG-FOLDER-NAME', 'KT-SIG-FORGOTTEN-VOTE', 'KT-SIG-JUNK-SNAPSHOT', 'KT-SIG-LAG', 'KT-SIG-LAST-KNOWN-ELR', 'KT-SIG-LOCAL-ENDPOINT', 'KT-SIG-LOST-LOG', 'KT-SIG-LOST-REPLICAS', 'KT-SIG-METADATA-COPY', 'KT-SIG-MIGRATION-ORDER', 'KT-SIG-MIN-ISR', 'KT-SIG-NO-LEADER', 'KT-SIG-NO-MAJORITY', 'KT-SIG-NO-METADATA-VERSION', 'KT-SIG-NO-SNAPSHOT', 'KT-SIG-NOT-REGISTERED', 'KT-SIG-ODD-ENDPOINT', 'KT-SIG-OFFLINE', 'KT-SIG-OLD-MAJORITY', 'KT-SIG-OLD-SNAPSHOT', 'KT-SIG-RECOVERING', 'KT-SIG-RESTART-LOOP', 'KT-SIG-SAME-ENDPOINT', 'KT-SIG-SAME-PLACE', 'KT-SIG-SCRAM-CONTROLLERS', 'KT-SIG-SHARED-LOG-DIR', 'KT-SIG-SNAPSHOT-ATTEMPTS', 'KT-SIG-SPLIT-BRAIN', 'KT-SIG-STALE-SNAPSHOT', 'KT-SIG-STRAY', 'KT-SIG-STUCK-REASSIGNMENT', 'KT-SIG-TWO-FORMATS', 'KT-SIG-TWO-VOTER-CHANGES', 'KT-SIG-UNKNOWN-NODE', 'KT-SIG-UPGRADE-DIRECTORY-ID', 'KT-SIG-VOTER-LISTENER', 'KT-SIG-WHOLE-COPY', 'KT-SIG-WIPED-VOTER', 'KT-SNAP-AHEAD', 'KT-SNAP-BATCH-FORM', 'KT-SNAP-BROKER-CONFIG', 'KT-SNAP-BROKER-EPOCH', 'KT-SNAP-DAMAGE', 'KT-SNAP-DIFFERS', 'KT-SNAP-DIVERGED', 'KT-SNAP-EPOCH-BACK', 'KT-SNAP-FALSE-UPGRADE', 'KT-SNAP-FEATURE', 'KT-SNAP-FILE-NAME', 'KT-SNAP-FORM', 'KT-SNAP-KRAFT-VERSION', 'KT-SNAP-LOG-BOUNDARY', 'KT-SNAP-LOG-EPOCH', 'KT-SNAP-LOG-TIMESTAMP', 'KT-SNAP-LOG-VOTERS', 'KT-SNAP-METADATA-VERSION', 'KT-SNAP-MISSING', 'KT-SNAP-NAME', 'KT-SNAP-NONE', 'KT-SNAP-NOT-COMPARED', 'KT-SNAP-ORDER', 'KT-SNAP-PARTITION', 'KT-SNAP-RECORD', 'KT-SNAP-RECORD-FORM', 'KT-SNAP-REPLAY', 'KT-SNAP-SCRAM-LOST', 'KT-SNAP-TOPIC-CONFIG', 'KT-SNAP-TWICE', 'KT-SNAP-UNKNOWN-TYPE', 'KT-SNAP-VOTERS')
_13 = ('error', 'warning', 'info')
_14 = ('4.4', '4.4-IV2', '4.4-IV1', '4.4-IV0', '4.3', '4.3-IV0', '4.2', '4.2-IV1', '4.2-IV0', '4.1', '4.1-IV1', '4.1-IV0', '4.0', '4.0-IV3', '4.0-IV2', '4.0-IV1', '4.0-IV0', '3.9', '3.9-IV0', '3.8', '3.8-IV0', '3.7', '3.7-IV4', '3.7-IV3', '3.7-IV2', '3.7-IV1', '3.7-IV0', '3.6', '3.6-IV2', '3.6-IV1', '3.6-IV0', '3.5', '3.5-IV2', '3.5-IV1', '3.5-IV0', '3.4', '3.4-IV0', '3.3', '3.3-IV3')
_15 = ('quorum', 'log', 'state', 'timeline', 'files', 'health', 'voters', 'what_if')
_16 = ('dark', 'light', 'high-contrast', 'colour-blind', 'no-colour')
_17 = ('table', 'json')
_18 = ('append', 'snapshot-jump', 'static-properties')
_19 = ('yaml', 'json')
_20 = ('topics', 'configs', 'acls', 'quotas')
_21 = ('voter', 'observer')
_22 = ('text', 'json')
_23 = ('console', 'parquet:', 'kafka:')
_24 = ('earliest', 'latest')
_25 = ('table', 'jsonl')
_help = (('-h', '--help'), 'Show this message and exit.', None, False)
_as = (('--as',), 'Read the file as this kind of file.', _0, False)
_verbose = (('-v', '--verbose'), 'Show notes in full, and all findings of a kind.', None, False)
_output = (('-o', '--output'), 'Output format.', _1, False)
_show_secrets = (('--show-secrets',), 'Show SCRAM keys, tokens and sensitive config values.', None, False)
_tz = (('--tz',), 'Time zone for times in tables.', (), False)
_out = (('--out',), 'Write to a new file instead of stdout.', (), False)
_color = (('--color',), 'When to use colours.', _2, False)
_quiet = (('-q', '--quiet'), 'Do not report progress on stderr.', None, False)
_debug = (('--debug',), 'Show the traceback of an internal error.', None, False)
_offsets = (('--offsets',), 'Offsets from A to B, both included. A or B may be omitted.', (), False)
_type = (('--type',), 'Show only records of this type. Repeat it for more types.', _4, True)
_since = (('--since',), 'Show records from this time on: ISO-8601, epoch ms, or 2h for two hours ago.', (), False)
_until = (('--until',), 'Show records up to this time. Takes the same forms as --since.', (), False)
_bootstrap_controller = (('--bootstrap-controller',), 'Controllers to ask first. kraftool finds the others from there.', (), False)
_command_config = (('--command-config',), 'Kafka client properties: security.protocol, ssl.*, sasl.*.', (), False)
_resolve = (('--resolve',), 'Address at which this machine reaches a node, such as a port-forward. Repeat it for more nodes.', (), True)
_timeout = (('--timeout',), 'Seconds to wait for a node.', (), False)
_output_2 = (('-o', '--output'), 'Output format.', _10, False)
_ignore = (('--ignore',), 'Leave out findings with this code. Repeat it for more codes.', _12, True)
_mute = (('--mute',), 'Leave out the findings that a file names, each until a date (docs/exporter.md).', (), False)
_show_muted = (('--show-muted',), 'Also list the findings that --mute leaves out.', None, False)
_fail_on = (('--fail-on',), 'Exit 1 if a finding has at least this severity.', _13, False)
_interval = (('--interval',), 'Polling interval.', (), False)
_dry_run = (('--dry-run',), 'Check the change and report what would be done. Change nothing.', None, False)
_output_3 = (('-o', '--output'), 'Output format.', _17, False)
_controller_id = (('-i', '--controller-id'), 'node.id of the voter.', (), False)
_ssh = (('--ssh',), 'Read these hosts with ssh.', (), False)
_sudo = (('--sudo',), 'With --ssh: read with sudo -n on the hosts.', None, False)
_kubectl = (('--kubectl',), 'Read the pods that have these labels.', (), False)
_namespace = (('--namespace',), 'Namespace of the pods.', (), False)
_container = (('--container',), "Container of the pods (default: kubectl's choice).", (), False)
_timeout_2 = (('--timeout',), 'Seconds of silence after which a node fails.', (), False)
_dir = (('--dir',), 'Data directory (metadata.log.dir).', (), False)
_yes = (('--yes',), 'Give the plan id here instead of typing it. You confirm that no Kafka runs on the directory anywhere.', (), False)
_host = (('--host',), 'Name of the host in the plan, if the files do not show it.', (), False)
_config = (('-c', '--config'), 'server.properties of the node, to compare with the plan.', (), False)
_config_2 = (('-c', '--config'), "The node's server.properties.", (), False)
_cluster_id = (('-t', '--cluster-id'), 'Cluster id; the same for every node.', (), False)
_standalone = (('-s', '--standalone'), 'Make this controller the only voter of the first quorum.', None, False)
_initial_controllers = (('-I', '--initial-controllers'), 'Voters of the first quorum; the same value on each of these controllers.', (), False)
_no_initial_controllers = (('-N', '--no-initial-controllers'), 'Let this controller join an existing quorum.', None, False)
_release_version = (('-r', '--release-version'), 'Start the cluster with the feature levels of this release, such as 4.3 or 4.3-IV0. Required when a cluster begins, unless one of the next two is given.', _14, False)
_kafka_home = (('--kafka-home',), 'Use the release of this Kafka installation, from its libs/*server-common*.jar.', (), False)
_bootstrap_controller_2 = (('--bootstrap-controller',), 'Use the metadata.version that this running quorum has finalized.', (), False)
_feature = (('-f', '--feature'), 'Set another level of a feature. Repeat it for more features.', (), True)
_add_scram = (('-S', '--add-scram'), 'SCRAM-SHA-256=[name=alice,password=…], optionally with iterations, salt and saltedpassword. Repeat it for more users.', (), True)
_scram_from = (('--scram-from',), 'Take the SCRAM users of a backup or of a data directory.', (), False)
_ignore_formatted = (('-g', '--ignore-formatted'), 'Leave formatted directories unchanged.', None, False)
_dry_run_2 = (('--dry-run',), 'Show what would be formatted, and how. Write nothing.', None, False)
_metrics_listen = (('--metrics-listen',), 'Address for serving /metrics.', (), False)
_shutdown_timeout = (('--shutdown-timeout',), 'Seconds allowed for shutdown.', (), False)
_log_format = (('--log-format',), 'Log format on stderr.', _22, False)
_cut_damaged_log = (('--cut-damaged-log',), 'Cut a damaged log at the damage, and lose the records after it.', None, False)
_dry_run_3 = (('--dry-run',), 'Show what would run. Write and send nothing.', None, False)
_depth = (('--depth',), 'Maximum search depth below a ROOT.', (), False)
_storage_options = (('--storage-options',), 'File with a JSON object for fsspec, such as the endpoint and credentials for URLs.', (), False)
_master = (('--master',), 'Spark master, such as spark://HOST:7077 or local[4]. By default Spark uses all cores of this machine, or what spark-submit sets.', (), False)
_conf = (('--conf',), 'Spark setting. Repeat it for more settings.', (), True)
_spark_log = (('--spark-log',), "File for the log of Spark's JVM.", (), False)

COMMANDS = {
    '': (
        (('-V', '--version'), 'Show the version and exit.', None, False),
        (('--install-completion',), 'Install completion for the current shell.', None, False),
        (('--show-completion',), 'Show completion for the current shell, to copy it or customize the installation.', None, False),
        _help,
    ),
    'dump': (
        _as,
        (('--records',), 'Also list the records of the log or checkpoint.', None, False),
        (('--head',), 'Show the first N entries of an index.', (), False),
        (('--tail',), 'Show the last N entries of an index.', (), False),
        _verbose, _output, _show_secrets, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'dump-log': (
        (('--files',), 'Paths, as kafka-dump-log takes them, separated by commas.', (), False),
        (('-o', '--output'), 'Output format. kafka prints secrets unmasked, exactly as kafka-dump-log does.', _3, False),
        _offsets,
        (('--epoch',), 'Show only batches of this leader epoch.', (), False),
        _type,
        (('--topic',), 'Show only records about this topic.', (), False),
        (('--broker',), 'Show only records that name this broker.', (), False),
        _since, _until,
        (('--grep',), 'Show only records that match in type, JSON payload (as in -o jsonl) or topic name.', (), False),
        (('--control', '--no-control'), 'Show only control records, or hide them.', None, False),
        (('--transactions',), 'Mark transactions, or hide records that were never applied.', _5, False),
        (('--snapshots',), 'Also show the checkpoints of a directory.', None, False),
        (('-f', '--follow'), 'Keep showing new records as the log grows, until interrupted.', None, False),
        (('--batches-only',), 'Show batch headers without their records.', None, False),
        (('--head',), 'Show only the first N records. Folded no-ops do not count.', (), False),
        (('--tail',), 'Show only the last N records. Folded no-ops do not count.', (), False),
        (('--noops',), 'In a table, fold each run of no-op records into one line, or show each record.', _6, False),
        (('--wide',), "Do not cut lines at the terminal's width.", None, False),
        (('--jobs',), 'Number of threads or processes for large files. 0 uses all processors.', (), False),
        _bootstrap_controller, _command_config, _resolve, _timeout, _show_secrets, _tz, _out, _color, _quiet, _debug,
        (('--cluster-metadata-decoder',), 'Option of kafka-dump-log; always on.', None, False),
        (('--print-data-log',), 'Option of kafka-dump-log; always on.', None, False),
        (('--deep-iteration',), 'Option of kafka-dump-log; always on.', None, False),
        (('--skip-record-metadata',), 'With -o kafka, print only the payloads.', None, False),
        _help,
    ),
    'state': (
        (('--at',), "Show the state before this offset: 100 includes 0 to 99, as in a snapshot's name.", (), False),
        (('--at-time',), 'Show the state at this time: ISO-8601, epoch ms, or 2h for two hours ago.', (), False),
        (('-s', '--section'), 'Show the table of this section instead. Repeat it for more sections.', _7, True),
        (('--topic',), 'Show the partitions of this topic. Repeat it for more topics.', (), True),
        (('--limit',), 'Maximum number of rows in a table. kraftool counts the rows that it leaves out. 0 shows all.', (), False),
        _bootstrap_controller, _command_config, _resolve, _timeout,
        (('-o', '--output'), 'Output format.', _8, False),
        _show_secrets, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'shell': (
        (('--at',), 'Show the state before this offset instead of the last one.', (), False),
        (('-c', '--command'), 'Run these commands, separated by ;, instead of asking. Repeat it for more.', (), True),
        _bootstrap_controller, _command_config, _resolve, _timeout, _show_secrets, _quiet, _debug, _help,
    ),
    'explain': (
        (('--position',), 'Explain the part that contains this byte, and mark it.', (), False),
        (('--offset',), 'Explain the batch with this offset, and mark it.', (), False),
        (('--batches',), 'Number of batches (default 1) or index entries (default 50). 0 shows all.', (), False),
        _as, _output, _out, _show_secrets, _color, _quiet, _debug, _help,
    ),
    'timeline': (
        (('--only',), 'Show only elections, voters, features (kraft.version too), brokers, controllers, transactions, snapshots, partitions, topics, configs, quotas, acls, users, tokens, gaps or nodes. Damage and diverged logs are always shown.', _9, True),
        (('--topic',), 'Show only events about this topic, its partitions, configs and ACLs.', (), False),
        _offsets, _since, _until,
        (('--topics',), 'List created and deleted topics instead of only counting them.', None, False),
        (('--gaps',), 'Show times without a record that are longer than this.', (), False),
        _bootstrap_controller, _command_config, _resolve, _timeout, _output_2, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'doctor': (
        (('--explain',), 'Explain a finding code. `list`, or no code, explains all of them.', _11, False),
        _ignore, _mute, _show_muted, _fail_on, _bootstrap_controller, _command_config, _resolve, _timeout, _verbose, _output, _out, _color, _quiet, _debug, _help,
    ),
    'verify-log': (
        _output, _out, _color, _quiet, _debug, _help,
    ),
    'verify-snapshot': (
        (('--against',), "Compare with the state that this directory's log produces at each offset.", (), False),
        (('--replay', '--no-replay'), "Compare a directory's snapshots with the state that its own log produces.", None, False),
        _output, _out, _color, _quiet, _debug, _help,
    ),
    'diff-state': (
        (('--at',), 'State of A before this offset. It also applies to B unless --to is given.', (), False),
        (('--at-time',), 'State of A at this time: ISO-8601, epoch ms, or 24h for 24 hours ago.', (), False),
        (('--to',), 'State of B (or of A later) before this offset.', (), False),
        (('--at-end',), 'Compare each directory at its own end, not at the last common offset.', None, False),
        (('--ignore',), 'Fields to leave out, separated by commas: leaderEpoch,partitionEpoch.', (), False),
        (('--limit',), 'Maximum number of lines of each kind in the table. 0 shows all.', (), False),
        _bootstrap_controller, _command_config, _resolve, _timeout, _output_2, _show_secrets, _out, _color, _quiet, _debug, _help,
    ),
    'diff-voters': (
        _bootstrap_controller, _command_config, _resolve, _timeout, _output, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'features': (
        (('--to',), 'Check an upgrade or downgrade to a release, such as 4.3 or 4.3-IV0.', _14, False),
        (('--feature',), "Check a change of this feature. With --to it replaces the release's default.", (), True),
        (('--assume-nodes',), 'Check as if every node ran this release, as after a software upgrade.', _14, False),
        _bootstrap_controller, _command_config, _resolve, _timeout, _output, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'watch': (
        _bootstrap_controller, _command_config, _resolve, _timeout, _interval,
        (('--view',), 'View to open first, such as quorum.', _15, False),
        (('--theme',), 'Colour theme. The key t changes it. NO_COLOR switches off colours.', _16, False),
        (('--once',), 'Print the quorum as it is now, and exit.', None, False),
        _mute, _show_muted,
        (('--serve',), 'Show the dashboard in a browser on this machine. Port 0 uses any free port.', (), False),
        _output, _out, _color, _quiet, _debug, _help,
    ),
    'quorum': (
        _help,
    ),
    'quorum describe': (
        _bootstrap_controller,
        (('--status',), 'Print what kafka-metadata-quorum describe --status prints.', None, False),
        (('--replication',), 'Print what kafka-metadata-quorum describe --replication prints.', None, False),
        (('--human-readable',), 'With --replication: show times as time ago.', None, False),
        _command_config, _resolve, _timeout, _output, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'quorum health': (
        _bootstrap_controller,
        (('--quorum-only',), 'Leave out brokers and partitions, and do not read the metadata.', None, False),
        (('--expect-voters',), 'Ids that the voters should have. Others are a warning.', (), False),
        _ignore, _mute, _show_muted,
        (('--wait',), 'Maximum time to wait until the quorum is healthy.', (), False),
        _command_config, _resolve, _timeout, _output, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'quorum may-stop': (
        _bootstrap_controller,
        (('--wait',), 'Wait until the node may stop.', None, False),
        (('--wait-timeout',), 'Maximum time to wait with --wait.', (), False),
        (('--metrics',), 'Address at which a kraftool node serves /metrics. Repeat it for more nodes.', (), True),
        _command_config, _resolve, _timeout, _output, _out, _color, _quiet, _debug, _help,
    ),
    'quorum ready': (
        _bootstrap_controller,
        (('--node',), 'node.id of the node (default: the node at the first address).', (), False),
        _command_config, _resolve, _timeout, _output, _out, _color, _quiet, _debug, _help,
    ),
    'quorum add-controller': (
        _bootstrap_controller,
        (('-c', '--config'), 'server.properties of the new controller. Its directory must be on this machine too.', (), False),
        (('-i', '--controller-id'), 'node.id of the new controller, instead of --config. kraftool gets the rest from the quorum.', (), False),
        (('-d', '--controller-directory-id'), 'directory.id of the new controller (default: the one with which it fetches from the leader).', (), False),
        (('--endpoint',), 'Address for the other controllers, once for each of its controller listeners (default: those that it has registered).', (), True),
        _dry_run, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'quorum remove-controller': (
        _bootstrap_controller, _controller_id,
        (('-d', '--controller-directory-id'), 'directory.id of the voter (default: the one that the leader reports).', (), False),
        (('--unregister',), 'Remove its registration too (metadata.version 4.4-IV2). The controller must be stopped.', None, False),
        _dry_run, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'quorum unregister-controller': (
        _bootstrap_controller, _dry_run, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'quorum renew-registration': (
        _bootstrap_controller,
        (('--yes',), 'Give the id here instead of typing it.', (), False),
        _dry_run, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'quorum endpoints': (
        _bootstrap_controller, _controller_id,
        (('--endpoint',), 'New endpoint of the voter. Repeat it for each of its listeners.', (), True),
        _dry_run, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'quorum upgrade': (
        _bootstrap_controller, _dry_run, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'exporter': (
        _bootstrap_controller, _command_config, _resolve, _timeout,
        (('--name',), 'Value of the label cluster (default: default).', (), False),
        (('--expect-voters',), 'Ids that the voters should have. Others are a finding.', (), False),
        (('--clusters',), 'File with several clusters, in place of --bootstrap-controller.', (), False),
        (('--listen',), 'Address for serving /metrics (default 127.0.0.1:9404).', (), False),
        (('--textfile',), "File to write after each poll, for node_exporter's textfile collector. Nothing is served unless --listen is given, too.", (), False),
        (('--once',), 'Poll once, write --textfile, and exit.', None, False),
        _interval,
        (('--quorum-only',), 'Do not read the metadata: no metrics of brokers, partitions and registrations.', None, False),
        (('--no-endpoints',), 'Do not dial the addresses that the metadata records for nodes.', None, False),
        _ignore, _mute, _color, _quiet, _debug, _help,
    ),
    'simulate-election': (
        (('--scenario',), 'Describe nodes in YAML instead of giving directories.', (), False),
        (('--down',), 'Assume that node N is down.', (), True),
        (('--partition',), 'Assume that 1|2,3 cannot reach each other, or 1>2 in one direction only.', (), True),
        (('--delay',), 'Average delay of a message (default 5).', (), False),
        (('--wipe',), 'Assume that node N was formatted again and is empty.', (), True),
        (('--add-voter',), 'Assume that node N is then added to the voters.', (), True),
        (('--remove-voter',), 'Assume that node N is then removed from the voters.', (), True),
        (('--assume-up',), 'Assume that a voter without a directory runs, with an equal log or N=empty.', (), True),
        (('--witness',), 'Treat node N as a witness. Default: directories with the file kraftool-witness.', (), True),
        (('--seed',), 'Seed of the first run.', (), False),
        (('--runs',), 'Number of runs.', (), False),
        (('--jobs',), 'Number of processes for the runs. 0 uses all processors.', (), False),
        _output, _out,
        (('-v', '--verbose'), 'Show the whole report, not only one proof.', None, False),
        _color, _quiet, _debug, _help,
    ),
    'recover': (
        _help,
    ),
    'recover guide': (
        (('--folder',), 'Folder of the recovery (default recovery-TIME). If it exists, the guide continues it.', (), False),
        _debug, _help,
    ),
    'recover collect': (
        (('--out',), 'New file to carry to where you plan.', (), False),
        (('--keep',), 'With --ssh or --kubectl: skip nodes with a file in --out.', None, False),
        (('--at',), 'Also hash the state at this offset.', (), False),
        _output_3, _quiet, _debug, _ssh, _sudo, _kubectl, _namespace, _container, _timeout_2, _help,
    ),
    'recover plan': (
        (('--method',), 'Method to use instead of the one that the rules choose.', _18, False),
        (('--fence',), 'Give all kept nodes a new cluster id.', None, False),
        (('--kafka-version',), 'Oldest Kafka version on any controller or broker.', (), False),
        (('--set',), 'A fact that only you know, such as lost=2,3. Repeat it for more facts.', (), True),
        (('--accept',), 'Accept a risk. The refusal names the word for it.', (), True),
        (('-o', '--output'), 'yaml is the plan, which apply takes. json adds the judgement, for programs.', _19, False),
        (('--out',), 'New file for the plan.', (), False),
        _quiet, _debug, _help,
    ),
    'recover rehearse': (
        (('--dir',), 'Data directory or a copy of it, one per host in the plan. Repeat it for more hosts.', (), True),
        (('--source',), 'Directory of another host that files are made from, unless --dir names it.', (), True),
        (('--kafka',), 'Folder of a Kafka to start on the copies (default $KAFKA_HOME).', (), False),
        (('--no-nodes',), 'Start nothing on the copies. Only simulate.', None, False),
        (('--seeds',), 'Number of simulated runs of each kind.', (), False),
        (('--timeout',), 'Seconds to wait for a leader.', (), False),
        (('--keep',), 'Keep the copies in this new or empty folder.', (), False),
        _output_3, _color, _quiet, _debug, _help,
    ),
    'recover apply': (
        _dir, _yes,
        (('--accept',), 'With --yes: accept a risk. The plan names the word for each risk. Repeat it for more risks.', (), True),
        _host,
        (('--source',), 'Directory of another host that files are made from. Repeat it for more hosts.', (), True),
        _config,
        (('--dry-run',), 'Check, and report what would be done. Change nothing.', None, False),
        _output_3, _quiet, _debug, _help,
    ),
    'recover verify': (
        (('--dir',), 'Data directory. Repeat it for more directories.', (), True),
        (('--bootstrap-controller',), 'Controllers of the recovered quorum. kraftool finds the others from there.', (), False),
        _host, _config, _command_config, _resolve, _timeout, _output_3, _tz, _color, _quiet, _debug, _help,
    ),
    'recover undo': (
        _dir, _yes, _host, _output_3, _quiet, _debug, _help,
    ),
    'backup': (
        _help,
    ),
    'backup create': (
        (('--at',), 'Keep the state before this offset, not the last.', (), False),
        (('--encrypt-to',), 'Encrypt with age to this public key (age1… or ssh-…). Repeat it for more keys.', (), True),
        (('--without-secrets',), 'Leave out SCRAM users, and config values that are not known to be harmless.', None, False),
        _bootstrap_controller, _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'backup list': (
        _output, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'backup info': (
        _output_3, _tz, _out, _color, _quiet, _debug, _help,
    ),
    'backup verify': (
        _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'backup restore': (
        _bootstrap_controller,
        (('--apply',), 'Send the requests. Without it kraftool only shows them.', None, False),
        (('--only',), 'Restore only this. Repeat it for more.', _20, True),
        (('--topic',), "Restore only these topics: a name, or a pattern such as 'orders-*'. Repeat it for more.", (), True),
        (('--replication-factor',), 'Number of replicas of new topics (default: as many as each topic had).', (), False),
        (('--overwrite',), 'Replace configs and quotas that have another value.', None, False),
        _command_config, _resolve, _timeout, _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'backup unpack': (
        (('--node-id',), 'node.id of the directory.', (), False),
        _color, _quiet, _debug, _help,
    ),
    'backup prune': (
        (('--keep',), 'Keep the newest N backups.', (), False),
        (('--keep-days',), 'Keep backups that are not older.', (), False),
        (('--dry-run',), 'Report what would be removed. Change nothing.', None, False),
        _output_3, _out, _color, _quiet, _debug, _help,
    ),
    'bundle': (
        (('--out',), 'New file. Its name ends with .zip.', (), False),
        _bootstrap_controller, _command_config, _resolve,
        (('--server-logs',), "Folder or file of the server's log on the node (default: as the process says).", (), False),
        (('--server-log-mb',), "Newest part of the server's log.", (), False),
        (('--most',), 'Most metadata of a node.', (), False),
        (('--with-secrets',), 'Do not mask secrets in logs and snapshots.', None, False),
        _output_3, _quiet, _debug, _ssh, _sudo, _kubectl, _namespace, _container, _timeout_2, _help,
    ),
    'format': (
        _config_2, _cluster_id, _standalone, _initial_controllers, _no_initial_controllers, _release_version, _kafka_home, _bootstrap_controller_2, _feature, _add_scram, _scram_from, _command_config, _resolve, _timeout, _ignore_formatted, _dry_run_2, _output_3, _quiet, _debug, _help,
    ),
    'storage': (
        _help,
    ),
    'storage format': (
        _config_2, _cluster_id, _standalone, _initial_controllers, _no_initial_controllers, _release_version, _kafka_home, _bootstrap_controller_2, _feature, _add_scram, _scram_from, _command_config, _resolve, _timeout, _ignore_formatted, _dry_run_2, _output_3, _quiet, _debug, _help,
    ),
    'storage info': (
        _config_2, _output_3, _out, _quiet, _debug, _help,
    ),
    'storage random-uuid': (
        _debug, _help,
    ),
    'storage version-mapping': (
        (('-r', '--release-version'), 'A release, such as 4.3 or 4.3-IV0 (default: the newest).', _14, False),
        _debug, _help,
    ),
    'storage feature-dependencies': (
        (('-f', '--feature'), 'A feature level. Repeat it for more features.', (), True),
        _debug, _help,
    ),
    'node': (
        _help,
    ),
    'node run': (
        (('-c', '--config'), 'server.properties of the node.', (), False),
        (('--role',), 'Role of the node (default: the role that its own log shows).', _21, False),
        (('--witness',), 'Vote and replicate, but run no controller; lead as a last resort.', None, False),
        (('--image', '--no-image'), 'Replay the metadata and write snapshots. A voter with --no-image is a witness.', None, False),
        (('--override',), 'Override a property of the file.', (), True),
        _metrics_listen, _shutdown_timeout, _log_format, _cut_damaged_log, _dry_run_3, _color, _quiet, _debug, _help,
    ),
    'node standalone': (
        (('--listen',), 'Address for brokers (default 127.0.0.1:9093).', (), False),
        (('-r', '--release-version'), 'Start with the feature levels of this release, such as 3.9 (default: the newest that Kafka 4.3 and 4.4 accept).', _14, False),
        _metrics_listen, _shutdown_timeout, _log_format, _cut_damaged_log, _dry_run_3, _color, _quiet, _debug, _help,
    ),
    'demo': (
        _color, _quiet, _debug, _help,
    ),
    'pipeline': (
        _help,
    ),
    'pipeline stream': (
        (('--to',), 'Destination: console, parquet:DIR, or kafka:HOST:PORT/TOPIC (several HOST:PORT separated by commas).', _23, False),
        (('--checkpoint',), "Folder for the stream's position, so that the next run continues from there. Without it, a console stream starts from scratch, and a Parquet stream stores its position in its own folder.", (), False),
        (('--from',), 'Position at which a new stream starts.', _24, False),
        (('--once',), 'Process what the logs have now, and exit.', None, False),
        _interval,
        (('--rate',), 'Amount of the logs to read at a time, such as 64M (default: 4M to the console, else 256M).', (), False),
        _type,
        (('--cluster',), 'Read only this cluster. Repeat it for more clusters.', (), True),
        (('--findings', '--no-findings'), 'Also report findings for changed files.', None, False),
        (('--kafka-conf',), "Setting of Kafka's producer, such as for TLS. Repeat it for more settings. Values are never shown.", (), True),
        (('-o', '--output'), 'Format of the console.', _25, False),
        _show_secrets, _tz, _depth, _storage_options, _color, _quiet, _debug, _master, _conf, _spark_log, _help,
    ),
    'pipeline audit': (
        (('--html',), 'Write an HTML report to this new file.', (), False),
        (('--out-table',), 'Add the findings to this Delta table, a folder or an s3:// URL.', (), False),
        (('--out-options',), 'File with a JSON object for the object store of --out-table, such as aws_access_key_id and aws_endpoint_url. By default they come from the environment.', (), False),
        (('--since',), 'Show what is new and what is gone since a run of --out-table, by its number or as last. Exit 1 or 3 only for new findings.', (), False),
        _ignore, _mute, _show_muted, _fail_on, _output_3, _out, _depth, _storage_options, _color, _quiet, _debug, _master, _conf, _spark_log, _help,
    ),
    'pipeline tables': (
        (('--out',), 'Folder or s3:// URL of the tables: new, empty, or from an earlier run.', (), False),
        (('--out-options',), 'File with a JSON object for the object store of --out, such as aws_access_key_id and aws_endpoint_url. By default they come from the environment.', (), False),
        (('--snapshots',), 'Also write the records of snapshots.', None, False),
        (('--optimize',), 'Put the small files of each table together afterwards.', None, False),
        _show_secrets,
        (('-o', '--output'), 'Format of the report on stdout.', _1, False),
        _depth, _storage_options, _color, _quiet, _debug, _master, _conf, _spark_log, _help,
    ),
}
