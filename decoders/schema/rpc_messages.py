"""Requests, responses and their headers of Kafka 4.4.0.

Written by tools/catalogue.py; the notation is described in notation.py.
"""

MESSAGES = """
AddOffsetsToTxnRequest request 25 versions 0-4 flexible 3+ listeners broker
  transactionalId string 0+ entity transactionalId
  producerId int64 0+ entity producerId
  producerEpoch int16 0+
  groupId string 0+ entity groupId

AddOffsetsToTxnResponse response 25 versions 0-4 flexible 3+
  throttleTimeMs int32 0+
  errorCode int16 0+

AddPartitionsToTxnRequest request 24 versions 0-5 flexible 3+ listeners broker
  struct AddPartitionsToTxnTopic
    name string 0+ entity topicName mapkey
    partitions []int32 0+
  transactions []AddPartitionsToTxnTransaction 4+
    transactionalId string 4+ entity transactionalId mapkey
    producerId int64 4+ entity producerId
    producerEpoch int16 4+
    verifyOnly bool 4+ default false
    topics []AddPartitionsToTxnTopic 4+
  v3AndBelowTransactionalId string 0-3 entity transactionalId
  v3AndBelowProducerId int64 0-3 entity producerId
  v3AndBelowProducerEpoch int16 0-3
  v3AndBelowTopics []AddPartitionsToTxnTopic 0-3

AddPartitionsToTxnResponse response 24 versions 0-5 flexible 3+
  struct AddPartitionsToTxnTopicResult
    name string 0+ entity topicName mapkey
    resultsByPartition []AddPartitionsToTxnPartitionResult 0+
  struct AddPartitionsToTxnPartitionResult
    partitionIndex int32 0+ mapkey
    partitionErrorCode int16 0+
  throttleTimeMs int32 0+
  errorCode int16 4+ ignorable
  resultsByTransaction []AddPartitionsToTxnResult 4+
    transactionalId string 4+ entity transactionalId mapkey
    topicResults []AddPartitionsToTxnTopicResult 4+
  resultsByTopicV3AndBelow []AddPartitionsToTxnTopicResult 0-3

AddRaftVoterRequest request 80 versions 0-1 flexible 0+ listeners controller,broker
  clusterId string 0+ nullable 0+
  timeoutMs int32 0+
  voterId int32 0+
  voterDirectoryId uuid 0+
  listeners []Listener 0+
    name string 0+ mapkey
    host string 0+
    port uint16 0+
  ackWhenCommitted bool 1+ default true

AddRaftVoterResponse response 80 versions 0-1 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ ignorable

AllocateProducerIdsRequest request 67 versions 0 flexible 0+ listeners controller
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+ default -1

AllocateProducerIdsResponse response 67 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  producerIdStart int64 0+ entity producerId
  producerIdLen int32 0+

AlterClientQuotasRequest request 49 versions 0-1 flexible 1+ listeners broker,controller
  entries []EntryData 0+
    entity []EntityData 0+
      entityType string 0+
      entityName string 0+ nullable 0+
    ops []OpData 0+
      key string 0+
      value float64 0+
      remove bool 0+
  validateOnly bool 0+

AlterClientQuotasResponse response 49 versions 0-1 flexible 1+
  throttleTimeMs int32 0+
  entries []EntryData 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+
    entity []EntityData 0+
      entityType string 0+
      entityName string 0+ nullable 0+

AlterConfigsRequest request 33 versions 0-2 flexible 2+ listeners broker,controller
  resources []AlterConfigsResource 0+
    resourceType int8 0+ mapkey
    resourceName string 0+ mapkey
    configs []AlterableConfig 0+
      name string 0+ mapkey
      value string 0+ nullable 0+
  validateOnly bool 0+

AlterConfigsResponse response 33 versions 0-2 flexible 2+
  throttleTimeMs int32 0+
  responses []AlterConfigsResourceResponse 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+
    resourceType int8 0+
    resourceName string 0+

AlterPartitionReassignmentsRequest request 45 versions 0-1 flexible 0+ listeners broker,controller
  timeoutMs int32 0+ default 60000
  allowReplicationFactorChange bool 1+ default true
  topics []ReassignableTopic 0+
    name string 0+ entity topicName
    partitions []ReassignablePartition 0+
      partitionIndex int32 0+
      replicas []int32 0+ nullable 0+ default null entity brokerId

AlterPartitionReassignmentsResponse response 45 versions 0-1 flexible 0+
  throttleTimeMs int32 0+
  allowReplicationFactorChange bool 1+ default true ignorable
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  responses []ReassignableTopicResponse 0+
    name string 0+ entity topicName
    partitions []ReassignablePartitionResponse 0+
      partitionIndex int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+

AlterPartitionRequest request 56 versions 2-3 flexible 0+ listeners controller
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+ default -1
  topics []TopicData 0+
    topicId uuid 2+ ignorable
    partitions []PartitionData 0+
      partitionIndex int32 0+
      leaderEpoch int32 0+
      newIsr []int32 0-2 entity brokerId
      newIsrWithEpochs []BrokerState 3+
        brokerId int32 3+ entity brokerId
        brokerEpoch int64 3+ default -1
      leaderRecoveryState int8 1+ default 0
      partitionEpoch int32 0+

AlterPartitionResponse response 56 versions 2-3 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  topics []TopicData 0+
    topicId uuid 2+ ignorable
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
      isr []int32 0+ entity brokerId
      leaderRecoveryState int8 1+ default 0 ignorable
      partitionEpoch int32 0+

AlterReplicaLogDirsRequest request 34 versions 1-2 flexible 2+ listeners broker
  dirs []AlterReplicaLogDir 0+
    path string 0+ mapkey
    topics []AlterReplicaLogDirTopic 0+
      name string 0+ entity topicName mapkey
      partitions []int32 0+

AlterReplicaLogDirsResponse response 34 versions 1-2 flexible 2+
  throttleTimeMs int32 0+
  results []AlterReplicaLogDirTopicResult 0+
    topicName string 0+ entity topicName
    partitions []AlterReplicaLogDirPartitionResult 0+
      partitionIndex int32 0+
      errorCode int16 0+

AlterShareGroupOffsetsRequest request 91 versions 0 flexible 0+ listeners broker
  groupId string 0+ entity groupId
  topics []AlterShareGroupOffsetsRequestTopic 0+
    topicName string 0+ entity topicName mapkey
    partitions []AlterShareGroupOffsetsRequestPartition 0+
      partitionIndex int32 0+
      startOffset int64 0+

AlterShareGroupOffsetsResponse response 91 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  responses []AlterShareGroupOffsetsResponseTopic 0+
    topicName string 0+ entity topicName mapkey
    topicId uuid 0+
    partitions []AlterShareGroupOffsetsResponsePartition 0+
      partitionIndex int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null

AlterUserScramCredentialsRequest request 51 versions 0 flexible 0+ listeners broker,controller
  deletions []ScramCredentialDeletion 0+
    name string 0+
    mechanism int8 0+
  upsertions []ScramCredentialUpsertion 0+
    name string 0+
    mechanism int8 0+
    iterations int32 0+
    salt bytes 0+
    saltedPassword bytes 0+

AlterUserScramCredentialsResponse response 51 versions 0 flexible 0+
  throttleTimeMs int32 0+
  results []AlterUserScramCredentialsResult 0+
    user string 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+

ApiVersionsRequest request 18 versions 0-5 flexible 3+ listeners broker,controller
  clientSoftwareName string 3+ ignorable
  clientSoftwareVersion string 3+ ignorable
  clusterId string 5+ nullable 5+ default null ignorable
  nodeId int32 5+ default -1 ignorable

ApiVersionsResponse response 18 versions 0-5 flexible 3+
  errorCode int16 0+
  apiKeys []ApiVersion 0+
    apiKey int16 0+ mapkey
    minVersion int16 0+
    maxVersion int16 0+
  throttleTimeMs int32 1+ ignorable
  supportedFeatures []SupportedFeatureKey 3+ tag 0 ignorable
    name string 3+ mapkey
    minVersion int16 3+
    maxVersion int16 3+
  finalizedFeaturesEpoch int64 3+ tag 1 default -1 ignorable
  finalizedFeatures []FinalizedFeatureKey 3+ tag 2 ignorable
    name string 3+ mapkey
    maxVersionLevel int16 3+
    minVersionLevel int16 3+
  zkMigrationReady bool 3+ tag 3 default false ignorable

AssignReplicasToDirsRequest request 73 versions 0 flexible 0+ listeners controller
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+ default -1
  directories []DirectoryData 0+
    id uuid 0+
    topics []TopicData 0+
      topicId uuid 0+
      partitions []PartitionData 0+
        partitionIndex int32 0+

AssignReplicasToDirsResponse response 73 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  directories []DirectoryData 0+
    id uuid 0+
    topics []TopicData 0+
      topicId uuid 0+
      partitions []PartitionData 0+
        partitionIndex int32 0+
        errorCode int16 0+

BeginQuorumEpochRequest request 53 versions 0-1 flexible 1+ listeners controller
  clusterId string 0+ nullable 0+ default null
  voterId int32 1+ default -1 entity brokerId ignorable
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      voterDirectoryId uuid 1+ ignorable
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
  leaderEndpoints []LeaderEndpoint 1+ ignorable
    name string 1+ mapkey
    host string 1+
    port uint16 1+

BeginQuorumEpochResponse response 53 versions 0-1 flexible 1+
  errorCode int16 0+
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
  nodeEndpoints []NodeEndpoint 1+ tag 0
    nodeId int32 1+ entity brokerId mapkey
    host string 1+
    port uint16 1+

BrokerHeartbeatRequest request 63 versions 0-2 flexible 0+ listeners controller
  brokerId int32 0+ entity brokerId
  brokerEpoch int64 0+ default -1
  currentMetadataOffset int64 0+
  wantFence bool 0+
  wantShutDown bool 0+
  offlineLogDirs []uuid 1+ tag 0
  cordonedLogDirs []uuid 2+ nullable 2+ tag 1 default null

BrokerHeartbeatResponse response 63 versions 0-2 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  isCaughtUp bool 0+ default false
  isFenced bool 0+ default true
  shouldShutDown bool 0+

BrokerRegistrationRequest request 62 versions 0-4 flexible 0+ listeners controller
  brokerId int32 0+ entity brokerId
  clusterId string 0+
  incarnationId uuid 0+
  listeners []Listener 0+
    name string 0+ mapkey
    host string 0+
    port uint16 0+
    securityProtocol int16 0+
  features []Feature 0+
    name string 0+ mapkey
    minSupportedVersion int16 0+
    maxSupportedVersion int16 0+
  rack string 0+ nullable 0+
  isMigratingZkBroker bool 1+ default false
  logDirs []uuid 2+ ignorable
  previousBrokerEpoch int64 3+ default -1 ignorable

BrokerRegistrationResponse response 62 versions 0-4 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  brokerEpoch int64 0+ default -1

ConsumerGroupDescribeRequest request 69 versions 0-1 flexible 0+ listeners broker
  groupIds []string 0+ entity groupId
  includeAuthorizedOperations bool 0+

ConsumerGroupDescribeResponse response 69 versions 0-1 flexible 0+
  struct TopicPartitions
    topicId uuid 0+
    topicName string 0+ entity topicName
    partitions []int32 0+
  struct Assignment
    topicPartitions []TopicPartitions 0+
  throttleTimeMs int32 0+
  groups []DescribedGroup 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+ default null
    groupId string 0+ entity groupId
    groupState string 0+
    groupEpoch int32 0+
    assignmentEpoch int32 0+
    assignorName string 0+
    members []Member 0+
      memberId string 0+
      instanceId string 0+ nullable 0+ default null
      rackId string 0+ nullable 0+ default null
      memberEpoch int32 0+
      clientId string 0+
      clientHost string 0+
      subscribedTopicNames []string 0+ entity topicName
      subscribedTopicRegex string 0+ nullable 0+ default null
      assignment Assignment 0+
      targetAssignment Assignment 0+
      memberType int8 1+ default -1 ignorable
    authorizedOperations int32 0+ default -2147483648

ConsumerGroupHeartbeatRequest request 68 versions 0-1 flexible 0+ listeners broker
  groupId string 0+ entity groupId
  memberId string 0+
  memberEpoch int32 0+
  instanceId string 0+ nullable 0+ default null
  rackId string 0+ nullable 0+ default null
  rebalanceTimeoutMs int32 0+ default -1
  subscribedTopicNames []string 0+ nullable 0+ default null entity topicName
  subscribedTopicRegex string 1+ nullable 1+ default null
  serverAssignor string 0+ nullable 0+ default null
  topicPartitions []TopicPartitions 0+ nullable 0+ default null
    topicId uuid 0+
    partitions []int32 0+

ConsumerGroupHeartbeatResponse response 68 versions 0-1 flexible 0+
  struct TopicPartitions
    topicId uuid 0+
    partitions []int32 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  memberId string 0+ nullable 0+ default null
  memberEpoch int32 0+
  heartbeatIntervalMs int32 0+
  assignment Assignment 0+ nullable 0+ default null
    topicPartitions []TopicPartitions 0+

ControlledShutdownRequest request 7 versions none

ControlledShutdownResponse response 7 versions none

ControllerRegistrationRequest request 70 versions 0 flexible 0+ listeners controller
  controllerId int32 0+
  incarnationId uuid 0+
  zkMigrationReady bool 0+
  listeners []Listener 0+
    name string 0+ mapkey
    host string 0+
    port uint16 0+
    securityProtocol int16 0+
  features []Feature 0+
    name string 0+ mapkey
    minSupportedVersion int16 0+
    maxSupportedVersion int16 0+

ControllerRegistrationResponse response 70 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+

CreateAclsRequest request 30 versions 1-3 flexible 2+ listeners broker,controller
  creations []AclCreation 0+
    resourceType int8 0+
    resourceName string 0+
    resourcePatternType int8 1+ default 3
    principal string 0+
    host string 0+
    operation int8 0+
    permissionType int8 0+

CreateAclsResponse response 30 versions 1-3 flexible 2+
  throttleTimeMs int32 0+
  results []AclCreationResult 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+

CreateDelegationTokenRequest request 38 versions 1-3 flexible 2+ listeners broker,controller
  ownerPrincipalType string 3+ nullable 3+
  ownerPrincipalName string 3+ nullable 3+
  renewers []CreatableRenewers 0+
    principalType string 0+
    principalName string 0+
  maxLifetimeMs int64 0+

CreateDelegationTokenResponse response 38 versions 1-3 flexible 2+
  errorCode int16 0+
  principalType string 0+
  principalName string 0+
  tokenRequesterPrincipalType string 3+
  tokenRequesterPrincipalName string 3+
  issueTimestampMs int64 0+
  expiryTimestampMs int64 0+
  maxTimestampMs int64 0+
  tokenId string 0+
  hmac bytes 0+
  throttleTimeMs int32 0+

CreatePartitionsRequest request 37 versions 0-3 flexible 2+ listeners broker,controller
  topics []CreatePartitionsTopic 0+
    name string 0+ entity topicName mapkey
    count int32 0+
    assignments []CreatePartitionsAssignment 0+ nullable 0+
      brokerIds []int32 0+ entity brokerId
  timeoutMs int32 0+
  validateOnly bool 0+

CreatePartitionsResponse response 37 versions 0-3 flexible 2+
  throttleTimeMs int32 0+
  results []CreatePartitionsTopicResult 0+
    name string 0+ entity topicName
    errorCode int16 0+
    errorMessage string 0+ nullable 0+ default null

CreateTopicsRequest request 19 versions 2-7 flexible 5+ listeners broker,controller
  topics []CreatableTopic 0+
    name string 0+ entity topicName mapkey
    numPartitions int32 0+
    replicationFactor int16 0+
    assignments []CreatableReplicaAssignment 0+
      partitionIndex int32 0+ mapkey
      brokerIds []int32 0+ entity brokerId
    configs []CreatableTopicConfig 0+
      name string 0+ mapkey
      value string 0+ nullable 0+
  timeoutMs int32 0+ default 60000
  validateOnly bool 1+ default false

CreateTopicsResponse response 19 versions 2-7 flexible 5+
  throttleTimeMs int32 2+ ignorable
  topics []CreatableTopicResult 0+
    name string 0+ entity topicName mapkey
    topicId uuid 7+ ignorable
    errorCode int16 0+
    errorMessage string 1+ nullable 0+ ignorable
    topicConfigErrorCode int16 5+ tag 0 ignorable
    numPartitions int32 5+ default -1 ignorable
    replicationFactor int16 5+ default -1 ignorable
    configs []CreatableTopicConfigs 5+ nullable 5+ ignorable
      name string 5+
      value string 5+ nullable 5+
      readOnly bool 5+
      configSource int8 5+ default -1 ignorable
      isSensitive bool 5+

DeleteAclsRequest request 31 versions 1-3 flexible 2+ listeners broker,controller
  filters []DeleteAclsFilter 0+
    resourceTypeFilter int8 0+
    resourceNameFilter string 0+ nullable 0+
    patternTypeFilter int8 1+ default 3
    principalFilter string 0+ nullable 0+
    hostFilter string 0+ nullable 0+
    operation int8 0+
    permissionType int8 0+

DeleteAclsResponse response 31 versions 1-3 flexible 2+
  throttleTimeMs int32 0+
  filterResults []DeleteAclsFilterResult 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+
    matchingAcls []DeleteAclsMatchingAcl 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+
      resourceType int8 0+
      resourceName string 0+
      patternType int8 1+ default 3
      principal string 0+
      host string 0+
      operation int8 0+
      permissionType int8 0+

DeleteGroupsRequest request 42 versions 0-3 flexible 2+ listeners broker
  groupsNames []string 0+ entity groupId

DeleteGroupsResponse response 42 versions 0-3 flexible 2+
  throttleTimeMs int32 0+
  results []DeletableGroupResult 0+
    groupId string 0+ entity groupId mapkey
    errorCode int16 0+
    errorMessage string 3+ nullable 3+ default null ignorable

DeleteRecordsRequest request 21 versions 0-2 flexible 2+ listeners broker
  topics []DeleteRecordsTopic 0+
    name string 0+ entity topicName
    partitions []DeleteRecordsPartition 0+
      partitionIndex int32 0+
      offset int64 0+
  timeoutMs int32 0+

DeleteRecordsResponse response 21 versions 0-2 flexible 2+
  throttleTimeMs int32 0+
  topics []DeleteRecordsTopicResult 0+
    name string 0+ entity topicName mapkey
    partitions []DeleteRecordsPartitionResult 0+
      partitionIndex int32 0+ mapkey
      lowWatermark int64 0+
      errorCode int16 0+

DeleteShareGroupOffsetsRequest request 92 versions 0 flexible 0+ listeners broker
  groupId string 0+ entity groupId
  topics []DeleteShareGroupOffsetsRequestTopic 0+
    topicName string 0+ entity topicName

DeleteShareGroupOffsetsResponse response 92 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  responses []DeleteShareGroupOffsetsResponseTopic 0+
    topicName string 0+ entity topicName
    topicId uuid 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+ default null

DeleteShareGroupStateRequest request 86 versions 0 flexible 0+ listeners broker
  groupId string 0+
  topics []DeleteStateData 0+
    topicId uuid 0+
    partitions []PartitionData 0+
      partition int32 0+

DeleteShareGroupStateResponse response 86 versions 0 flexible 0+
  results []DeleteStateResult 0+
    topicId uuid 0+
    partitions []PartitionResult 0+
      partition int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null

DeleteTopicsRequest request 20 versions 1-6 flexible 4+ listeners broker,controller
  topics []DeleteTopicState 6+
    name string 6+ nullable 6+ default null entity topicName
    topicId uuid 6+
  topicNames []string 0-5 entity topicName ignorable
  timeoutMs int32 0+

DeleteTopicsResponse response 20 versions 1-6 flexible 4+
  throttleTimeMs int32 1+ ignorable
  responses []DeletableTopicResult 0+
    name string 0+ nullable 6+ entity topicName mapkey
    topicId uuid 6+ ignorable
    errorCode int16 0+
    errorMessage string 5+ nullable 5+ default null ignorable

DescribeAclsRequest request 29 versions 1-3 flexible 2+ listeners broker,controller
  resourceTypeFilter int8 0+
  resourceNameFilter string 0+ nullable 0+
  patternTypeFilter int8 1+ default 3
  principalFilter string 0+ nullable 0+
  hostFilter string 0+ nullable 0+
  operation int8 0+
  permissionType int8 0+

DescribeAclsResponse response 29 versions 1-3 flexible 2+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  resources []DescribeAclsResource 0+
    resourceType int8 0+
    resourceName string 0+
    patternType int8 1+ default 3
    acls []AclDescription 0+
      principal string 0+
      host string 0+
      operation int8 0+
      permissionType int8 0+

DescribeClientQuotasRequest request 48 versions 0-1 flexible 1+ listeners broker
  components []ComponentData 0+
    entityType string 0+
    matchType int8 0+
    match string 0+ nullable 0+
  strict bool 0+

DescribeClientQuotasResponse response 48 versions 0-1 flexible 1+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  entries []EntryData 0+ nullable 0+
    entity []EntityData 0+
      entityType string 0+
      entityName string 0+ nullable 0+
    values []ValueData 0+
      key string 0+
      value float64 0+

DescribeClusterRequest request 60 versions 0-2 flexible 0+ listeners broker,controller
  includeClusterAuthorizedOperations bool 0+
  endpointType int8 1+ default 1
  includeFencedBrokers bool 2+

DescribeClusterResponse response 60 versions 0-2 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  endpointType int8 1+ default 1
  clusterId string 0+
  controllerId int32 0+ default -1 entity brokerId
  brokers []DescribeClusterBroker 0+
    brokerId int32 0+ entity brokerId mapkey
    host string 0+
    port int32 0+
    rack string 0+ nullable 0+ default null
    isFenced bool 2+
  clusterAuthorizedOperations int32 0+ default -2147483648

DescribeConfigsRequest request 32 versions 1-4 flexible 4+ listeners broker,controller
  resources []DescribeConfigsResource 0+
    resourceType int8 0+
    resourceName string 0+
    configurationKeys []string 0+ nullable 0+
  includeSynonyms bool 1+ default false
  includeDocumentation bool 3+ default false

DescribeConfigsResponse response 32 versions 1-4 flexible 4+
  throttleTimeMs int32 0+
  results []DescribeConfigsResult 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+
    resourceType int8 0+
    resourceName string 0+
    configs []DescribeConfigsResourceResult 0+
      name string 0+
      value string 0+ nullable 0+
      readOnly bool 0+
      configSource int8 1+ default -1 ignorable
      isSensitive bool 0+
      synonyms []DescribeConfigsSynonym 1+ ignorable
        name string 1+
        value string 1+ nullable 0+
        source int8 1+
      configType int8 3+ default 0 ignorable
      documentation string 3+ nullable 0+ ignorable

DescribeDelegationTokenRequest request 41 versions 1-3 flexible 2+ listeners broker,controller
  owners []DescribeDelegationTokenOwner 0+ nullable 0+
    principalType string 0+
    principalName string 0+

DescribeDelegationTokenResponse response 41 versions 1-3 flexible 2+
  errorCode int16 0+
  tokens []DescribedDelegationToken 0+
    principalType string 0+
    principalName string 0+
    tokenRequesterPrincipalType string 3+
    tokenRequesterPrincipalName string 3+
    issueTimestamp int64 0+
    expiryTimestamp int64 0+
    maxTimestamp int64 0+
    tokenId string 0+
    hmac bytes 0+
    renewers []DescribedDelegationTokenRenewer 0+
      principalType string 0+
      principalName string 0+
  throttleTimeMs int32 0+

DescribeGroupsRequest request 15 versions 0-6 flexible 5+ listeners broker
  groups []string 0+ entity groupId
  includeAuthorizedOperations bool 3+

DescribeGroupsResponse response 15 versions 0-6 flexible 5+
  throttleTimeMs int32 1+ ignorable
  groups []DescribedGroup 0+
    errorCode int16 0+
    errorMessage string 6+ nullable 6+ default null
    groupId string 0+ entity groupId
    groupState string 0+
    protocolType string 0+
    protocolData string 0+
    members []DescribedGroupMember 0+
      memberId string 0+
      groupInstanceId string 4+ nullable 4+ default null ignorable
      clientId string 0+
      clientHost string 0+
      memberMetadata bytes 0+
      memberAssignment bytes 0+
    authorizedOperations int32 3+ default -2147483648

DescribeLogDirsRequest request 35 versions 1-5 flexible 2+ listeners broker
  topics []DescribableLogDirTopic 0+ nullable 0+
    topic string 0+ entity topicName mapkey
    partitions []int32 0+

DescribeLogDirsResponse response 35 versions 1-5 flexible 2+
  throttleTimeMs int32 0+
  errorCode int16 3+ ignorable
  results []DescribeLogDirsResult 0+
    errorCode int16 0+
    logDir string 0+
    topics []DescribeLogDirsTopic 0+
      name string 0+ entity topicName
      partitions []DescribeLogDirsPartition 0+
        partitionIndex int32 0+
        partitionSize int64 0+
        offsetLag int64 0+
        isFutureKey bool 0+
    totalBytes int64 4+ default -1 ignorable
    usableBytes int64 4+ default -1 ignorable
    isCordoned bool 5+ default false ignorable

DescribeProducersRequest request 61 versions 0 flexible 0+ listeners broker
  topics []TopicRequest 0+
    name string 0+ entity topicName mapkey
    partitionIndexes []int32 0+

DescribeProducersResponse response 61 versions 0 flexible 0+
  throttleTimeMs int32 0+
  topics []TopicResponse 0+
    name string 0+ entity topicName
    partitions []PartitionResponse 0+
      partitionIndex int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null
      activeProducers []ProducerState 0+
        producerId int64 0+ entity producerId
        producerEpoch int32 0+
        lastSequence int32 0+ default -1
        lastTimestamp int64 0+ default -1
        coordinatorEpoch int32 0+
        currentTxnStartOffset int64 0+ default -1

DescribeQuorumRequest request 55 versions 0-2 flexible 0+ listeners broker,controller
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+

DescribeQuorumResponse response 55 versions 0-2 flexible 0+
  struct ReplicaState
    replicaId int32 0+ entity brokerId
    replicaDirectoryId uuid 2+
    logEndOffset int64 0+
    lastFetchTimestamp int64 1+ default -1 ignorable
    lastCaughtUpTimestamp int64 1+ default -1 ignorable
  errorCode int16 0+
  errorMessage string 2+ nullable 2+ ignorable
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      errorMessage string 2+ nullable 2+ ignorable
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
      highWatermark int64 0+
      currentVoters []ReplicaState 0+
      observers []ReplicaState 0+
  nodes []Node 2+
    nodeId int32 2+ entity brokerId mapkey
    listeners []Listener 2+
      name string 2+ mapkey
      host string 2+
      port uint16 2+

DescribeShareGroupOffsetsRequest request 90 versions 0-1 flexible 0+ listeners broker
  groups []DescribeShareGroupOffsetsRequestGroup 0+
    groupId string 0+ entity groupId
    topics []DescribeShareGroupOffsetsRequestTopic 0+ nullable 0+
      topicName string 0+ entity topicName
      partitions []int32 0+

DescribeShareGroupOffsetsResponse response 90 versions 0-1 flexible 0+
  throttleTimeMs int32 0+
  groups []DescribeShareGroupOffsetsResponseGroup 0+
    groupId string 0+ entity groupId
    topics []DescribeShareGroupOffsetsResponseTopic 0+
      topicName string 0+ entity topicName
      topicId uuid 0+
      partitions []DescribeShareGroupOffsetsResponsePartition 0+
        partitionIndex int32 0+
        startOffset int64 0+
        leaderEpoch int32 0+
        lag int64 1+ default -1 ignorable
        errorCode int16 0+
        errorMessage string 0+ nullable 0+ default null
    errorCode int16 0+
    errorMessage string 0+ nullable 0+ default null

DescribeTopicPartitionsRequest request 75 versions 0 flexible 0+ listeners broker
  topics []TopicRequest 0+
    name string 0+ entity topicName
  responsePartitionLimit int32 0+ default 2000
  cursor Cursor 0+ nullable 0+ default null
    topicName string 0+ entity topicName
    partitionIndex int32 0+

DescribeTopicPartitionsResponse response 75 versions 0 flexible 0+
  throttleTimeMs int32 0+ ignorable
  topics []DescribeTopicPartitionsResponseTopic 0+
    errorCode int16 0+
    name string 0+ nullable 0+ entity topicName mapkey
    topicId uuid 0+ ignorable
    isInternal bool 0+ default false ignorable
    partitions []DescribeTopicPartitionsResponsePartition 0+
      errorCode int16 0+
      partitionIndex int32 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+ default -1 ignorable
      replicaNodes []int32 0+ entity brokerId
      isrNodes []int32 0+ entity brokerId
      eligibleLeaderReplicas []int32 0+ nullable 0+ default null entity brokerId
      lastKnownElr []int32 0+ nullable 0+ default null entity brokerId
      offlineReplicas []int32 0+ entity brokerId ignorable
    topicAuthorizedOperations int32 0+ default -2147483648
  nextCursor Cursor 0+ nullable 0+ default null
    topicName string 0+ entity topicName
    partitionIndex int32 0+

DescribeTransactionsRequest request 65 versions 0 flexible 0+ listeners broker
  transactionalIds []string 0+ entity transactionalId

DescribeTransactionsResponse response 65 versions 0 flexible 0+
  throttleTimeMs int32 0+
  transactionStates []TransactionState 0+
    errorCode int16 0+
    transactionalId string 0+ entity transactionalId
    transactionState string 0+
    transactionTimeoutMs int32 0+
    transactionStartTimeMs int64 0+
    producerId int64 0+ entity producerId
    producerEpoch int16 0+
    topics []TopicData 0+
      topic string 0+ entity topicName mapkey
      partitions []int32 0+

DescribeUserScramCredentialsRequest request 50 versions 0 flexible 0+ listeners broker,controller
  users []UserName 0+ nullable 0+
    name string 0+

DescribeUserScramCredentialsResponse response 50 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  results []DescribeUserScramCredentialsResult 0+
    user string 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+
    credentialInfos []CredentialInfo 0+
      mechanism int8 0+
      iterations int32 0+

ElectLeadersRequest request 43 versions 0-2 flexible 2+ listeners broker,controller
  electionType int8 1+
  topicPartitions []TopicPartitions 0+ nullable 0+
    topic string 0+ entity topicName mapkey
    partitions []int32 0+
  timeoutMs int32 0+ default 60000

ElectLeadersResponse response 43 versions 0-2 flexible 2+
  throttleTimeMs int32 0+
  errorCode int16 1+
  replicaElectionResults []ReplicaElectionResult 0+
    topic string 0+ entity topicName
    partitionResult []PartitionResult 0+
      partitionId int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+

EndQuorumEpochRequest request 54 versions 0-1 flexible 1+ listeners controller
  clusterId string 0+ nullable 0+ default null
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
      preferredSuccessors []int32 0 ignorable
      preferredCandidates []ReplicaInfo 1+ ignorable
        candidateId int32 1+ entity brokerId
        candidateDirectoryId uuid 1+
  leaderEndpoints []LeaderEndpoint 1+ ignorable
    name string 1+ mapkey
    host string 1+
    port uint16 1+

EndQuorumEpochResponse response 54 versions 0-1 flexible 1+
  errorCode int16 0+
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
  nodeEndpoints []NodeEndpoint 1+ tag 0
    nodeId int32 1+ entity brokerId mapkey
    host string 1+
    port uint16 1+

EndTxnRequest request 26 versions 0-5 flexible 3+ listeners broker
  transactionalId string 0+ entity transactionalId
  producerId int64 0+ entity producerId
  producerEpoch int16 0+
  committed bool 0+

EndTxnResponse response 26 versions 0-5 flexible 3+
  throttleTimeMs int32 0+
  errorCode int16 0+
  producerId int64 5+ default -1 entity producerId ignorable
  producerEpoch int16 5+ default -1 ignorable

EnvelopeRequest request 58 versions 0 flexible 0+ listeners controller
  requestData bytes 0+
  requestPrincipal bytes 0+ nullable 0+
  clientHostAddress bytes 0+

EnvelopeResponse response 58 versions 0 flexible 0+
  responseData bytes 0+ nullable 0+ default null
  errorCode int16 0+

ExpireDelegationTokenRequest request 40 versions 1-2 flexible 2+ listeners broker,controller
  hmac bytes 0+
  expiryTimePeriodMs int64 0+

ExpireDelegationTokenResponse response 40 versions 1-2 flexible 2+
  errorCode int16 0+
  expiryTimestampMs int64 0+
  throttleTimeMs int32 0+

FetchRequest request 1 versions 4-18 flexible 12+ listeners broker,controller
  clusterId string 12+ nullable 12+ tag 0 default null ignorable
  replicaId int32 0-14 default -1 entity brokerId
  replicaState ReplicaState 15+ tag 1
    replicaId int32 15+ default -1 entity brokerId
    replicaEpoch int64 15+ default -1
  maxWaitMs int32 0+
  minBytes int32 0+
  maxBytes int32 3+ default 0x7fffffff ignorable
  isolationLevel int8 4+ default 0 ignorable
  sessionId int32 7+ default 0 ignorable
  sessionEpoch int32 7+ default -1 ignorable
  topics []FetchTopic 0+
    topic string 0-12 entity topicName ignorable
    topicId uuid 13+ ignorable
    partitions []FetchPartition 0+
      partition int32 0+
      currentLeaderEpoch int32 9+ default -1 ignorable
      fetchOffset int64 0+
      lastFetchedEpoch int32 12+ default -1
      logStartOffset int64 5+ default -1 ignorable
      partitionMaxBytes int32 0+
      replicaDirectoryId uuid 17+ tag 0 ignorable
      highWatermark int64 18+ tag 1 default 9223372036854775807 ignorable
  forgottenTopicsData []ForgottenTopic 7+
    topic string 7-12 entity topicName ignorable
    topicId uuid 13+ ignorable
    partitions []int32 7+
  rackId string 11+ default "" ignorable

FetchResponse response 1 versions 4-18 flexible 12+
  throttleTimeMs int32 1+ ignorable
  errorCode int16 7+ ignorable
  sessionId int32 7+ default 0
  responses []FetchableTopicResponse 0+
    topic string 0-12 entity topicName ignorable
    topicId uuid 13+ ignorable
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      highWatermark int64 0+
      lastStableOffset int64 4+ default -1 ignorable
      logStartOffset int64 5+ default -1 ignorable
      divergingEpoch EpochEndOffset 12+ tag 0
        epoch int32 12+ default -1
        endOffset int64 12+ default -1
      currentLeader LeaderIdAndEpoch 12+ tag 1
        leaderId int32 12+ default -1 entity brokerId
        leaderEpoch int32 12+ default -1
      snapshotId SnapshotId 12+ tag 2
        endOffset int64 0+ default -1
        epoch int32 0+ default -1
      abortedTransactions []AbortedTransaction 4+ nullable 4+ ignorable
        producerId int64 4+ entity producerId
        firstOffset int64 4+
      preferredReadReplica int32 11+ default -1 entity brokerId
      records records 0+ nullable 0+
  nodeEndpoints []NodeEndpoint 16+ tag 0
    nodeId int32 16+ entity brokerId mapkey
    host string 16+
    port int32 16+
    rack string 16+ nullable 16+ default null

FetchSnapshotRequest request 59 versions 0-1 flexible 0+ listeners controller
  clusterId string 0+ nullable 0+ tag 0 default null
  replicaId int32 0+ default -1 entity brokerId
  maxBytes int32 0+ default 0x7fffffff
  topics []TopicSnapshot 0+
    name string 0+ entity topicName
    partitions []PartitionSnapshot 0+
      partition int32 0+
      currentLeaderEpoch int32 0+
      snapshotId SnapshotId 0+
        endOffset int64 0+
        epoch int32 0+
      position int64 0+
      replicaDirectoryId uuid 1+ tag 0 ignorable

FetchSnapshotResponse response 59 versions 0-1 flexible 0+
  throttleTimeMs int32 0+ ignorable
  errorCode int16 0+
  topics []TopicSnapshot 0+
    name string 0+ entity topicName
    partitions []PartitionSnapshot 0+
      index int32 0+
      errorCode int16 0+
      snapshotId SnapshotId 0+
        endOffset int64 0+
        epoch int32 0+
      currentLeader LeaderIdAndEpoch 0+ tag 0
        leaderId int32 0+ entity brokerId
        leaderEpoch int32 0+
      size int64 0+
      position int64 0+
      unalignedRecords records 0+
  nodeEndpoints []NodeEndpoint 1+ tag 0
    nodeId int32 1+ entity brokerId mapkey
    host string 1+
    port uint16 1+

FindCoordinatorRequest request 10 versions 0-6 flexible 3+ listeners broker
  key string 0-3
  keyType int8 1+ default 0
  coordinatorKeys []string 4+

FindCoordinatorResponse response 10 versions 0-6 flexible 3+
  throttleTimeMs int32 1+ ignorable
  errorCode int16 0-3
  errorMessage string 1-3 nullable 1-3 ignorable
  nodeId int32 0-3 entity brokerId
  host string 0-3
  port int32 0-3
  coordinators []Coordinator 4+
    key string 4+
    nodeId int32 4+ entity brokerId
    host string 4+
    port int32 4+
    errorCode int16 4+
    errorMessage string 4+ nullable 4+ ignorable

GetTelemetrySubscriptionsRequest request 71 versions 0 flexible 0+ listeners broker
  clientInstanceId uuid 0+

GetTelemetrySubscriptionsResponse response 71 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  clientInstanceId uuid 0+
  subscriptionId int32 0+
  acceptedCompressionTypes []int8 0+
  pushIntervalMs int32 0+
  telemetryMaxBytes int32 0+
  deltaTemporality bool 0+
  requestedMetrics []string 0+

HeartbeatRequest request 12 versions 0-4 flexible 4+ listeners broker
  groupId string 0+ entity groupId
  generationId int32 0+
  memberId string 0+
  groupInstanceId string 3+ nullable 3+ default null

HeartbeatResponse response 12 versions 0-4 flexible 4+
  throttleTimeMs int32 1+ ignorable
  errorCode int16 0+

IncrementalAlterConfigsRequest request 44 versions 0-1 flexible 1+ listeners broker,controller
  resources []AlterConfigsResource 0+
    resourceType int8 0+ mapkey
    resourceName string 0+ mapkey
    configs []AlterableConfig 0+
      name string 0+ mapkey
      configOperation int8 0+ mapkey
      value string 0+ nullable 0+
  validateOnly bool 0+

IncrementalAlterConfigsResponse response 44 versions 0-1 flexible 1+
  throttleTimeMs int32 0+
  responses []AlterConfigsResourceResponse 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+
    resourceType int8 0+
    resourceName string 0+

InitProducerIdRequest request 22 versions 0-6 flexible 2+ listeners broker unstable
  transactionalId string 0+ nullable 0+ entity transactionalId
  transactionTimeoutMs int32 0+
  producerId int64 3+ default -1 entity producerId
  producerEpoch int16 3+ default -1
  enable2Pc bool 6+ default false
  keepPreparedTxn bool 6+ default false

InitProducerIdResponse response 22 versions 0-6 flexible 2+
  throttleTimeMs int32 0+ ignorable
  errorCode int16 0+
  producerId int64 0+ default -1 entity producerId
  producerEpoch int16 0+
  ongoingTxnProducerId int64 6+ default -1 entity producerId
  ongoingTxnProducerEpoch int16 6+ default -1

InitializeShareGroupStateRequest request 83 versions 0 flexible 0+ listeners broker
  groupId string 0+
  topics []InitializeStateData 0+
    topicId uuid 0+
    partitions []PartitionData 0+
      partition int32 0+
      stateEpoch int32 0+
      startOffset int64 0+

InitializeShareGroupStateResponse response 83 versions 0 flexible 0+
  results []InitializeStateResult 0+
    topicId uuid 0+
    partitions []PartitionResult 0+
      partition int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null

JoinGroupRequest request 11 versions 0-9 flexible 6+ listeners broker
  groupId string 0+ entity groupId
  sessionTimeoutMs int32 0+
  rebalanceTimeoutMs int32 1+ default -1 ignorable
  memberId string 0+
  groupInstanceId string 5+ nullable 5+ default null
  protocolType string 0+
  protocols []JoinGroupRequestProtocol 0+
    name string 0+ mapkey
    metadata bytes 0+
  reason string 8+ nullable 8+ default null ignorable

JoinGroupResponse response 11 versions 0-9 flexible 6+
  throttleTimeMs int32 2+ ignorable
  errorCode int16 0+
  generationId int32 0+ default -1
  protocolType string 7+ nullable 7+ default null ignorable
  protocolName string 0+ nullable 7+
  leader string 0+
  skipAssignment bool 9+ default false
  memberId string 0+
  members []JoinGroupResponseMember 0+
    memberId string 0+
    groupInstanceId string 5+ nullable 5+ default null ignorable
    metadata bytes 0+

LeaderAndIsrRequest request 4 versions none

LeaderAndIsrResponse response 4 versions none

LeaveGroupRequest request 13 versions 0-5 flexible 4+ listeners broker
  groupId string 0+ entity groupId
  memberId string 0-2
  members []MemberIdentity 3+
    memberId string 3+
    groupInstanceId string 3+ nullable 3+ default null
    reason string 5+ nullable 5+ default null ignorable

LeaveGroupResponse response 13 versions 0-5 flexible 4+
  throttleTimeMs int32 1+ ignorable
  errorCode int16 0+
  members []MemberResponse 3+
    memberId string 3+
    groupInstanceId string 3+ nullable 3+
    errorCode int16 3+

ListConfigResourcesRequest request 74 versions 0-1 flexible 0+ listeners broker
  resourceTypes []int8 1+

ListConfigResourcesResponse response 74 versions 0-1 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  configResources []ConfigResource 0+
    resourceName string 0+
    resourceType int8 1+ default 16 ignorable

ListGroupsRequest request 16 versions 0-5 flexible 3+ listeners broker
  statesFilter []string 4+
  typesFilter []string 5+

ListGroupsResponse response 16 versions 0-5 flexible 3+
  throttleTimeMs int32 1+ ignorable
  errorCode int16 0+
  groups []ListedGroup 0+
    groupId string 0+ entity groupId
    protocolType string 0+
    groupState string 4+ ignorable
    groupType string 5+ ignorable

ListOffsetsRequest request 2 versions 1-11 flexible 6+ listeners broker
  replicaId int32 0+ entity brokerId
  isolationLevel int8 2+
  topics []ListOffsetsTopic 0+
    name string 0+ entity topicName
    partitions []ListOffsetsPartition 0+
      partitionIndex int32 0+
      currentLeaderEpoch int32 4+ default -1 ignorable
      timestamp int64 0+
  timeoutMs int32 10+ ignorable

ListOffsetsResponse response 2 versions 1-11 flexible 6+
  throttleTimeMs int32 2+ ignorable
  topics []ListOffsetsTopicResponse 0+
    name string 0+ entity topicName
    partitions []ListOffsetsPartitionResponse 0+
      partitionIndex int32 0+
      errorCode int16 0+
      timestamp int64 1+ default -1
      offset int64 1+ default -1
      leaderEpoch int32 4+ default -1

ListPartitionReassignmentsRequest request 46 versions 0 flexible 0+ listeners broker,controller
  timeoutMs int32 0+ default 60000
  topics []ListPartitionReassignmentsTopics 0+ nullable 0+ default null
    name string 0+ entity topicName
    partitionIndexes []int32 0+

ListPartitionReassignmentsResponse response 46 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  topics []OngoingTopicReassignment 0+
    name string 0+ entity topicName
    partitions []OngoingPartitionReassignment 0+
      partitionIndex int32 0+
      replicas []int32 0+ entity brokerId
      addingReplicas []int32 0+ entity brokerId
      removingReplicas []int32 0+ entity brokerId

ListTransactionsRequest request 66 versions 0-2 flexible 0+ listeners broker
  stateFilters []string 0+
  producerIdFilters []int64 0+ entity producerId
  durationFilter int64 1+ default -1
  transactionalIdPattern string 2+ nullable 2+ default null

ListTransactionsResponse response 66 versions 0-2 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  unknownStateFilters []string 0+
  transactionStates []TransactionState 0+
    transactionalId string 0+ entity transactionalId
    producerId int64 0+ entity producerId
    transactionState string 0+

MetadataRequest request 3 versions 0-13 flexible 9+ listeners broker
  topics []MetadataRequestTopic 0+ nullable 1+
    topicId uuid 10+ ignorable
    name string 0+ nullable 10+ entity topicName
  allowAutoTopicCreation bool 4+ default true
  includeClusterAuthorizedOperations bool 8-10
  includeTopicAuthorizedOperations bool 8+

MetadataResponse response 3 versions 0-13 flexible 9+
  throttleTimeMs int32 3+ ignorable
  brokers []MetadataResponseBroker 0+
    nodeId int32 0+ entity brokerId mapkey
    host string 0+
    port int32 0+
    rack string 1+ nullable 1+ default null ignorable
  clusterId string 2+ nullable 2+ default null ignorable
  controllerId int32 1+ default -1 entity brokerId ignorable
  topics []MetadataResponseTopic 0+
    errorCode int16 0+
    name string 0+ nullable 12+ entity topicName mapkey
    topicId uuid 10+ ignorable
    isInternal bool 1+ default false ignorable
    partitions []MetadataResponsePartition 0+
      errorCode int16 0+
      partitionIndex int32 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 7+ default -1 ignorable
      replicaNodes []int32 0+ entity brokerId
      isrNodes []int32 0+ entity brokerId
      offlineReplicas []int32 5+ entity brokerId ignorable
    topicAuthorizedOperations int32 8+ default -2147483648
  clusterAuthorizedOperations int32 8-10 default -2147483648
  errorCode int16 13+ ignorable

OffsetCommitRequest request 8 versions 2-10 flexible 8+ listeners broker
  groupId string 0+ entity groupId
  generationIdOrMemberEpoch int32 1+ default -1 ignorable
  memberId string 1+ ignorable
  groupInstanceId string 7+ nullable 7+ default null
  retentionTimeMs int64 2-4 default -1 ignorable
  topics []OffsetCommitRequestTopic 0+
    name string 0-9 entity topicName ignorable
    topicId uuid 10+ ignorable
    partitions []OffsetCommitRequestPartition 0+
      partitionIndex int32 0+
      committedOffset int64 0+
      committedLeaderEpoch int32 6+ default -1 ignorable
      committedMetadata string 0+ nullable 0+

OffsetCommitResponse response 8 versions 2-10 flexible 8+
  throttleTimeMs int32 3+ ignorable
  topics []OffsetCommitResponseTopic 0+
    name string 0-9 entity topicName ignorable
    topicId uuid 10+ ignorable
    partitions []OffsetCommitResponsePartition 0+
      partitionIndex int32 0+
      errorCode int16 0+

OffsetDeleteRequest request 47 versions 0 listeners broker
  groupId string 0+ entity groupId
  topics []OffsetDeleteRequestTopic 0+
    name string 0+ entity topicName mapkey
    partitions []OffsetDeleteRequestPartition 0+
      partitionIndex int32 0+

OffsetDeleteResponse response 47 versions 0
  errorCode int16 0+
  throttleTimeMs int32 0+ ignorable
  topics []OffsetDeleteResponseTopic 0+
    name string 0+ entity topicName mapkey
    partitions []OffsetDeleteResponsePartition 0+
      partitionIndex int32 0+ mapkey
      errorCode int16 0+

OffsetFetchRequest request 9 versions 1-10 flexible 6+ listeners broker
  groupId string 0-7 entity groupId
  topics []OffsetFetchRequestTopic 0-7 nullable 2-7
    name string 0-7 entity topicName
    partitionIndexes []int32 0-7
  groups []OffsetFetchRequestGroup 8+
    groupId string 8+ entity groupId
    memberId string 9+ nullable 9+ default null ignorable
    memberEpoch int32 9+ default -1 ignorable
    topics []OffsetFetchRequestTopics 8+ nullable 8+
      name string 8-9 entity topicName ignorable
      topicId uuid 10+ ignorable
      partitionIndexes []int32 8+
  requireStable bool 7+ default false

OffsetFetchResponse response 9 versions 1-10 flexible 6+
  throttleTimeMs int32 3+ ignorable
  topics []OffsetFetchResponseTopic 0-7
    name string 0-7 entity topicName
    partitions []OffsetFetchResponsePartition 0-7
      partitionIndex int32 0-7
      committedOffset int64 0-7
      committedLeaderEpoch int32 5-7 default -1 ignorable
      metadata string 0-7 nullable 0-7
      errorCode int16 0-7
  errorCode int16 2-7 default 0 ignorable
  groups []OffsetFetchResponseGroup 8+
    groupId string 8+ entity groupId
    topics []OffsetFetchResponseTopics 8+
      name string 8-9 entity topicName ignorable
      topicId uuid 10+ ignorable
      partitions []OffsetFetchResponsePartitions 8+
        partitionIndex int32 8+
        committedOffset int64 8+
        committedLeaderEpoch int32 8+ default -1 ignorable
        metadata string 8+ nullable 8+
        errorCode int16 8+
    errorCode int16 8+ default 0

OffsetForLeaderEpochRequest request 23 versions 2-4 flexible 4+ listeners broker
  replicaId int32 3+ default -2 entity brokerId ignorable
  topics []OffsetForLeaderTopic 0+
    topic string 0+ entity topicName mapkey
    partitions []OffsetForLeaderPartition 0+
      partition int32 0+
      currentLeaderEpoch int32 2+ default -1 ignorable
      leaderEpoch int32 0+

OffsetForLeaderEpochResponse response 23 versions 2-4 flexible 4+
  throttleTimeMs int32 2+ ignorable
  topics []OffsetForLeaderTopicResult 0+
    topic string 0+ entity topicName mapkey
    partitions []EpochEndOffset 0+
      errorCode int16 0+
      partition int32 0+
      leaderEpoch int32 1+ default -1 ignorable
      endOffset int64 0+ default -1

ProduceRequest request 0 versions 3-13 flexible 9+ listeners broker
  transactionalId string 3+ nullable 3+ default null entity transactionalId
  acks int16 0+
  timeoutMs int32 0+
  topicData []TopicProduceData 0+
    name string 0-12 entity topicName mapkey ignorable
    topicId uuid 13+ mapkey ignorable
    partitionData []PartitionProduceData 0+
      index int32 0+
      records records 0+ nullable 0+

ProduceResponse response 0 versions 3-13 flexible 9+
  responses []TopicProduceResponse 0+
    name string 0-12 entity topicName mapkey ignorable
    topicId uuid 13+ mapkey ignorable
    partitionResponses []PartitionProduceResponse 0+
      index int32 0+
      errorCode int16 0+
      baseOffset int64 0+
      logAppendTimeMs int64 2+ default -1 ignorable
      logStartOffset int64 5+ default -1 ignorable
      recordErrors []BatchIndexAndErrorMessage 8+ ignorable
        batchIndex int32 8+
        batchIndexErrorMessage string 8+ nullable 8+ default null
      errorMessage string 8+ nullable 8+ default null ignorable
      currentLeader LeaderIdAndEpoch 10+ tag 0
        leaderId int32 10+ default -1 entity brokerId
        leaderEpoch int32 10+ default -1
  throttleTimeMs int32 1+ default 0 ignorable
  nodeEndpoints []NodeEndpoint 10+ tag 0
    nodeId int32 10+ entity brokerId mapkey
    host string 10+
    port int32 10+
    rack string 10+ nullable 10+ default null

PushTelemetryRequest request 72 versions 0 flexible 0+ listeners broker
  clientInstanceId uuid 0+
  subscriptionId int32 0+
  terminating bool 0+
  compressionType int8 0+
  metrics bytes 0+

PushTelemetryResponse response 72 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+

ReadShareGroupStateRequest request 84 versions 0 flexible 0+ listeners broker
  groupId string 0+
  topics []ReadStateData 0+
    topicId uuid 0+
    partitions []PartitionData 0+
      partition int32 0+
      leaderEpoch int32 0+

ReadShareGroupStateResponse response 84 versions 0 flexible 0+
  results []ReadStateResult 0+
    topicId uuid 0+
    partitions []PartitionResult 0+
      partition int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null
      stateEpoch int32 0+
      startOffset int64 0+
      stateBatches []StateBatch 0+
        firstOffset int64 0+
        lastOffset int64 0+
        deliveryState int8 0+
        deliveryCount int16 0+

ReadShareGroupStateSummaryRequest request 87 versions 0-1 flexible 0+ listeners broker
  groupId string 0+
  topics []ReadStateSummaryData 0+
    topicId uuid 0+
    partitions []PartitionData 0+
      partition int32 0+
      leaderEpoch int32 0+

ReadShareGroupStateSummaryResponse response 87 versions 0-1 flexible 0+
  results []ReadStateSummaryResult 0+
    topicId uuid 0+
    partitions []PartitionResult 0+
      partition int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null
      stateEpoch int32 0+
      leaderEpoch int32 0+
      startOffset int64 0+
      deliveryCompleteCount int32 1+ default -1 ignorable

RemoveRaftVoterRequest request 81 versions 0 flexible 0+ listeners controller,broker
  clusterId string 0+ nullable 0+
  voterId int32 0+
  voterDirectoryId uuid 0+

RemoveRaftVoterResponse response 81 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ ignorable

RenewDelegationTokenRequest request 39 versions 1-2 flexible 2+ listeners broker,controller
  hmac bytes 0+
  renewPeriodMs int64 0+

RenewDelegationTokenResponse response 39 versions 1-2 flexible 2+
  errorCode int16 0+
  expiryTimestampMs int64 0+
  throttleTimeMs int32 0+

RequestHeader header - versions 1-2 flexible 2+
  requestApiKey int16 0+
  requestApiVersion int16 0+
  correlationId int32 0+
  clientId string 1+ nullable 1+ flexible none

ResponseHeader header - versions 0-1 flexible 1+
  correlationId int32 0+

SaslAuthenticateRequest request 36 versions 0-2 flexible 2+ listeners broker,controller
  authBytes bytes 0+

SaslAuthenticateResponse response 36 versions 0-2 flexible 2+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  authBytes bytes 0+
  sessionLifetimeMs int64 1+ default 0 ignorable

SaslHandshakeRequest request 17 versions 0-1 listeners broker,controller
  mechanism string 0+

SaslHandshakeResponse response 17 versions 0-1
  errorCode int16 0+
  mechanisms []string 0+

ShareAcknowledgeRequest request 79 versions 1-2 flexible 0+ listeners broker
  groupId string 0+ nullable 0+ default null entity groupId
  memberId string 0+ nullable 0+
  shareSessionEpoch int32 0+
  isRenewAck bool 2+ default false
  topics []AcknowledgeTopic 0+
    topicId uuid 0+ mapkey
    partitions []AcknowledgePartition 0+
      partitionIndex int32 0+ mapkey
      acknowledgementBatches []AcknowledgementBatch 0+
        firstOffset int64 0+
        lastOffset int64 0+
        acknowledgeTypes []int8 0+

ShareAcknowledgeResponse response 79 versions 1-2 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  acquisitionLockTimeoutMs int32 2+ ignorable
  responses []ShareAcknowledgeTopicResponse 0+
    topicId uuid 0+ mapkey
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null
      currentLeader LeaderIdAndEpoch 0+
        leaderId int32 0+
        leaderEpoch int32 0+
  nodeEndpoints []NodeEndpoint 0+
    nodeId int32 0+ entity brokerId mapkey
    host string 0+
    port int32 0+
    rack string 0+ nullable 0+ default null

ShareFetchRequest request 78 versions 1-2 flexible 0+ listeners broker
  groupId string 0+ nullable 0+ default null entity groupId
  memberId string 0+ nullable 0+
  shareSessionEpoch int32 0+
  maxWaitMs int32 0+
  minBytes int32 0+
  maxBytes int32 0+ default 0x7fffffff
  maxRecords int32 1+
  batchSize int32 1+
  shareAcquireMode int8 2+ default 0 ignorable
  isRenewAck bool 2+ default false
  topics []FetchTopic 0+
    topicId uuid 0+ mapkey
    partitions []FetchPartition 0+
      partitionIndex int32 0+ mapkey
      partitionMaxBytes int32 0
      acknowledgementBatches []AcknowledgementBatch 0+
        firstOffset int64 0+
        lastOffset int64 0+
        acknowledgeTypes []int8 0+
  forgottenTopicsData []ForgottenTopic 0+
    topicId uuid 0+
    partitions []int32 0+

ShareFetchResponse response 78 versions 1-2 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  acquisitionLockTimeoutMs int32 1+
  responses []ShareFetchableTopicResponse 0+
    topicId uuid 0+ mapkey
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null
      acknowledgeErrorCode int16 0+
      acknowledgeErrorMessage string 0+ nullable 0+ default null
      currentLeader LeaderIdAndEpoch 0+
        leaderId int32 0+
        leaderEpoch int32 0+
      records records 0+ nullable 0
      acquiredRecords []AcquiredRecords 0+
        firstOffset int64 0+
        lastOffset int64 0+
        deliveryCount int16 0+
  nodeEndpoints []NodeEndpoint 0+
    nodeId int32 0+ entity brokerId mapkey
    host string 0+
    port int32 0+
    rack string 0+ nullable 0+ default null

ShareGroupDescribeRequest request 77 versions 1 flexible 0+ listeners broker
  groupIds []string 0+ entity groupId
  includeAuthorizedOperations bool 0+

ShareGroupDescribeResponse response 77 versions 1 flexible 0+
  struct TopicPartitions
    topicId uuid 0+
    topicName string 0+ entity topicName
    partitions []int32 0+
  struct Assignment
    topicPartitions []TopicPartitions 0+
  throttleTimeMs int32 0+
  groups []DescribedGroup 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+ default null
    groupId string 0+ entity groupId
    groupState string 0+
    groupEpoch int32 0+
    assignmentEpoch int32 0+
    assignorName string 0+
    members []Member 0+
      memberId string 0+
      rackId string 0+ nullable 0+ default null
      memberEpoch int32 0+
      clientId string 0+
      clientHost string 0+
      subscribedTopicNames []string 0+ entity topicName
      assignment Assignment 0+
    authorizedOperations int32 0+ default -2147483648

ShareGroupHeartbeatRequest request 76 versions 1 flexible 0+ listeners broker
  groupId string 0+ entity groupId
  memberId string 0+
  memberEpoch int32 0+
  rackId string 0+ nullable 0+ default null
  subscribedTopicNames []string 0+ nullable 0+ default null entity topicName

ShareGroupHeartbeatResponse response 76 versions 1 flexible 0+
  struct TopicPartitions
    topicId uuid 0+
    partitions []int32 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  memberId string 0+ nullable 0+ default null
  memberEpoch int32 0+
  heartbeatIntervalMs int32 0+
  assignment Assignment 0+ nullable 0+ default null
    topicPartitions []TopicPartitions 0+

StopReplicaRequest request 5 versions none

StopReplicaResponse response 5 versions none

StreamsGroupDescribeRequest request 89 versions 0-1 flexible 0+ listeners broker
  groupIds []string 0+ entity groupId
  includeAuthorizedOperations bool 0+
  includeTopologyDescription bool 1+ default false

StreamsGroupDescribeResponse response 89 versions 0-1 flexible 0+
  struct Endpoint
    host string 0+
    port uint16 0+
  struct TaskOffset
    subtopologyId string 0+
    partition int32 0+
    offset int64 0+
  struct Assignment
    activeTasks []TaskIds 0+
    standbyTasks []TaskIds 0+
    warmupTasks []TaskIds 0+
  struct TaskIds
    subtopologyId string 0+
    partitions []int32 0+
  struct KeyValue
    key string 0+
    value string 0+
  struct TopicInfo
    name string 0+ entity topicName
    partitions int32 0+
    replicationFactor int16 0+
    topicConfigs []KeyValue 0+
  struct TopologyDescription
    subtopologies []TopologyDescriptionSubtopology 1+
    globalStores []TopologyDescriptionGlobalStore 1+
  struct TopologyDescriptionSubtopology
    subtopologyId string 1+
    nodes []TopologyDescriptionNode 1+
  struct TopologyDescriptionNode
    name string 1+
    nodeType int8 1+
    sourceTopics []string 1+ entity topicName
    sinkTopic string 1+ nullable 1+ default null entity topicName
    stores []string 1+
    successors []string 1+
  struct TopologyDescriptionGlobalStore
    source TopologyDescriptionNode 1+
    processor TopologyDescriptionNode 1+
  throttleTimeMs int32 0+
  groups []DescribedGroup 0+
    errorCode int16 0+
    errorMessage string 0+ nullable 0+ default null
    groupId string 0+ entity groupId
    groupState string 0+
    groupEpoch int32 0+
    assignmentEpoch int32 0+
    topology Topology 0+ nullable 0+ default null
      epoch int32 0+
      subtopologies []Subtopology 0+ nullable 0+ default null
        subtopologyId string 0+
        sourceTopics []string 0+ entity topicName
        repartitionSinkTopics []string 0+ entity topicName
        stateChangelogTopics []TopicInfo 0+
        repartitionSourceTopics []TopicInfo 0+
    members []Member 0+
      memberId string 0+
      memberEpoch int32 0+
      instanceId string 0+ nullable 0+ default null
      rackId string 0+ nullable 0+ default null
      clientId string 0+
      clientHost string 0+
      topologyEpoch int32 0+
      processId string 0+
      userEndpoint Endpoint 0+ nullable 0+ default null
      clientTags []KeyValue 0+
      taskOffsets []TaskOffset 0+
      taskEndOffsets []TaskOffset 0+
      assignment Assignment 0+
      targetAssignment Assignment 0+
      isClassic bool 0+
    authorizedOperations int32 0+ default -2147483648
    topologyDescription TopologyDescription 1+ nullable 1+ default null
    topologyDescriptionStatus int8 1+ default 0
    assignorName string 1+ nullable 1+ default null ignorable

StreamsGroupHeartbeatRequest request 88 versions 0-1 flexible 0+ listeners broker
  struct KeyValue
    key string 0+
    value string 0+
  struct TopicInfo
    name string 0+ entity topicName
    partitions int32 0+
    replicationFactor int16 0+
    topicConfigs []KeyValue 0+
  struct Endpoint
    host string 0+
    port uint16 0+
  struct TaskOffset
    subtopologyId string 0+
    partition int32 0+
    offset int64 0+
  struct TaskIds
    subtopologyId string 0+
    partitions []int32 0+
  groupId string 0+ entity groupId
  memberId string 0+
  memberEpoch int32 0+
  endpointInformationEpoch int32 0+
  instanceId string 0+ nullable 0+ default null
  rackId string 0+ nullable 0+ default null
  rebalanceTimeoutMs int32 0+ default -1
  topology Topology 0+ nullable 0+ default null
    epoch int32 0+
    subtopologies []Subtopology 0+
      subtopologyId string 0+
      sourceTopics []string 0+ entity topicName
      sourceTopicRegex []string 0+
      stateChangelogTopics []TopicInfo 0+
      repartitionSinkTopics []string 0+ entity topicName
      repartitionSourceTopics []TopicInfo 0+
      copartitionGroups []CopartitionGroup 0+
        sourceTopics []int16 0+
        sourceTopicRegex []int16 0+
        repartitionSourceTopics []int16 0+
  activeTasks []TaskIds 0+ nullable 0+ default null
  standbyTasks []TaskIds 0+ nullable 0+ default null
  warmupTasks []TaskIds 0+ nullable 0+ default null
  processId string 0+ nullable 0+ default null
  userEndpoint Endpoint 0+ nullable 0+ default null
  clientTags []KeyValue 0+ nullable 0+ default null
  taskOffsets []TaskOffset 0+ nullable 0+ default null
  taskEndOffsets []TaskOffset 0+ nullable 0+ default null
  shutdownApplication bool 0+ default false

StreamsGroupHeartbeatResponse response 88 versions 0-1 flexible 0+
  struct Status
    statusCode int8 0+
    statusDetail string 0+
  struct TopicPartition
    topic string 0+ entity topicName
    partitions []int32 0+
  struct TaskIds
    subtopologyId string 0+
    partitions []int32 0+
  struct Endpoint
    host string 0+
    port uint16 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null
  memberId string 0+
  memberEpoch int32 0+
  heartbeatIntervalMs int32 0+
  acceptableRecoveryLagLegacy int32 0
  taskOffsetIntervalMs int32 0+
  acceptableRecoveryLag int64 1+ default -1 ignorable
  status []Status 0+ nullable 0+
  activeTasks []TaskIds 0+ nullable 0+ default null
  standbyTasks []TaskIds 0+ nullable 0+ default null
  warmupTasks []TaskIds 0+ nullable 0+ default null
  topologyDescriptionRequired bool 1+ default false
  endpointInformationEpoch int32 0+
  partitionsByUserEndpoint []EndpointToPartitions 0+ nullable 0+ default null
    userEndpoint Endpoint 0+
    activePartitions []TopicPartition 0+
    standbyPartitions []TopicPartition 0+

StreamsGroupTopologyDescriptionUpdateRequest request 93 versions 0 flexible 0+ listeners broker
  struct TopologyDescription
    subtopologies []TopologyDescriptionSubtopology 0+
    globalStores []TopologyDescriptionGlobalStore 0+
  struct TopologyDescriptionSubtopology
    subtopologyId string 0+
    nodes []TopologyDescriptionNode 0+
  struct TopologyDescriptionNode
    name string 0+
    nodeType int8 0+
    sourceTopics []string 0+ entity topicName
    sinkTopic string 0+ nullable 0+ default null entity topicName
    stores []string 0+
    successors []string 0+
  struct TopologyDescriptionGlobalStore
    source TopologyDescriptionNode 0+
    processor TopologyDescriptionNode 0+
  groupId string 0+ entity groupId
  memberId string 0+
  topologyEpoch int32 0+
  topologyDescription TopologyDescription 0+

StreamsGroupTopologyDescriptionUpdateResponse response 93 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+ default null

SyncGroupRequest request 14 versions 0-5 flexible 4+ listeners broker
  groupId string 0+ entity groupId
  generationId int32 0+
  memberId string 0+
  groupInstanceId string 3+ nullable 3+ default null
  protocolType string 5+ nullable 5+ default null ignorable
  protocolName string 5+ nullable 5+ default null ignorable
  assignments []SyncGroupRequestAssignment 0+
    memberId string 0+
    assignment bytes 0+

SyncGroupResponse response 14 versions 0-5 flexible 4+
  throttleTimeMs int32 1+ ignorable
  errorCode int16 0+
  protocolType string 5+ nullable 5+ default null ignorable
  protocolName string 5+ nullable 5+ default null ignorable
  assignment bytes 0+

TxnOffsetCommitRequest request 28 versions 0-6 flexible 3+ listeners broker
  transactionalId string 0+ entity transactionalId
  groupId string 0+ entity groupId
  producerId int64 0+ entity producerId
  producerEpoch int16 0+
  generationIdOrMemberEpoch int32 3+ default -1
  memberId string 3+ default ""
  groupInstanceId string 3+ nullable 3+ default null
  topics []TxnOffsetCommitRequestTopic 0+
    name string 0-5 entity topicName ignorable
    topicId uuid 6+ ignorable
    partitions []TxnOffsetCommitRequestPartition 0+
      partitionIndex int32 0+
      committedOffset int64 0+
      committedLeaderEpoch int32 2+ default -1 ignorable
      committedMetadata string 0+ nullable 0+

TxnOffsetCommitResponse response 28 versions 0-6 flexible 3+
  throttleTimeMs int32 0+
  topics []TxnOffsetCommitResponseTopic 0+
    name string 0-5 entity topicName ignorable
    topicId uuid 6+ ignorable
    partitions []TxnOffsetCommitResponsePartition 0+
      partitionIndex int32 0+
      errorCode int16 0+

UnregisterBrokerRequest request 64 versions 0 flexible 0+ listeners broker,controller
  brokerId int32 0+ entity brokerId

UnregisterBrokerResponse response 64 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+

UnregisterControllerRequest request 94 versions 0 flexible 0+ listeners broker,controller
  controllerId int32 0+

UnregisterControllerResponse response 94 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+

UpdateFeaturesRequest request 57 versions 0-2 flexible 0+ listeners broker,controller
  timeoutMs int32 0+ default 60000
  featureUpdates []FeatureUpdateKey 0+
    feature string 0+ mapkey
    maxVersionLevel int16 0+
    allowDowngrade bool 0
    upgradeType int8 1+ default 1
  validateOnly bool 1+ default false

UpdateFeaturesResponse response 57 versions 0-2 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  errorMessage string 0+ nullable 0+
  results []UpdatableFeatureResult 0-1 ignorable
    feature string 0+ mapkey
    errorCode int16 0+
    errorMessage string 0+ nullable 0+

UpdateMetadataRequest request 6 versions none

UpdateMetadataResponse response 6 versions none

UpdateRaftVoterRequest request 82 versions 0 flexible 0+ listeners controller
  clusterId string 0+ nullable 0+
  currentLeaderEpoch int32 0+
  voterId int32 0+
  voterDirectoryId uuid 0+
  listeners []Listener 0+
    name string 0+ mapkey
    host string 0+
    port uint16 0+
  kRaftVersionFeature KRaftVersionFeature 0+
    minSupportedVersion int16 0+
    maxSupportedVersion int16 0+

UpdateRaftVoterResponse response 82 versions 0 flexible 0+
  throttleTimeMs int32 0+
  errorCode int16 0+
  currentLeader CurrentLeader 0+ tag 0
    leaderId int32 0+ default -1 entity brokerId
    leaderEpoch int32 0+ default -1
    host string 0+
    port int32 0+

VoteRequest request 52 versions 0-2 flexible 0+ listeners controller
  clusterId string 0+ nullable 0+ default null
  voterId int32 1+ default -1 entity brokerId ignorable
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      replicaEpoch int32 0+
      replicaId int32 0+ entity brokerId
      replicaDirectoryId uuid 1+ ignorable
      voterDirectoryId uuid 1+ ignorable
      lastOffsetEpoch int32 0+
      lastOffset int64 0+
      preVote bool 2+

VoteResponse response 52 versions 0-2 flexible 0+
  errorCode int16 0+
  topics []TopicData 0+
    topicName string 0+ entity topicName
    partitions []PartitionData 0+
      partitionIndex int32 0+
      errorCode int16 0+
      leaderId int32 0+ entity brokerId
      leaderEpoch int32 0+
      voteGranted bool 0+
  nodeEndpoints []NodeEndpoint 1+ tag 0
    nodeId int32 1+ entity brokerId mapkey
    host string 1+
    port uint16 1+

WriteShareGroupStateRequest request 85 versions 0-1 flexible 0+ listeners broker
  groupId string 0+
  topics []WriteStateData 0+
    topicId uuid 0+
    partitions []PartitionData 0+
      partition int32 0+
      stateEpoch int32 0+
      leaderEpoch int32 0+
      startOffset int64 0+
      deliveryCompleteCount int32 1+ default -1 ignorable
      stateBatches []StateBatch 0+
        firstOffset int64 0+
        lastOffset int64 0+
        deliveryState int8 0+
        deliveryCount int16 0+

WriteShareGroupStateResponse response 85 versions 0-1 flexible 0+
  results []WriteStateResult 0+
    topicId uuid 0+
    partitions []PartitionResult 0+
      partition int32 0+
      errorCode int16 0+
      errorMessage string 0+ nullable 0+ default null

WriteTxnMarkersRequest request 27 versions 1-2 flexible 1+ listeners broker
  markers []WritableTxnMarker 0+
    producerId int64 0+ entity producerId
    producerEpoch int16 0+
    transactionResult bool 0+
    topics []WritableTxnMarkerTopic 0+
      name string 0+ entity topicName
      partitionIndexes []int32 0+
    coordinatorEpoch int32 0+
    transactionVersion int8 2+ default 0 ignorable

WriteTxnMarkersResponse response 27 versions 1-2 flexible 1+
  markers []WritableTxnMarkerResult 0+
    producerId int64 0+ entity producerId
    topics []WritableTxnMarkerTopicResult 0+
      name string 0+ entity topicName
      partitions []WritableTxnMarkerPartitionResult 0+
        partitionIndex int32 0+
        errorCode int16 0+
"""
