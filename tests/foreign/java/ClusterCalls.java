// The calls about nodes, features, the quorum and metrics, and what controllers answer themselves.
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.admin.FeatureUpdate.UpgradeType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.utils.Time;

class ClusterCalls {
    static final Uuid NOBODY = Uuid.fromString("AAAAAAAAAAAAAAAAAAAAEQ");
    static int updates = 0;

    static void run(Admin admin, Admin controllers) throws Exception {
        cluster(admin, "brokers");
        cluster(controllers, "controllers");
        features(admin, "brokers");
        features(controllers, "controllers");
        quorum(admin, "brokers");
        quorum(controllers, "controllers");
        updates(admin, "brokers");
        updates(controllers, "controllers");
        nodes(admin);
        ofControllers(controllers);
        metrics(admin);
        AdminCalls.step("close", () -> {
            Admin another = AdminCalls.client("bootstrap.servers", servers(admin), Map.of());
            another.close();
            return AdminCalls.show(another.describeCluster().clusterId());
        });
    }

    static String servers(Admin admin) throws Exception {
        Node node = AdminCalls.get(admin.describeCluster().nodes()).iterator().next();
        return node.host() + ":" + node.port();
    }

    static void cluster(Admin admin, String where) throws Exception {
        AdminCalls.step("describeCluster: " + where, () -> {
            DescribeClusterResult result = admin.describeCluster(
                new DescribeClusterOptions().includeAuthorizedOperations(true).includeFencedBrokers(where.equals("brokers")));
            List<String> nodes = AdminCalls.get(result.nodes()).stream()
                .map(node -> node.id() + " " + node.rack() + " " + node.isFenced()).sorted().toList();
            return nodes + " " + (AdminCalls.get(result.controller()) != null) + " "
                + AdminCalls.get(result.authorizedOperations()).stream().map(Enum::name).sorted().toList();
        });
    }

    static void features(Admin admin, String where) throws Exception {
        AdminCalls.step("describeFeatures: " + where, () -> {
            FeatureMetadata features = AdminCalls.get(admin.describeFeatures().featureMetadata());
            // A broker tells its own, and kraftool may know a newer release.
            String supported = where.equals("brokers") ? new TreeMap<>(features.supportedFeatures()).toString()
                : features.supportedFeatures().keySet().stream().sorted().toList().toString();
            return new TreeMap<>(features.finalizedFeatures()) + " " + supported;
        });
    }

    static void updates(Admin admin, String where) throws Exception {
        updated(admin, where, "metadata.version", 1, UpgradeType.UPGRADE);
        updated(admin, where, "metadata.version", 1, UpgradeType.SAFE_DOWNGRADE);
        updated(admin, where, "metadata.version", 999, UpgradeType.UPGRADE);
        updated(admin, where, "metadata.version", 0, UpgradeType.SAFE_DOWNGRADE);
        updated(admin, where, "metadata.version", 20, UpgradeType.SAFE_DOWNGRADE);
        updated(admin, where, "metadata.version", 20, UpgradeType.UNSAFE_DOWNGRADE);
        updated(admin, where, "group.version", 1, UpgradeType.UPGRADE);
        updated(admin, where, "group.version", 99, UpgradeType.UPGRADE);
        updated(admin, where, "group.version", 0, UpgradeType.UPGRADE);
        updated(admin, where, "kraft.version", 0, UpgradeType.UNSAFE_DOWNGRADE);
        updated(admin, where, "kraft.version", 1, UpgradeType.UPGRADE);
        updated(admin, where, "kraft.version", 9, UpgradeType.UPGRADE);
        updated(admin, where, "no.such.feature", 1, UpgradeType.UPGRADE);
        updated(admin, where, "no.such.feature", 0, UpgradeType.SAFE_DOWNGRADE);
        AdminCalls.step("updateFeatures: two, " + where, () -> {
            Map<String, FeatureUpdate> wanted = new LinkedHashMap<>();
            wanted.put("group.version", new FeatureUpdate((short) 1, UpgradeType.UPGRADE));
            wanted.put("no.such.feature", new FeatureUpdate((short) 1, UpgradeType.UPGRADE));
            return admin.updateFeatures(wanted, new UpdateFeaturesOptions()).values();
        });
    }

    static void updated(Admin admin, String where, String feature, int level, UpgradeType type) throws Exception {
        AdminCalls.step("updateFeatures " + ++updates + ": " + feature + " " + level + " " + type + ", " + where, () ->
            admin.updateFeatures(Map.of(feature, new FeatureUpdate((short) level, type)),
                new UpdateFeaturesOptions().validateOnly(type == UpgradeType.UPGRADE)).values().get(feature));
    }

    static void quorum(Admin admin, String where) throws Exception {
        AdminCalls.step("describeMetadataQuorum: " + where, () -> {
            QuorumInfo quorum = AdminCalls.get(admin.describeMetadataQuorum().quorumInfo());
            return quorum.voters().stream().map(QuorumInfo.ReplicaState::replicaId).sorted().toList() + " "
                + quorum.observers().stream().map(QuorumInfo.ReplicaState::replicaId).sorted().toList() + " "
                + (quorum.leaderId() > 0) + " " + (quorum.highWatermark() > 0) + " " + quorum.nodes().keySet();
        });
        AdminCalls.step("addRaftVoter: unknown directory, " + where, () -> admin.addRaftVoter(9, NOBODY,
            Set.of(new RaftVoterEndpoint("CONTROLLER", "127.0.0.1", 1))).all());
        AdminCalls.step("removeRaftVoter: unknown, " + where, () -> admin.removeRaftVoter(9, NOBODY).all());
        AdminCalls.step("removeRaftVoter: other directory, " + where, () -> admin.removeRaftVoter(1, NOBODY).all());
    }

    static void nodes(Admin admin) throws Exception {
        AdminCalls.step("unregisterBroker: unknown", () -> admin.unregisterBroker(99).all());
        for (Method method : Admin.class.getMethods()) {
            if (method.getName().equals("unregisterController") && method.getParameterCount() == 1) {
                for (int id : List.of(99, -1)) {
                    AdminCalls.step("unregisterController: " + id, () -> {
                        Object result = method.invoke(admin, id);
                        return (KafkaFuture<?>) result.getClass().getMethod("all").invoke(result);
                    });
                }
            }
        }
    }

    static void ofControllers(Admin controllers) throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "words");
        AdminCalls.step("incrementalAlterConfigs: controllers", () -> controllers.incrementalAlterConfigs(Map.of(
            topic, List.of(ConfigCalls.op("retention.ms", "86400000", AlterConfigOp.OpType.SET)))).values().get(topic));
        ConfigCalls.described(controllers, ConfigResource.Type.TOPIC, "words", "86400000");
        ConfigCalls.described(controllers, ConfigResource.Type.BROKER, "1", "");
        AdminCalls.step("createTopics: controllers", () -> TopicCalls.result(
            controllers.createTopics(List.of(new NewTopic("by-controllers", 1, (short) 1))), "by-controllers"));
        AdminCalls.step("deleteTopics: controllers", () ->
            controllers.deleteTopics(List.of("by-controllers")).topicNameValues());
        AdminCalls.step("listTopics: controllers", () -> controllers.listTopics().names());
        AdminCalls.step("electLeaders: controllers", () -> controllers.electLeaders(
            org.apache.kafka.common.ElectionType.PREFERRED, Set.of(new TopicPartition("words", 0))).partitions());
        AdminCalls.step("listPartitionReassignments: controllers", () ->
            controllers.listPartitionReassignments().reassignments());
        AdminCalls.step("describeAcls: controllers", () -> SecurityCalls.sorted(
            AdminCalls.get(controllers.describeAcls(org.apache.kafka.common.acl.AclBindingFilter.ANY).values())));
        AdminCalls.step("describeUserScramCredentials: controllers", () ->
            new TreeMap<>(AdminCalls.get(controllers.describeUserScramCredentials().all())));
        AdminCalls.step("describeClientQuotas: controllers", () -> controllers.describeClientQuotas(
            org.apache.kafka.common.quota.ClientQuotaFilter.all()).entities());
        AdminCalls.step("unregisterBroker: controllers", () -> controllers.unregisterBroker(99).all());
    }

    static void metrics(Admin admin) throws Exception {
        AdminCalls.step("metrics", () -> admin.metrics().isEmpty());
        KafkaMetric metric = new KafkaMetric(new Object(), new MetricName("m", "g", "", Map.of()),
            (Measurable) (config, now) -> 1, new MetricConfig(), Time.SYSTEM);
        AdminCalls.step("registerMetricForSubscription", () -> {
            admin.registerMetricForSubscription(metric);
            admin.unregisterMetricFromSubscription(metric);
            return "registered";
        });
        AdminCalls.step("clientInstanceId", () -> admin.clientInstanceId(AdminCalls.seconds(5)) != null);
    }
}
