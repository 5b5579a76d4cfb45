// The calls about groups of consumers, of share consumers and of streams, and about transactions. Brokers answer them.
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

class GroupCalls {
    static final TopicPartition WORDS = TopicCalls.WORDS;

    static void run(Admin admin, String servers) throws Exception {
        consumers(admin, servers);
        shares(admin);
        streams(admin);
        transactions(admin, servers);
    }

    static void consumers(Admin admin, String servers) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "group.id", "readers");
        try (KafkaConsumer<String, String> consumer =
                 new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(WORDS));
            consumer.commitSync(Map.of(WORDS, new OffsetAndMetadata(5)), AdminCalls.seconds(40));
        }
        AdminCalls.step("listGroups", () -> AdminCalls.get(admin.listGroups().all()).stream()
            .map(group -> group.groupId() + " " + group.type() + " " + group.groupState()).sorted().toList());
        listed(admin);
        AdminCalls.step("describeConsumerGroups", () -> AdminCalls.get(
            admin.describeConsumerGroups(List.of("readers")).describedGroups().get("readers")).groupState());
        AdminCalls.step("describeClassicGroups", () -> AdminCalls.get(
            admin.describeClassicGroups(List.of("readers")).describedGroups().get("readers")).state());
        AdminCalls.step("describeConsumerGroups: unknown", () ->
            AdminCalls.get(admin.describeConsumerGroups(List.of("nobody")).describedGroups().get("nobody")).groupState());
        offsets(admin, "of a consumer");
        AdminCalls.step("alterConsumerGroupOffsets", () -> admin.alterConsumerGroupOffsets(
            "readers", Map.of(WORDS, new OffsetAndMetadata(7))).partitionResult(WORDS));
        offsets(admin, "altered");
        AdminCalls.step("deleteConsumerGroupOffsets", () ->
            admin.deleteConsumerGroupOffsets("readers", Set.of(WORDS)).partitionResult(WORDS));
        offsets(admin, "deleted");
        AdminCalls.step("removeMembersFromConsumerGroup", () -> admin.removeMembersFromConsumerGroup("readers",
            new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("nobody")))).all());
        AdminCalls.step("deleteConsumerGroups", () ->
            admin.deleteConsumerGroups(List.of("readers", "nobody")).deletedGroups());
    }

    @SuppressWarnings("removal")
    static void listed(Admin admin) throws Exception {
        AdminCalls.step("listConsumerGroups", () -> AdminCalls.get(admin.listConsumerGroups().all()).stream()
            .map(ConsumerGroupListing::groupId).sorted().toList());
    }

    static void offsets(Admin admin, String name) throws Exception {
        AdminCalls.step("listConsumerGroupOffsets: " + name, () -> {
            OffsetAndMetadata offset = AdminCalls.get(
                admin.listConsumerGroupOffsets("readers").partitionsToOffsetAndMetadata()).get(WORDS);
            return offset == null ? "none" : offset.offset();
        });
    }

    static void shares(Admin admin) throws Exception {
        AdminCalls.step("alterShareGroupOffsets", () ->
            admin.alterShareGroupOffsets("sharers", Map.of(WORDS, 5L)).partitionResult(WORDS));
        AdminCalls.step("listShareGroupOffsets", () -> AdminCalls.get(admin.listShareGroupOffsets(
            Map.of("sharers", new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo("sharers")).keySet());
        AdminCalls.step("describeShareGroups", () -> AdminCalls.get(
            admin.describeShareGroups(List.of("sharers")).describedGroups().get("sharers")).groupState());
        AdminCalls.step("deleteShareGroupOffsets", () ->
            admin.deleteShareGroupOffsets("sharers", Set.of("words")).topicResult("words"));
        AdminCalls.step("deleteShareGroups", () ->
            admin.deleteShareGroups(List.of("sharers", "nobody")).deletedGroups());
    }

    static void streams(Admin admin) throws Exception {
        AdminCalls.step("alterStreamsGroupOffsets", () -> admin.alterStreamsGroupOffsets(
            "flows", Map.of(WORDS, new OffsetAndMetadata(3))).partitionResult(WORDS));
        AdminCalls.step("listStreamsGroupOffsets", () -> AdminCalls.get(admin.listStreamsGroupOffsets(
            Map.of("flows", new ListStreamsGroupOffsetsSpec())).partitionsToOffsetAndMetadata("flows")).keySet());
        AdminCalls.step("describeStreamsGroups", () -> AdminCalls.get(
            admin.describeStreamsGroups(List.of("flows")).describedGroups().get("flows")).groupState());
        AdminCalls.step("deleteStreamsGroupOffsets", () ->
            admin.deleteStreamsGroupOffsets("flows", Set.of(WORDS)).partitionResult(WORDS));
        AdminCalls.step("deleteStreamsGroups", () -> admin.deleteStreamsGroups(List.of("flows")).deletedGroups());
    }

    static void transactions(Admin admin, String servers) throws Exception {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", servers, "transactional.id", "mover"));
        try (KafkaProducer<String, String> producer =
                 new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("words", 0, "k", "open")).get();
            AdminCalls.step("describeTransactions", () -> {
                TransactionDescription shown =
                    AdminCalls.get(admin.describeTransactions(List.of("mover")).description("mover"));
                return shown.state() + " " + shown.topicPartitions();
            });
            AdminCalls.step("listTransactions", () -> AdminCalls.get(admin.listTransactions().all()).stream()
                .map(TransactionListing::transactionalId).toList());
            AdminCalls.step("abortTransaction", () -> {
                ProducerState state = AdminCalls.get(admin.describeProducers(List.of(WORDS)).partitionResult(WORDS))
                    .activeProducers().stream().filter(one -> one.currentTransactionStartOffset().isPresent())
                    .findFirst().orElseThrow();
                return admin.abortTransaction(new AbortTransactionSpec(WORDS, state.producerId(),
                    (short) state.producerEpoch(), state.coordinatorEpoch().orElse(0))).all();
            });
            AdminCalls.step("fenceProducers", () -> admin.fenceProducers(List.of("mover")).all());
            AdminCalls.step("forceTerminateTransaction", () -> admin.forceTerminateTransaction("mover").result());
            AdminCalls.step("commit of a fenced producer", () -> {
                producer.commitTransaction();
                return "committed";
            });
        }
        AdminCalls.step("describeTransactions: unknown", () ->
            admin.describeTransactions(List.of("nobody")).description("nobody"));
    }
}
