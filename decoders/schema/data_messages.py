"""Control records, quorum-state and other plain data of Kafka 4.4.0.

Written by tools/catalogue.py; the notation is described in notation.py.
"""

MESSAGES = """
AbortedTxn data - versions 0
  producerId int64 0+
  firstOffset int64 0+
  lastOffset int64 0+
  lastStableOffset int64 0+

ConsumerProtocolAssignment data - versions 0-3
  assignedPartitions []TopicPartition 0+
    topic string 0+ entity topicName mapkey
    partitions []int32 0+
  userData bytes 0+ nullable 0+ default null

ConsumerProtocolSubscription data - versions 0-3
  topics []string 0+
  userData bytes 0+ nullable 0+ default null
  ownedPartitions []TopicPartition 1+ ignorable
    topic string 1+ entity topicName mapkey
    partitions []int32 1+
  generationId int32 2+ default -1 ignorable
  rackId string 3+ nullable 3+ default null ignorable

ControlRecordTypeSchema data - versions 0
  type int16 0+

DefaultPrincipalData data - versions 0 flexible 0+
  type string 0+
  name string 0+
  tokenAuthenticated bool 0+

EndTxnMarker data - versions 0
  coordinatorEpoch int32 0+

KRaftVersionRecord data - versions 0 flexible 0+
  version int16 0+
  kRaftVersion int16 0+

LeaderChangeMessage data - versions 0-1 flexible 0+
  struct Voter
    voterId int32 0+
    voterDirectoryId uuid 1+
  version int16 0+
  leaderId int32 0+ entity brokerId
  voters []Voter 0+
  grantingVoters []Voter 0+

QuorumStateData data - versions 0-1 flexible 0+
  clusterId string 0
  leaderId int32 0+ default -1
  leaderEpoch int32 0+ default -1
  votedId int32 0+ default -1
  votedDirectoryId uuid 1+
  appliedOffset int64 0
  currentVoters []Voter 0 nullable 0
    voterId int32 0

SnapshotFooterRecord data - versions 0 flexible 0+
  version int16 0+

SnapshotHeaderRecord data - versions 0 flexible 0+
  version int16 0+
  lastContainedLogTimestamp int64 0+

VotersRecord data - versions 0 flexible 0+
  version int16 0+
  voters []Voter 0+
    voterId int32 0+ entity brokerId
    voterDirectoryId uuid 0+
    endpoints []Endpoint 0+
      name string 0+ mapkey
      host string 0+
      port uint16 0+
    kRaftVersionFeature KRaftVersionFeature 0+
      minSupportedVersion int16 0+
      maxSupportedVersion int16 0+
"""
