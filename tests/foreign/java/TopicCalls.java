// The calls about topics, their partitions, replicas, leaders and records.
import static org.apache.kafka.clients.admin.NewPartitions.increaseTo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringSerializer;

class TopicCalls {
    static final TopicPartition WORDS = new TopicPartition("words", 0);
    static final TopicPartition PLACED = new TopicPartition("placed", 0);

    static void run(Admin admin) throws Exception {
        create(admin);
        describe(admin);
        grow(admin);
        move(admin);
        records(admin);
        directories(admin);
    }

    static void create(Admin admin) throws Exception {
        created(admin, "createTopics: of the defaults", new NewTopic("plain", Optional.empty(), Optional.empty()));
        created(admin, "createTopics: with numbers", new NewTopic("words", 3, (short) 3));
        created(admin, "createTopics: placed", new NewTopic("placed", Map.of(0, List.of(11, 12), 1, List.of(12, 13))));
        created(admin, "createTopics: with configs", new NewTopic("kept", 1, (short) 2)
            .configs(Map.of("retention.ms", "3600000", "cleanup.policy", "compact,delete")));
        created(admin, "createTopics: exists", new NewTopic("words", 3, (short) 3));
        created(admin, "createTopics: collides", new NewTopic("a.b", 1, (short) 1));
        created(admin, "createTopics: does collide", new NewTopic("a_b", 1, (short) 1));
        created(admin, "createTopics: bad name", new NewTopic("a b", 1, (short) 1));
        created(admin, "createTopics: empty name", new NewTopic("", 1, (short) 1));
        created(admin, "createTopics: long name", new NewTopic("x".repeat(250), 1, (short) 1));
        created(admin, "createTopics: no partition", new NewTopic("none", 0, (short) 1));
        created(admin, "createTopics: factor 0", new NewTopic("none", 1, (short) 0));
        created(admin, "createTopics: factor 4", new NewTopic("none", 1, (short) 4));
        created(admin, "createTopics: gap", new NewTopic("none", Map.of(0, List.of(11), 2, List.of(12))));
        created(admin, "createTopics: unknown broker", new NewTopic("none", Map.of(0, List.of(11, 99))));
        created(admin, "createTopics: broker twice", new NewTopic("none", Map.of(0, List.of(11, 11))));
        // Map.of has another order in each JVM, and the first partition decides.
        created(admin, "createTopics: uneven",
            new NewTopic("none", new TreeMap<>(Map.of(0, List.of(11), 1, List.of(11, 12)))));
        created(admin, "createTopics: nobody", new NewTopic("none", Map.of(0, List.of())));
        created(admin, "createTopics: unknown config", new NewTopic("none", 1, (short) 1).configs(Map.of("no", "1")));
        created(admin, "createTopics: bad value",
            new NewTopic("none", 1, (short) 1).configs(Map.of("retention.ms", "soon")));
        created(admin, "createTopics: null value",
            new NewTopic("none", 1, (short) 1).configs(new HashMap<>() {{ put("retention.ms", null); }}));
        AdminCalls.step("createTopics: dry run", () -> result(admin.createTopics(
            List.of(new NewTopic("dry", 2, (short) 2)), new CreateTopicsOptions().validateOnly(true)), "dry"));
        AdminCalls.step("createTopics: dry run, exists", () -> result(admin.createTopics(
            List.of(new NewTopic("words", 2, (short) 2)), new CreateTopicsOptions().validateOnly(true)), "words"));
    }

    static void created(Admin admin, String name, NewTopic topic) throws Exception {
        AdminCalls.step(name, () -> result(admin.createTopics(List.of(topic)), topic.name()));
    }

    static String result(CreateTopicsResult result, String topic) throws Exception {
        AdminCalls.get(result.values().get(topic));
        Map<String, String> configs = new TreeMap<>();
        for (ConfigEntry entry : AdminCalls.get(result.config(topic)).entries()) {
            configs.put(entry.name(), ConfigCalls.shown(entry));
        }
        return AdminCalls.show(result.numPartitions(topic)) + " partitions, factor "
            + AdminCalls.show(result.replicationFactor(topic)) + ", " + configs;
    }

    static void describe(Admin admin) throws Exception {
        AdminCalls.until("listTopics", shown -> shown.contains("words") && shown.contains("a.b"),
            () -> admin.listTopics().names().get());
        AdminCalls.step("listTopics: internal", () -> admin.listTopics(new ListTopicsOptions().listInternal(true))
            .namesToListings().get().keySet());
        for (String topic : List.of("words", "placed", "kept", "no-such-topic", "a b")) described(admin, topic);
        AdminCalls.step("describeTopics: by id", () -> {
            Uuid id = admin.describeTopics(List.of("placed")).topicNameValues().get("placed").get().topicId();
            return text(AdminCalls.get(admin.describeTopics(TopicCollection.ofTopicIds(List.of(id)))
                .topicIdValues().get(id)), true);
        });
        AdminCalls.step("describeTopics: unknown id", () -> {
            Uuid id = Uuid.fromString("AAAAAAAAAAAAAAAAAAAAEQ");
            return admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).topicIdValues().get(id);
        });
        AdminCalls.step("describeTopics: operations", () -> AdminCalls.get(admin.describeTopics(List.of("words"),
            new DescribeTopicsOptions().includeAuthorizedOperations(true)).topicNameValues().get("words"))
            .authorizedOperations().stream().map(Enum::name).sorted().toList());
    }

    static void described(Admin admin, String topic) throws Exception {
        // Where the controller chose the replicas, chance decides which ones.
        AdminCalls.step("describeTopics: " + topic, () -> text(
            AdminCalls.get(admin.describeTopics(List.of(topic)).topicNameValues().get(topic)), topic.equals("placed")));
    }

    static String text(TopicDescription topic, boolean byBroker) {
        List<String> partitions = new ArrayList<>();
        for (TopicPartitionInfo partition : topic.partitions()) {
            List<Integer> replicas = partition.replicas().stream().map(node -> node.id()).toList();
            List<Integer> isr = partition.isr().stream().map(node -> node.id()).toList();
            int leader = partition.leader() == null ? -1 : partition.leader().id();
            String elr = partition.elr() == null ? "null" : String.valueOf(partition.elr().size());
            partitions.add(byBroker ? partition.partition() + ": " + leader + " leads " + replicas + ", " + isr + ", " + elr
                : partition.partition() + ": " + replicas.size() + " replicas, " + isr.size() + " in sync, leader "
                    + replicas.indexOf(leader) + ", ELR " + elr);
        }
        return (topic.isInternal() ? "internal " : "") + topic.name() + partitions;
    }

    static void grow(Admin admin) throws Exception {
        grown(admin, "words", increaseTo(5));
        grown(admin, "placed", increaseTo(3, List.of(List.of(13, 11))));
        grown(admin, "placed", increaseTo(3));
        grown(admin, "placed", increaseTo(2));
        grown(admin, "placed", increaseTo(0));
        grown(admin, "placed", increaseTo(5, List.of(List.of(13, 11))));
        grown(admin, "placed", increaseTo(4, List.of(List.of(13, 99))));
        grown(admin, "placed", increaseTo(4, List.of(List.of(13))));
        grown(admin, "placed", increaseTo(4, List.of(List.of(13, 13))));
        grown(admin, "no-such-topic", increaseTo(4));
        AdminCalls.step("createPartitions: dry run", () -> admin.createPartitions(Map.of("words", increaseTo(9)),
            new CreatePartitionsOptions().validateOnly(true)).values().get("words"));
        AdminCalls.until("describeTopics: grown", shown -> shown.contains("2: 13"), () -> text(
            AdminCalls.get(admin.describeTopics(List.of("placed")).topicNameValues().get("placed")), true));
    }

    static void grown(Admin admin, String topic, NewPartitions partitions) throws Exception {
        AdminCalls.step("createPartitions: " + topic + " " + partitions.totalCount() + " " + partitions.assignments(),
            () -> admin.createPartitions(Map.of(topic, partitions)).values().get(topic));
    }

    static void move(Admin admin) throws Exception {
        moved(admin, PLACED, List.of(12, 11));
        AdminCalls.until("describeTopics: moved", shown -> shown.contains("leads [12, 11]"), () -> text(
            AdminCalls.get(admin.describeTopics(List.of("placed")).topicNameValues().get("placed")), true));
        elected(admin, ElectionType.PREFERRED, PLACED);
        elected(admin, ElectionType.PREFERRED, PLACED);
        elected(admin, ElectionType.UNCLEAN, PLACED);
        elected(admin, ElectionType.PREFERRED, new TopicPartition("no-such-topic", 0));
        elected(admin, ElectionType.PREFERRED, new TopicPartition("placed", 99));
        AdminCalls.step("electLeaders: all", () -> admin.electLeaders(ElectionType.UNCLEAN, null).partitions());
        moved(admin, new TopicPartition("placed", 1), List.of(11, 12, 13));
        AdminCalls.until("listPartitionReassignments", shown -> shown.equals("{}"),
            () -> admin.listPartitionReassignments().reassignments());
        AdminCalls.step("listPartitionReassignments: some", () -> admin.listPartitionReassignments(
            Set.of(PLACED, new TopicPartition("no-such-topic", 0))).reassignments());
        moved(admin, PLACED, null);
        moved(admin, PLACED, List.of(11, 99));
        moved(admin, PLACED, List.of(11, 11));
        moved(admin, PLACED, List.of());
        moved(admin, PLACED, List.of(-1));
        moved(admin, new TopicPartition("no-such-topic", 0), List.of(11));
        moved(admin, new TopicPartition("placed", 99), List.of(11));
        AdminCalls.step("alterPartitionReassignments: another factor", () -> admin.alterPartitionReassignments(
            Map.of(PLACED, Optional.of(new NewPartitionReassignment(List.of(11)))),
            new AlterPartitionReassignmentsOptions().allowReplicationFactorChange(false)).values());
        AdminCalls.until("describeTopics: wider", shown -> shown.contains("[11, 12, 13]"), () -> text(
            AdminCalls.get(admin.describeTopics(List.of("placed")).topicNameValues().get("placed")), true)
            .replaceAll(", \\[[0-9, ]*\\], [0-9]+", ""));
    }

    static void moved(Admin admin, TopicPartition partition, List<Integer> brokers) throws Exception {
        AdminCalls.step("alterPartitionReassignments: " + partition + " to " + brokers,
            () -> admin.alterPartitionReassignments(Map.of(partition,
                Optional.ofNullable(brokers).map(NewPartitionReassignment::new))).values().get(partition));
    }

    static int elections = 0;

    static void elected(Admin admin, ElectionType type, TopicPartition partition) throws Exception {
        AdminCalls.step("electLeaders: " + type + " of " + partition + ", " + ++elections, () -> {
            Map<String, String> results = new TreeMap<>();
            admin.electLeaders(type, Set.of(partition)).partitions().get().forEach((key, error) ->
                results.put(key.toString(), error.map(AdminCalls::error).orElse("elected")));
            return results;
        });
    }

    static void records(Admin admin) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers",
            AdminCalls.get(admin.describeCluster().nodes()).stream().map(n -> n.host() + ":" + n.port()).toList());
        try (KafkaProducer<String, String> producer =
                 new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 10; i++) producer.send(new ProducerRecord<>("words", 0, "k", "v" + i)).get();
        }
        AdminCalls.step("listOffsets", () -> {
            ListOffsetsResult result = admin.listOffsets(Map.of(WORDS, OffsetSpec.latest()));
            return AdminCalls.get(result.partitionResult(WORDS)).offset();
        });
        AdminCalls.step("deleteRecords", () -> AdminCalls.get(admin.deleteRecords(
            Map.of(WORDS, RecordsToDelete.beforeOffset(4))).lowWatermarks().get(WORDS)).lowWatermark());
        AdminCalls.step("deleteRecords: beyond the end", () -> admin.deleteRecords(
            Map.of(WORDS, RecordsToDelete.beforeOffset(44))).lowWatermarks().get(WORDS));
        AdminCalls.step("listOffsets: earliest", () -> AdminCalls.get(admin.listOffsets(
            Map.of(WORDS, OffsetSpec.earliest())).partitionResult(WORDS)).offset());
        AdminCalls.step("describeProducers", () -> AdminCalls.get(
            admin.describeProducers(List.of(WORDS)).partitionResult(WORDS)).activeProducers().size());
    }

    static void directories(Admin admin) throws Exception {
        AdminCalls.step("describeLogDirs", () -> {
            Map<Integer, String> shown = new TreeMap<>();
            AdminCalls.get(admin.describeLogDirs(List.of(11, 12, 13)).allDescriptions()).forEach((broker, folders) ->
                folders.values().forEach(folder -> shown.put(broker, folder.error() + " "
                    + folder.replicaInfos().keySet().stream().anyMatch(WORDS::equals))));
            return shown;
        });
        TopicPartitionReplica replica = new TopicPartitionReplica("words", 0, 11);
        AdminCalls.step("describeReplicaLogDirs", () -> AdminCalls.get(admin.describeReplicaLogDirs(List.of(replica))
            .values().get(replica)).getCurrentReplicaLogDir() != null);
        AdminCalls.step("alterReplicaLogDirs: unknown directory", () -> admin.alterReplicaLogDirs(
            Map.of(replica, "/no/such/directory")).values().get(replica));
    }

    static void end(Admin admin) throws Exception {
        AdminCalls.step("deleteTopics", () -> admin.deleteTopics(List.of("words", "no-such-topic")).topicNameValues());
        AdminCalls.step("deleteTopics: by id", () -> {
            Uuid id = admin.describeTopics(List.of("placed")).topicNameValues().get("placed").get().topicId();
            Uuid none = Uuid.fromString("AAAAAAAAAAAAAAAAAAAAEQ");
            DeleteTopicsResult result = admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id, none)));
            return AdminCalls.show(result.topicIdValues().get(id)) + " "
                + AdminCalls.show(result.topicIdValues().get(none));
        });
        AdminCalls.until("listTopics: after", shown -> !shown.contains("words") && !shown.contains("placed"),
            () -> admin.listTopics().names().get());
    }
}
