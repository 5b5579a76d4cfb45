// Executes admin operations of a scenario in one JVM: one JSON object a line on stdin, one JSON answer a line on
// stdout ({"ok":true,"value":…} or {"ok":false,"error":"…"}). Owns the translation to Kafka's AdminClient and
// producer; knows no scenario. clusters.py is its only caller and names the operations below.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Admin {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, org.apache.kafka.clients.admin.Admin> CLIENTS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            Map<String, Object> answer = new LinkedHashMap<>();
            JsonNode op = JSON.readTree(line);
            try {
                answer.put("value", execute(op));
                answer.put("ok", true);
            } catch (Throwable thrown) {
                Throwable cause = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
                forget(op);
                answer.put("ok", false);
                answer.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
            }
            out.println(JSON.writeValueAsString(answer));
        }
        for (org.apache.kafka.clients.admin.Admin client : CLIENTS.values()) client.close(Duration.ofSeconds(2));
    }

    // A client of controllers keeps what it was told at first for good, also by one that had not yet loaded the metadata.
    static void forget(JsonNode op) {
        org.apache.kafka.clients.admin.Admin client = CLIENTS.remove(new TreeMap<>(settings(op)).toString());
        if (client != null) client.close(Duration.ZERO);
    }

    static Map<String, Object> settings(JsonNode op) {
        Map<String, Object> settings = new HashMap<>();
        boolean controller = op.path("via").asText("broker").equals("controller");
        settings.put(controller ? "bootstrap.controllers" : "bootstrap.servers", op.get("at").asText());
        // A busy machine elects a leader, and a broker finds it, in tens of seconds.
        settings.put("default.api.timeout.ms", op.path("timeoutMs").asText("90000"));
        settings.put("request.timeout.ms", String.valueOf(Math.min(op.path("timeoutMs").asInt(90000), 10000)));
        settings.put("reconnect.backoff.max.ms", "200");
        settings.put("retry.backoff.max.ms", "200");
        op.path("client").fields().forEachRemaining(e -> settings.put(e.getKey(), e.getValue().asText()));
        return settings;
    }

    static org.apache.kafka.clients.admin.Admin client(JsonNode op) {
        Map<String, Object> settings = settings(op);
        return CLIENTS.computeIfAbsent(new TreeMap<>(settings).toString(),
            key -> org.apache.kafka.clients.admin.Admin.create(settings));
    }

    static Object execute(JsonNode op) throws Exception {
        String name = op.get("op").asText();
        if (name.equals("produce")) return produce(op);
        if (name.equals("forget-all")) {
            for (org.apache.kafka.clients.admin.Admin client : CLIENTS.values()) client.close(Duration.ZERO);
            CLIENTS.clear();
            return null;
        }
        org.apache.kafka.clients.admin.Admin admin = client(op);
        switch (name) {
            case "describe-cluster": return describeCluster(admin);
            case "describe-quorum": return describeQuorum(admin);
            case "describe-features": return features(admin);
            case "describe-topic": return describeTopic(admin, op.get("topic").asText());
            case "list-topics": return admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
            case "create-topic": return admin.createTopics(List.of(newTopic(op))).topicId(op.get("topic").asText()).get().toString();
            case "delete-topic": return done(admin.deleteTopics(List.of(op.get("topic").asText())).all());
            case "create-partitions": return done(admin.createPartitions(Map.of(op.get("topic").asText(),
                op.has("assignment") ? NewPartitions.increaseTo(op.get("count").asInt(), lists(op.get("assignment")))
                    : NewPartitions.increaseTo(op.get("count").asInt()))).all());
            case "delete-records": return done(admin.deleteRecords(Map.of(partition(op),
                RecordsToDelete.beforeOffset(op.get("before").asLong()))).all());
            case "configs": return configs(admin, op);
            case "create-acls": return done(admin.createAcls(bindings(op.get("acls"))).all());
            case "delete-acls": return admin.deleteAcls(filters(op.get("filters"))).all().get().size();
            case "upsert-scram": return scram(admin, new UserScramCredentialUpsertion(op.get("user").asText(),
                new ScramCredentialInfo(mechanism(op), op.path("iterations").asInt(4096)),
                op.get("password").asText().getBytes(StandardCharsets.UTF_8),
                op.get("salt").asText().getBytes(StandardCharsets.UTF_8)));
            case "delete-scram": return scram(admin, new UserScramCredentialDeletion(op.get("user").asText(), mechanism(op)));
            case "quotas": return quotas(admin, op);
            case "create-token": return createToken(admin, op);
            case "renew-token": return admin.renewDelegationToken(hmac(op),
                new RenewDelegationTokenOptions().renewTimePeriodMs(op.get("periodMs").asLong())).expiryTimestamp().get();
            case "expire-token": return admin.expireDelegationToken(hmac(op),
                new ExpireDelegationTokenOptions().expiryTimePeriodMs(op.get("periodMs").asLong())).expiryTimestamp().get();
            case "reassign": return done(admin.alterPartitionReassignments(Map.of(partition(op),
                op.get("replicas").isNull() ? Optional.<NewPartitionReassignment>empty()
                    : Optional.of(new NewPartitionReassignment(ints(op.get("replicas")))))).all());
            case "list-reassignments": return admin.listPartitionReassignments().reassignments().get().size();
            case "elect-leaders": return admin.electLeaders(op.path("unclean").asBoolean() ? ElectionType.UNCLEAN : ElectionType.PREFERRED,
                Set.of(partition(op))).partitions().get().toString();
            case "update-features": return updateFeatures(admin, op);
            case "add-voter": return addVoter(admin, op);
            case "remove-voter": return done(admin.removeRaftVoter(op.get("id").asInt(), Uuid.fromString(op.get("directory").asText())).all());
            case "unregister-broker": return done(admin.unregisterBroker(op.get("id").asInt()).all());
            case "unregister-controller": return unregisterController(admin, op.get("id").asInt());
            default: throw new IllegalArgumentException("no operation " + name);
        }
    }

    static String done(KafkaFuture<?> future) throws Exception {
        future.get();
        return "done";
    }

    // --- reading -----------------------------------------------------------------------------------------------

    static Object describeCluster(org.apache.kafka.clients.admin.Admin admin) throws Exception {
        DescribeClusterResult result = admin.describeCluster();
        List<Integer> ids = new ArrayList<>();
        result.nodes().get().forEach(node -> ids.add(node.id()));
        return Map.of("clusterId", result.clusterId().get(), "nodes", ids);
    }

    static List<Map<String, Object>> replicas(Collection<QuorumInfo.ReplicaState> states) {
        List<Map<String, Object>> shown = new ArrayList<>();
        for (QuorumInfo.ReplicaState state : states) {
            shown.add(Map.of("id", state.replicaId(), "directory", state.replicaDirectoryId().toString(),
                "logEndOffset", state.logEndOffset()));
        }
        return shown;
    }

    static Object describeQuorum(org.apache.kafka.clients.admin.Admin admin) throws Exception {
        QuorumInfo info = admin.describeMetadataQuorum().quorumInfo().get();
        return Map.of("leaderId", info.leaderId(), "leaderEpoch", info.leaderEpoch(), "highWatermark", info.highWatermark(),
            "voters", replicas(info.voters()), "observers", replicas(info.observers()));
    }

    static Object features(org.apache.kafka.clients.admin.Admin admin) throws Exception {
        Map<String, Integer> levels = new TreeMap<>();
        admin.describeFeatures().featureMetadata().get().finalizedFeatures()
            .forEach((name, range) -> levels.put(name, (int) range.maxVersionLevel()));
        return levels;
    }

    static Object describeTopic(org.apache.kafka.clients.admin.Admin admin, String topic) throws Exception {
        TopicDescription description = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        List<Map<String, Object>> partitions = new ArrayList<>();
        description.partitions().forEach(info -> partitions.add(Map.of("partition", info.partition(),
            "leader", info.leader() == null ? -1 : info.leader().id(),
            "replicas", info.replicas().stream().map(node -> node.id()).toList(),
            "isr", info.isr().stream().map(node -> node.id()).toList())));
        return Map.of("id", description.topicId().toString(), "partitions", partitions);
    }

    // --- changing ----------------------------------------------------------------------------------------------

    static NewTopic newTopic(JsonNode op) {
        String name = op.get("topic").asText();
        NewTopic topic;
        if (op.has("assignment")) {
            Map<Integer, List<Integer>> assignment = new TreeMap<>();
            for (List<Integer> replicas : lists(op.get("assignment"))) assignment.put(assignment.size(), replicas);
            topic = new NewTopic(name, assignment);
        } else {
            topic = new NewTopic(name, op.path("partitions").asInt(1), (short) op.path("replication").asInt(1));
        }
        Map<String, String> configs = new LinkedHashMap<>();
        op.path("configs").fields().forEachRemaining(e -> configs.put(e.getKey(), e.getValue().asText()));
        return topic.configs(configs);
    }

    static Object configs(org.apache.kafka.clients.admin.Admin admin, JsonNode op) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.valueOf(op.get("type").asText()), op.get("name").asText());
        List<AlterConfigOp> changes = new ArrayList<>();
        op.path("set").fields().forEachRemaining(e -> changes.add(new AlterConfigOp(
            new ConfigEntry(e.getKey(), e.getValue().asText()), AlterConfigOp.OpType.SET)));
        op.path("delete").forEach(e -> changes.add(new AlterConfigOp(new ConfigEntry(e.asText(), ""), AlterConfigOp.OpType.DELETE)));
        return done(admin.incrementalAlterConfigs(Map.of(resource, changes)).all());
    }

    static List<AclBinding> bindings(JsonNode acls) {
        List<AclBinding> bindings = new ArrayList<>();
        for (JsonNode acl : acls) {
            bindings.add(new AclBinding(
                new ResourcePattern(ResourceType.valueOf(acl.get("type").asText()), acl.get("name").asText(),
                    PatternType.valueOf(acl.path("pattern").asText("LITERAL"))),
                new AccessControlEntry(acl.get("principal").asText(), acl.path("host").asText("*"),
                    AclOperation.valueOf(acl.get("operation").asText()),
                    AclPermissionType.valueOf(acl.path("permission").asText("ALLOW")))));
        }
        return bindings;
    }

    static List<AclBindingFilter> filters(JsonNode acls) {
        List<AclBindingFilter> filters = new ArrayList<>();
        for (AclBinding binding : bindings(acls)) filters.add(binding.toFilter());
        return filters;
    }

    static ScramMechanism mechanism(JsonNode op) {
        return ScramMechanism.fromMechanismName(op.path("mechanism").asText("SCRAM-SHA-256"));
    }

    static String scram(org.apache.kafka.clients.admin.Admin admin, UserScramCredentialAlteration alteration) throws Exception {
        return done(admin.alterUserScramCredentials(List.of(alteration)).all());
    }

    static Object quotas(org.apache.kafka.clients.admin.Admin admin, JsonNode op) throws Exception {
        Map<String, String> entity = new LinkedHashMap<>();
        op.get("entity").fields().forEachRemaining(e -> entity.put(e.getKey(), e.getValue().isNull() ? null : e.getValue().asText()));
        List<ClientQuotaAlteration.Op> changes = new ArrayList<>();
        op.path("set").fields().forEachRemaining(e -> changes.add(new ClientQuotaAlteration.Op(e.getKey(), e.getValue().asDouble())));
        op.path("remove").forEach(e -> changes.add(new ClientQuotaAlteration.Op(e.asText(), null)));
        return done(admin.alterClientQuotas(List.of(new ClientQuotaAlteration(new ClientQuotaEntity(entity), changes))).all());
    }

    static Object createToken(org.apache.kafka.clients.admin.Admin admin, JsonNode op) throws Exception {
        CreateDelegationTokenOptions options = new CreateDelegationTokenOptions();
        List<KafkaPrincipal> renewers = new ArrayList<>();
        op.path("renewers").forEach(e -> renewers.add(principal(e)));
        options.renewers(renewers);
        if (op.has("owner")) options.owner(principal(op.get("owner")));
        if (op.has("lifeMs")) options.maxLifetimeMs(op.get("lifeMs").asLong());
        DelegationToken token = admin.createDelegationToken(options).delegationToken().get();
        return Map.of("id", token.tokenInfo().tokenId(), "hmac", token.hmacAsBase64String());
    }

    // Kafka has a parser for this, in a class that moved between releases.
    static KafkaPrincipal principal(JsonNode text) {
        String[] parts = text.asText().split(":", 2);
        return new KafkaPrincipal(parts[0], parts[1]);
    }

    static byte[] hmac(JsonNode op) {
        return Base64.getDecoder().decode(op.get("hmac").asText());
    }

    static Object updateFeatures(org.apache.kafka.clients.admin.Admin admin, JsonNode op) throws Exception {
        FeatureUpdate.UpgradeType type = FeatureUpdate.UpgradeType.valueOf(op.path("type").asText("UPGRADE"));
        Map<String, FeatureUpdate> updates = new LinkedHashMap<>();
        op.get("features").fields().forEachRemaining(e -> updates.put(e.getKey(), new FeatureUpdate((short) e.getValue().asInt(), type)));
        return done(admin.updateFeatures(updates, new UpdateFeaturesOptions()).all());
    }

    static Object addVoter(org.apache.kafka.clients.admin.Admin admin, JsonNode op) throws Exception {
        Set<RaftVoterEndpoint> endpoints = new LinkedHashSet<>();
        for (JsonNode e : op.get("endpoints")) {
            endpoints.add(new RaftVoterEndpoint(e.get("name").asText(), e.get("host").asText(), e.get("port").asInt()));
        }
        return done(admin.addRaftVoter(op.get("id").asInt(), Uuid.fromString(op.get("directory").asText()), endpoints).all());
    }

    // Only clients from 4.4 have it; this file compiles against 4.3 as well.
    static Object unregisterController(org.apache.kafka.clients.admin.Admin admin, int id) throws Exception {
        Object result = org.apache.kafka.clients.admin.Admin.class.getMethod("unregisterController", int.class).invoke(admin, id);
        return done((KafkaFuture<?>) result.getClass().getMethod("all").invoke(result));
    }

    static Object produce(JsonNode op) throws Exception {
        Map<String, Object> settings = settings(op);
        settings.remove("default.api.timeout.ms");
        settings.put("enable.idempotence", "true");
        settings.put("linger.ms", op.path("lingerMs").asText("0"));
        settings.put("compression.type", op.path("compression").asText("none"));
        if (op.has("transactionalId")) settings.put("transactional.id", op.get("transactionalId").asText());
        byte[] value = new byte[op.path("size").asInt(20)];
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            if (op.has("transactionalId")) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            for (int i = 0; i < op.path("count").asInt(1); i++) {
                byte[] key = ("key-" + i).getBytes(StandardCharsets.UTF_8);
                producer.send(new ProducerRecord<>(op.get("topic").asText(), op.path("partition").asInt(0), key, value)).get();
            }
            if (op.has("transactionalId")) {
                if (op.path("abort").asBoolean()) producer.abortTransaction();
                else producer.commitTransaction();
            }
        }
        return "done";
    }

    // --- shapes ------------------------------------------------------------------------------------------------

    static TopicPartition partition(JsonNode op) {
        return new TopicPartition(op.get("topic").asText(), op.path("partition").asInt(0));
    }

    static List<Integer> ints(JsonNode array) {
        List<Integer> numbers = new ArrayList<>();
        array.forEach(e -> numbers.add(e.asInt()));
        return numbers;
    }

    static List<List<Integer>> lists(JsonNode array) {
        List<List<Integer>> lists = new ArrayList<>();
        array.forEach(e -> lists.add(ints(e)));
        return lists;
    }
}
