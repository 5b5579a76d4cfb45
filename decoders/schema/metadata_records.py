"""The metadata records of Kafka 4.4.0: what the log carries.

Written by tools/catalogue.py; the notation is described in notation.py.
"""

MESSAGES = """
AbortTransactionRecord metadata 25 versions 0 flexible 0+
  reason string 0+ nullable 0+ tag 0 default null

AccessControlEntryRecord metadata 18 versions 0 flexible 0+
  id uuid 0+
  resourceType int8 0+
  resourceName string 0+
  patternType int8 0+
  principal string 0+
  host string 0+
  operation int8 0+
  permissionType int8 0+

BeginTransactionRecord metadata 23 versions 0 flexible 0+
  name string 0+ nullable 0+ tag 0 default null

BrokerRegistrationChangeRecord metadata 17 versions 0-3 flexible 0+
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+
  fenced int8 0+ tag 0
  inControlledShutdown int8 1+ tag 1
  logDirs []uuid 2+ tag 2
  cordonedLogDirs []uuid 3+ nullable 3+ tag 3 default null

ClearElrRecord metadata 28 versions 0 flexible 0+
  topicName string 0+ entity topicName

ClientQuotaRecord metadata 14 versions 0 flexible 0+
  entity []EntityData 0+
    entityType string 0+
    entityName string 0+ nullable 0+
  key string 0+
  value float64 0+
  remove bool 0+

ConfigRecord metadata 4 versions 0 flexible 0+
  resourceType int8 0+
  resourceName string 0+
  name string 0+
  value string 0+ nullable 0+

DelegationTokenRecord metadata 10 versions 0 flexible 0+
  owner string 0+
  requester string 0+
  renewers []string 0+
  issueTimestamp int64 0+
  maxTimestamp int64 0+
  expirationTimestamp int64 0+
  tokenId string 0+

EndTransactionRecord metadata 24 versions 0 flexible 0+

FeatureLevelRecord metadata 12 versions 0 flexible 0+
  name string 0+
  featureLevel int16 0+

FenceBrokerRecord metadata 7 versions 0 flexible 0+
  id int32 0+ entity brokerId
  epoch int64 0+

NoOpRecord metadata 20 versions 0 flexible 0+

PartitionChangeRecord metadata 5 versions 0-2 flexible 0+
  partitionId int32 0+ default -1
  topicId uuid 0+
  isr []int32 0+ nullable 0+ tag 0 default null entity brokerId
  leader int32 0+ tag 1 default -2 entity brokerId
  replicas []int32 0+ nullable 0+ tag 2 default null entity brokerId
  removingReplicas []int32 0+ nullable 0+ tag 3 default null entity brokerId
  addingReplicas []int32 0+ nullable 0+ tag 4 default null entity brokerId
  leaderRecoveryState int8 0+ tag 5 default -1
  directories []uuid 1+ nullable 1+ tag 8 default null
  eligibleLeaderReplicas []int32 2+ nullable 2+ tag 6 default null entity brokerId
  lastKnownElr []int32 2+ nullable 2+ tag 7 default null entity brokerId

PartitionRecord metadata 3 versions 0-2 flexible 0+
  partitionId int32 0+ default -1
  topicId uuid 0+
  replicas []int32 0+ entity brokerId
  isr []int32 0+
  removingReplicas []int32 0+ entity brokerId
  addingReplicas []int32 0+ entity brokerId
  leader int32 0+ default -1 entity brokerId
  leaderRecoveryState int8 0+ tag 0 default 0
  leaderEpoch int32 0+ default -1
  partitionEpoch int32 0+ default -1
  directories []uuid 1+
  eligibleLeaderReplicas []int32 2+ nullable 2+ tag 1 default null entity brokerId
  lastKnownElr []int32 2+ nullable 2+ tag 2 default null entity brokerId

ProducerIdsRecord metadata 15 versions 0 flexible 0+
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+ default -1
  nextProducerId int64 0+

RegisterBrokerRecord metadata 0 versions 0-4 flexible 0+
  brokerId int32 0+ entity brokerId
  isMigratingZkBroker bool 2+ default false
  incarnationId uuid 0+
  brokerEpoch int64 0+
  endPoints []BrokerEndpoint 0+
    name string 0+ mapkey
    host string 0+
    port uint16 0+
    securityProtocol int16 0+
  features []BrokerFeature 0+
    name string 0+ mapkey
    minSupportedVersion int16 0+
    maxSupportedVersion int16 0+
  rack string 0+ nullable 0+
  fenced bool 0+ default true
  inControlledShutdown bool 1+ default false
  logDirs []uuid 3+ tag 0
  cordonedLogDirs []uuid 4+ nullable 4+ tag 1 default null

RegisterControllerRecord metadata 27 versions 0 flexible 0+
  controllerId int32 0+
  incarnationId uuid 0+
  zkMigrationReady bool 0+
  endPoints []ControllerEndpoint 0+
    name string 0+ mapkey
    host string 0+
    port uint16 0+
    securityProtocol int16 0+
  features []ControllerFeature 0+
    name string 0+ mapkey
    minSupportedVersion int16 0+
    maxSupportedVersion int16 0+

RemoveAccessControlEntryRecord metadata 19 versions 0 flexible 0+
  id uuid 0+

RemoveDelegationTokenRecord metadata 26 versions 0 flexible 0+
  tokenId string 0+

RemoveTopicRecord metadata 9 versions 0 flexible 0+
  topicId uuid 0+

RemoveUserScramCredentialRecord metadata 22 versions 0 flexible 0+
  name string 0+
  mechanism int8 0+

TopicRecord metadata 2 versions 0 flexible 0+
  name string 0+ entity topicName
  topicId uuid 0+

UnfenceBrokerRecord metadata 8 versions 0 flexible 0+
  id int32 0+ entity brokerId
  epoch int64 0+

UnregisterBrokerRecord metadata 1 versions 0 flexible 0+
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+

UnregisterControllerRecord metadata 29 versions 0 flexible 0+
  controllerId int32 0+

UserScramCredentialRecord metadata 11 versions 0 flexible 0+
  name string 0+
  mechanism int8 0+
  salt bytes 0+
  storedKey bytes 0+
  serverKey bytes 0+
  iterations int32 0+

ZkMigrationStateRecord metadata 21 versions 0 flexible 0+
  zkMigrationState int8 0+
"""
