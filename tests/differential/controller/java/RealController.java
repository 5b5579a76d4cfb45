package org.apache.kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import kafka.server.ControllerConfigurationValidator;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;

import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AllocateProducerIdsRequestData;
import org.apache.kafka.common.message.AllocateProducerIdsResponseData;
import org.apache.kafka.common.message.AlterClientQuotasRequestData;
import org.apache.kafka.common.message.AlterConfigsRequestData;
import org.apache.kafka.common.message.AlterConfigsResponseData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.AlterUserScramCredentialsRequestData;
import org.apache.kafka.common.message.AssignReplicasToDirsRequestData;
import org.apache.kafka.common.message.AssignReplicasToDirsResponseData;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.BrokerHeartbeatResponseData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.BrokerRegistrationResponseData;
import org.apache.kafka.common.message.ControllerRegistrationRequestData;
import org.apache.kafka.common.message.ControllerRegistrationResponseData;
import org.apache.kafka.common.message.CreateDelegationTokenRequestData;
import org.apache.kafka.common.message.CreatePartitionsRequestData;
import org.apache.kafka.common.message.CreatePartitionsResponseData;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.DeleteTopicsRequestData;
import org.apache.kafka.common.message.DeleteTopicsResponseData;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.message.ExpireDelegationTokenRequestData;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData;
import org.apache.kafka.common.message.IncrementalAlterConfigsResponseData;
import org.apache.kafka.common.message.ListPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.RenewDelegationTokenRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.UnregisterBrokerRequestData;
import org.apache.kafka.common.message.UnregisterBrokerResponseData;
import org.apache.kafka.common.message.UpdateFeaturesRequestData;
import org.apache.kafka.common.message.UpdateFeaturesResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.requests.AlterClientQuotasRequest;
import org.apache.kafka.common.requests.AlterClientQuotasResponse;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.internals.MemoryBatchReader;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.quota.ControllerMutationQuota;

import java.nio.ByteBuffer;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** One QuorumController whose time, log and chance move only on request. */
final class RealController implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final MetadataRecordSerde SERDE = MetadataRecordSerde.INSTANCE;
    private static final long NEVER_MS = TimeUnit.DAYS.toMillis(10_000);

    private final int nodeId;
    private final Clock clock;
    private final ManualRaft raft;
    private final NewestTokens tokens;
    private final MutationQuotas quotas;
    private final QuorumController controller;
    private final List<String> faults = new ArrayList<>();
    private final List<ObjectNode> answers = new ArrayList<>();
    private int epoch;

    /** Each move makes it a few nanoseconds later than whole milliseconds, so that what was due then is due. */
    private static final class Clock implements Time {
        private volatile long ns;
        private long moves;

        void moveTo(long ms) { ns = TimeUnit.MILLISECONDS.toNanos(ms) + 100 * ++moves; }

        @Override public long milliseconds() { return TimeUnit.NANOSECONDS.toMillis(ns); }

        @Override public long nanoseconds() { return ns; }

        @Override public void sleep(long ms) { throw new UnsupportedOperationException(); }

        // Abstract in 4.3, a default method in 4.4.
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    RealController(JsonNode start) throws Exception {
        nodeId = start.get("nodeId").asInt();
        clock = new Clock();
        clock.moveTo(start.get("now").asLong());
        raft = new ManualRaft(nodeId);
        raft.kraftVersion = KRaftVersion.fromFeatureLevel((short) start.get("kraftVersion").asInt());
        KafkaConfig config = config(start.get("configs"));
        JsonNode secret = start.get("tokenSecretKey");
        tokens = new NewestTokens(secret.isNull() ? null : secret.asText());
        quotas = new MutationQuotas(clock);
        controller = new QuorumController.Builder(nodeId, start.get("clusterId").asText()).
            setTime(clock).
            setRaftClient(raft).
            setConfigSchema(KafkaRaftServer.configSchema()).
            setConfigurationValidator(new ControllerConfigurationValidator(config)).
            setStaticConfig(config.originals()).
            setQuorumFeatures(new QuorumFeatures(nodeId, features(start.get("features")), voters(start.get("voters")))).
            setBootstrapMetadata(BootstrapMetadata.fromRecords(records(start.get("bootstrap")), "test")).
            setReplicaPlacer(new StripedReplicaPlacer(new Random(start.get("seed").asLong()))).
            setDefaultReplicationFactor((short) start.get("defaultReplicationFactor").asInt()).
            setDefaultNumPartitions(start.get("defaultPartitions").asInt()).
            // Half a millisecond more: a session is valid in the whole of the last one.
            setSessionTimeoutNs(ns(start, "sessionTimeoutMs") + 500_000).
            setFenceStaleBrokerIntervalNs(ns(start, "sessionTimeoutMs") / 8).
            setMaxIdleIntervalNs(OptionalLong.of(ns(start, "maxIdleMs"))).
            setLeaderImbalanceCheckIntervalNs(OptionalLong.of(ns(start, "leaderImbalanceCheckMs"))).
            setUncleanLeaderElectionCheckIntervalMs(start.get("uncleanElectionCheckMs").asLong()).
            setMaxRecordsPerBatch(start.get("maxBatchRecords").asInt()).
            setControllerPerformanceSamplePeriodMs(NEVER_MS).
            setDelegationTokenSecretKey(secret.isNull() ? null : secret.asText()).
            setDelegationTokenMaxLifeMs(start.get("tokenMaxLifetimeMs").asLong()).
            setDelegationTokenExpiryTimeMs(start.get("tokenExpiryMs").asLong()).
            setDelegationTokenExpiryCheckIntervalMs(start.get("tokenCheckMs").asLong()).
            setDelegationTokenCache(tokens.cache).
            setNonFatalFaultHandler((message, cause) -> fault("fault", message, cause)).
            setFatalFaultHandler((message, cause) -> fault("fatal", message, cause)).
            build();
        NewestTokens.useClock(controller, clock);
    }

    private static Map<String, VersionRange> features(JsonNode given) {
        Map<String, VersionRange> features = new HashMap<>();
        given.properties().forEach(entry -> features.put(entry.getKey(),
            VersionRange.of((short) entry.getValue().get(0).asInt(), (short) entry.getValue().get(1).asInt())));
        return features;
    }

    private static List<Integer> voters(JsonNode given) {
        List<Integer> voters = new ArrayList<>();
        given.forEach(voter -> voters.add(voter.asInt()));
        return voters;
    }

    private static long ns(JsonNode start, String name) { return TimeUnit.MILLISECONDS.toNanos(start.get(name).asLong()); }

    private KafkaConfig config(JsonNode configs) {
        Properties properties = new Properties();
        properties.put("process.roles", "controller");
        properties.put("node.id", String.valueOf(nodeId));
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("controller.quorum.voters", nodeId + "@localhost:1");
        properties.put("listeners", "CONTROLLER://localhost:1");
        configs.properties().forEach(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
        return new KafkaConfig(properties);
    }

    private RuntimeException fault(String kind, String message, Throwable cause) {
        synchronized (faults) { faults.add(kind + ": " + message + (cause == null ? "" : ": " + cause)); }
        return new RuntimeException(message, cause);
    }

    ObjectNode step(JsonNode step) throws Exception {
        switch (step.get("command").asText()) {
            case "lead":
                epoch = step.get("epoch").asInt();
                raft.leader = new LeaderAndEpoch(OptionalInt.of(nodeId), epoch);
                raft.endOffset = step.get("endOffset").asLong();
                tokens.onlyCommitted();
                raft.listener.handleLeaderChange(raft.leader);
                break;
            case "follow":
                raft.leader = new LeaderAndEpoch(OptionalInt.empty(), step.get("epoch").asInt());
                raft.listener.handleLeaderChange(raft.leader);
                tokens.onlyCommitted();
                break;
            case "commit":
                List<Batch<ApiMessageAndVersion>> committed = batches(step.get("batches"));
                raft.listener.handleCommit(MemoryBatchReader.of(committed, reader -> { }));
                committed.forEach(batch -> batch.records().forEach(record -> {
                    tokens.committed(record.message());
                    quotas.committed(record.message());
                }));
                break;
            case "advance":
                clock.moveTo(step.get("now").asLong());
                break;
            case "request":
                ask(step);
                break;
            default:
                throw new IllegalArgumentException(step.toString());
        }
        return did();
    }

    private List<Batch<ApiMessageAndVersion>> batches(JsonNode batches) {
        List<Batch<ApiMessageAndVersion>> found = new ArrayList<>();
        for (JsonNode batch : batches)
            found.add(Batch.data(batch.get("baseOffset").asLong(), batch.get("epoch").asInt(), clock.milliseconds(),
                100, records(batch.get("records"))));
        return found;
    }

    private static List<ApiMessageAndVersion> records(JsonNode encoded) {
        List<ApiMessageAndVersion> found = new ArrayList<>();
        for (JsonNode record : encoded) {
            ByteBuffer buffer = ByteBuffer.wrap(Base64.getDecoder().decode(record.asText()));
            found.add(SERDE.read(new ByteBufferAccessor(buffer), buffer.remaining()));
        }
        return found;
    }

    /** Wait until the queue is empty, and tell what came of it. */
    ObjectNode did() throws Exception {
        CompletableFuture<Void> idle = new CompletableFuture<>();
        controller.appendControlEvent("idle", () -> idle.complete(null));
        idle.get(60, TimeUnit.SECONDS);
        ObjectNode did = JSON.createObjectNode();
        ArrayNode batches = did.putArray("batches");
        for (ManualRaft.Appended appended : raft.takeAppended()) {
            ObjectNode batch = batches.addObject().put("baseOffset", appended.baseOffset());
            ArrayNode records = batch.putArray("records");
            appended.records().forEach(record -> records.add(encoded(record)));
            appended.records().forEach(record -> tokens.appended(record.message()));
        }
        synchronized (answers) {
            did.putArray("answers").addAll(answers);
            answers.clear();
        }
        synchronized (faults) {
            ArrayNode told = did.putArray("faults");
            faults.forEach(told::add);
            faults.clear();
        }
        did.put("hasResigned", raft.hasResigned);
        raft.hasResigned = false;
        return did;
    }

    private static String encoded(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(SERDE.recordSize(record, cache));
        SERDE.write(record, cache, new ByteBufferAccessor(buffer));
        return Base64.getEncoder().encodeToString(buffer.array());
    }

    private void ask(JsonNode step) {
        short version = (short) step.get("version").asInt();
        ByteBufferAccessor body = new ByteBufferAccessor(ByteBuffer.wrap(Base64.getDecoder().decode(step.get("body").asText())));
        OptionalLong deadline = step.hasNonNull("deadlineMs") ?
            OptionalLong.of(TimeUnit.MILLISECONDS.toNanos(step.get("deadlineMs").asLong())) : OptionalLong.empty();
        KafkaPrincipal principal = MutationQuotas.principal(step);
        ControllerMutationQuota quota = quotas.of(step, principal);
        ControllerRequestContext context = new ControllerRequestContext(
            new RequestHeaderData().setRequestApiVersion(version), principal, deadline,
            permits -> quota.record(permits.doubleValue()));
        switch (step.get("api").asText()) {
            case "AlterClientQuotas":
                AlterClientQuotasRequest quotasRequest =
                    new AlterClientQuotasRequest(new AlterClientQuotasRequestData(body, version), version);
                answer(step, () -> controller.alterClientQuotas(context, quotasRequest.entries(), quotasRequest.validateOnly()),
                    results -> AlterClientQuotasResponse.fromQuotaEntities(results, 0).data(), error -> null);
                break;
            case "CreateDelegationToken":
                answer(step, () -> controller.createDelegationToken(context, new CreateDelegationTokenRequestData(body, version)),
                    reply -> NewestTokens.answer(reply, version), error -> null);
                break;
            case "RenewDelegationToken":
                answer(step, () -> controller.renewDelegationToken(context, new RenewDelegationTokenRequestData(body, version)),
                    reply -> reply, error -> null);
                break;
            case "ExpireDelegationToken":
                answer(step, () -> controller.expireDelegationToken(context, new ExpireDelegationTokenRequestData(body, version)),
                    reply -> reply, error -> null);
                break;
            case "UnregisterController":
                answer(step, () -> ControllerUnregistration.ask(controller, context, body, version),
                    reply -> ControllerUnregistration.answer(), error -> null);
                break;
            case "BrokerRegistration":
                answer(step, () -> controller.registerBroker(context, new BrokerRegistrationRequestData(body, version)),
                    reply -> new BrokerRegistrationResponseData().setBrokerEpoch(reply.epoch()),
                    error -> new BrokerRegistrationResponseData().setErrorCode(error.code()));
                break;
            case "BrokerHeartbeat":
                answer(step, () -> controller.processBrokerHeartbeat(context, new BrokerHeartbeatRequestData(body, version)),
                    reply -> new BrokerHeartbeatResponseData().setIsCaughtUp(reply.isCaughtUp()).
                        setIsFenced(reply.isFenced()).setShouldShutDown(reply.shouldShutDown()),
                    error -> new BrokerHeartbeatResponseData().setErrorCode(error.code()));
                break;
            case "ControllerRegistration":
                answer(step, () -> controller.registerController(context, new ControllerRegistrationRequestData(body, version)),
                    reply -> new ControllerRegistrationResponseData(),
                    error -> new ControllerRegistrationResponseData().setErrorCode(error.code()));
                break;
            case "UnregisterBroker":
                answer(step, () -> controller.unregisterBroker(context, new UnregisterBrokerRequestData(body, version).brokerId()),
                    reply -> new UnregisterBrokerResponseData(),
                    error -> new UnregisterBrokerResponseData().setErrorCode(error.code()));
                break;
            case "UpdateFeatures":
                answer(step, () -> controller.updateFeatures(context, new UpdateFeaturesRequestData(body, version)),
                    reply -> reply,
                    error -> new UpdateFeaturesResponseData().setErrorCode(error.code()));
                break;
            case "AllocateProducerIds":
                answer(step, () -> controller.allocateProducerIds(context, new AllocateProducerIdsRequestData(body, version)),
                    reply -> reply,
                    error -> new AllocateProducerIdsResponseData().setErrorCode(error.code()));
                break;
            case "AlterPartition":
                answer(step, () -> controller.alterPartition(context, new AlterPartitionRequestData(body, version)),
                    reply -> reply,
                    error -> new AlterPartitionResponseData().setErrorCode(error.code()));
                break;
            case "AlterPartitionReassignments":
                answer(step, () -> controller.alterPartitionReassignments(context,
                    new AlterPartitionReassignmentsRequestData(body, version)), reply -> reply, error -> null);
                break;
            case "ListPartitionReassignments":
                answer(step, () -> controller.listPartitionReassignments(context,
                    new ListPartitionReassignmentsRequestData(body, version)), reply -> reply, error -> null);
                break;
            case "AssignReplicasToDirs":
                answer(step, () -> controller.assignReplicasToDirs(context, new AssignReplicasToDirsRequestData(body, version)),
                    reply -> reply,
                    error -> new AssignReplicasToDirsResponseData().setErrorCode(error.code()));
                break;
            case "CreateTopics":
                Set<String> describable = new HashSet<>();
                step.get("describable").forEach(name -> describable.add(name.asText()));
                answer(step, () -> controller.createTopics(context, new CreateTopicsRequestData(body, version), describable, false),
                    reply -> reply, error -> null);
                break;
            case "CreatePartitions":
                CreatePartitionsRequestData growing = new CreatePartitionsRequestData(body, version);
                answer(step, () -> controller.createPartitions(context,
                        new ArrayList<>(growing.topics().valuesList()), growing.validateOnly()),
                    results -> new CreatePartitionsResponseData().setResults(results), error -> null);
                break;
            case "DeleteTopics":
                List<Uuid> ids = new ArrayList<>();
                new DeleteTopicsRequestData(body, version).topics().forEach(topic -> ids.add(topic.topicId()));
                answer(step, () -> controller.deleteTopics(context, ids), RealController::deleted, error -> null);
                break;
            case "ElectLeaders":
                answer(step, () -> controller.electLeaders(context, new ElectLeadersRequestData(body, version)),
                    reply -> reply, error -> null);
                break;
            case "IncrementalAlterConfigs":
                IncrementalAlterConfigsRequestData altering = new IncrementalAlterConfigsRequestData(body, version);
                Map<ConfigResource, Map<String, Map.Entry<AlterConfigOp.OpType, String>>> changes = new HashMap<>();
                altering.resources().forEach(resource -> {
                    Map<String, Map.Entry<AlterConfigOp.OpType, String>> operations = new HashMap<>();
                    resource.configs().forEach(config -> operations.put(config.name(), new SimpleImmutableEntry<>(
                        AlterConfigOp.OpType.forId(config.configOperation()), config.value())));
                    changes.put(resource(resource.resourceType(), resource.resourceName()), operations);
                });
                answer(step, () -> controller.incrementalAlterConfigs(context, changes, altering.validateOnly(),
                    step.get("forwarded").asBoolean()), RealController::altered, error -> null);
                break;
            case "AlterConfigs":
                AlterConfigsRequestData setting = new AlterConfigsRequestData(body, version);
                Map<ConfigResource, Map<String, String>> wanted = new HashMap<>();
                setting.resources().forEach(resource -> {
                    Map<String, String> configs = new HashMap<>();
                    resource.configs().forEach(config -> configs.put(config.name(), config.value()));
                    wanted.put(resource(resource.resourceType(), resource.resourceName()), configs);
                });
                answer(step, () -> controller.legacyAlterConfigs(context, wanted, setting.validateOnly(),
                    step.get("forwarded").asBoolean()), RealController::set, error -> null);
                break;
            case "CreateAcls":
                answer(step, () -> controller.createAcls(context, SecurityRequests.bindings(body, version)),
                    SecurityRequests::created, error -> null);
                break;
            case "DeleteAcls":
                answer(step, () -> controller.deleteAcls(context, SecurityRequests.filters(body, version)),
                    SecurityRequests::deleted, error -> null);
                break;
            case "AlterUserScramCredentials":
                answer(step, () -> controller.alterUserScramCredentials(context,
                    new AlterUserScramCredentialsRequestData(body, version)), reply -> reply, error -> null);
                break;
            default:
                throw new IllegalArgumentException(step.toString());
        }
    }

    private static ConfigResource resource(byte type, String name) {
        return new ConfigResource(ConfigResource.Type.forId(type), name);
    }

    private static IncrementalAlterConfigsResponseData altered(Map<ConfigResource, ApiError> results) {
        IncrementalAlterConfigsResponseData told = new IncrementalAlterConfigsResponseData();
        results.forEach((resource, error) -> told.responses().add(
            new IncrementalAlterConfigsResponseData.AlterConfigsResourceResponse().setErrorCode(error.error().code()).
                setErrorMessage(error.message()).setResourceType(resource.type().id()).setResourceName(resource.name())));
        return told;
    }

    private static AlterConfigsResponseData set(Map<ConfigResource, ApiError> results) {
        AlterConfigsResponseData told = new AlterConfigsResponseData();
        results.forEach((resource, error) -> told.responses().add(
            new AlterConfigsResponseData.AlterConfigsResourceResponse().setErrorCode(error.error().code()).
                setErrorMessage(error.message()).setResourceType(resource.type().id()).setResourceName(resource.name())));
        return told;
    }

    /** As Kafka's request layer tells it, without the names. */
    private static DeleteTopicsResponseData deleted(Map<Uuid, ApiError> results) {
        DeleteTopicsResponseData.DeletableTopicResultCollection responses =
            new DeleteTopicsResponseData.DeletableTopicResultCollection();
        results.forEach((id, error) -> responses.add(new DeleteTopicsResponseData.DeletableTopicResult().
            setName(null).setTopicId(id).setErrorCode(error.error().code())));
        return new DeleteTopicsResponseData().setResponses(responses);
    }

    private <T> void answer(JsonNode step, Supplier<CompletableFuture<T>> asked, Function<T, ApiMessage> told,
                            Function<Errors, ApiMessage> refused) {
        short version = (short) step.get("version").asInt();
        CompletableFuture<T> future;
        try {
            future = asked.get();
        } catch (RuntimeException error) {
            future = CompletableFuture.failedFuture(error);
        }
        future.whenComplete((reply, thrown) -> {
            ObjectNode answer = JSON.createObjectNode().put("number", step.get("number").asLong());
            answer.put("throttleTimeMs", quotas.throttleTimeMs(step));
            ApiMessage message;
            if (thrown == null) {
                message = told.apply(reply);
            } else {
                Throwable cause = thrown instanceof CompletionException || thrown instanceof ExecutionException ?
                    thrown.getCause() : thrown;
                Errors error = Errors.forException(cause);
                answer.put("error", error.code()).put("message", cause.getMessage());
                message = refused.apply(error);
            }
            if (message != null) {
                ByteBuffer buffer = MessageUtil.toByteBufferAccessor(message, version).buffer();
                byte[] bytes = new byte[buffer.remaining()];
                buffer.get(bytes);
                answer.put("body", Base64.getEncoder().encodeToString(bytes));
            }
            synchronized (answers) { answers.add(answer); }
        });
    }

    @Override public void close() throws InterruptedException {
        controller.close();
        quotas.close();
    }
}
