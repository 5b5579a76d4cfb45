import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Clients that go on while a cluster fails: an idempotent producer to the topic "plain", a group of two consumers
 * and a share group of two that read it, and a transactional producer that writes each value to "first" and to
 * "second", and takes every fifth transaction back.
 *
 * Arguments: the bootstrap servers, and milliseconds between two records of the idempotent producer; there is four
 * times as long between two transactions. It prints "ready" once each client has got somewhere. A line on stdin ends the
 * load; then it reads everything and prints what it found as one JSON object:
 * {"acknowledged", "lost", "twice", "unreadByGroup", "unreadBySharers", "committed", "lostCommitted", "torn", "aborted", "errors"}.
 */
public class ClientLoad {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    static final Set<String> readByGroup = ConcurrentHashMap.newKeySet();
    static final Set<String> readBySharers = ConcurrentHashMap.newKeySet();
    static final Set<String> committed = ConcurrentHashMap.newKeySet();
    static final Set<String> aborted = ConcurrentHashMap.newKeySet();
    static final Queue<String> errors = new ConcurrentLinkedQueue<>();
    static final AtomicInteger twice = new AtomicInteger();
    static String servers;
    static long pause;
    static volatile boolean loads = true, reads = true;

    public static void main(String[] args) throws Exception {
        servers = args[0];
        pause = Long.parseLong(args[1]);
        List<Thread> loading = List.of(started(ClientLoad::produce), started(ClientLoad::transact));
        List<Thread> reading = List.of(started(ClientLoad::readAsGroup), started(ClientLoad::readAsGroup),
            started(ClientLoad::readAsSharer), started(ClientLoad::readAsSharer));
        await(() -> acknowledged.size() > 20 && committed.size() > 3 && readByGroup.size() > 20 && readBySharers.size() > 20);
        System.out.println("ready");
        new BufferedReader(new InputStreamReader(System.in)).readLine();
        loads = false;
        for (Thread thread : loading) thread.join();
        await(() -> readByGroup.containsAll(acknowledged) && readBySharers.containsAll(acknowledged));
        reads = false;
        for (Thread thread : reading) thread.join();

        Set<String> plain = all("plain", acknowledged::contains, acknowledged.size(), true);
        Set<String> first = all("first", committed::contains, committed.size(), false);
        Set<String> second = all("second", committed::contains, committed.size(), false);
        Set<String> torn = new HashSet<>(first);
        torn.addAll(second);
        torn.removeIf(value -> first.contains(value) && second.contains(value));
        Map<String, Object> found = new TreeMap<>();
        found.put("acknowledged", acknowledged.size());
        found.put("lost", without(acknowledged, plain));
        found.put("twice", twice.get());
        found.put("unreadByGroup", without(acknowledged, readByGroup));
        found.put("unreadBySharers", without(acknowledged, readBySharers));
        found.put("committed", committed.size());
        found.put("lostCommitted", without(committed, first));
        found.put("torn", torn);
        found.put("aborted", aborted.stream().filter(first::contains).toList());
        found.put("errors", errors);
        System.out.println(JSON.writeValueAsString(found));
    }

    // --- the load --------------------------------------------------------------------------------------------

    static void produce() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(client("acks", "all"))) {
            for (int number = 0; loads; number++) {
                String value = "plain-" + number;
                producer.send(new ProducerRecord<>("plain", value, value), (at, error) -> {
                    if (error == null) acknowledged.add(value);
                    else errors.add("produce: " + error);
                });
                Thread.sleep(pause);
            }
            producer.flush();
        }
    }

    static void transact() throws Exception {
        KafkaProducer<String, String> producer = transactional();
        for (int number = 0; loads; number++) {
            String value = "transaction-" + number;
            try {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("first", value, value));
                producer.send(new ProducerRecord<>("second", value, value));
                if (number % 5 == 4) {
                    producer.flush();
                    producer.abortTransaction();
                    aborted.add(value);
                } else {
                    commit(producer);
                    committed.add(value);
                }
            } catch (KafkaException error) {
                // What became of this transaction is not known: it counts neither as committed nor as aborted.
                producer.close(Duration.ZERO);
                producer = transactional();
            }
            Thread.sleep(4 * pause);
        }
        producer.close();
    }

    static KafkaProducer<String, String> transactional() {
        while (true) {
            KafkaProducer<String, String> producer = new KafkaProducer<>(client("transactional.id", "payments"));
            try {
                producer.initTransactions();
                return producer;
            } catch (KafkaException error) {
                producer.close(Duration.ZERO);
                if (!loads) throw error;
            }
        }
    }

    /** A commit that got no answer in time may be asked for again. */
    static void commit(KafkaProducer<String, String> producer) {
        while (true) {
            try {
                producer.commitTransaction();
                return;
            } catch (TimeoutException again) {
                if (!loads) throw again;
            }
        }
    }

    static void readAsGroup() {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(client("group.id", "readers"))) {
            consumer.subscribe(List.of("plain"));
            while (reads) {
                List<String> values = new ArrayList<>();
                consumer.poll(Duration.ofMillis(200)).forEach(record -> values.add(record.value()));
                if (values.isEmpty()) continue;
                readByGroup.addAll(values);
                try {
                    consumer.commitSync();
                } catch (KafkaException rebalanced) {
                    // Another member reads them again.
                }
            }
        }
    }

    /** The members take records from the same partitions; each poll acknowledges what the one before gave. */
    static void readAsSharer() {
        Properties settings = client("group.id", "sharers");
        settings.remove("auto.offset.reset");
        settings.remove("enable.auto.commit");
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
            consumer.subscribe(List.of("plain"));
            while (reads) {
                try {
                    consumer.poll(Duration.ofMillis(200)).forEach(record -> readBySharers.add(record.value()));
                } catch (KafkaException moved) {
                    // Records that could not be acknowledged come again.
                }
            }
        }
    }

    // --- what is left of it ----------------------------------------------------------------------------------

    /** The committed values of a topic. Reads on until all that are wanted were seen, or time is up. */
    static Set<String> all(String topic, Predicate<String> isWanted, int wanted, boolean countsTwice) throws Exception {
        Set<String> values = new HashSet<>();
        long deadline = System.currentTimeMillis() + 60_000;
        int seen = 0, empty = 0;
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(client("isolation.level", "read_committed"))) {
            consumer.assign(consumer.partitionsFor(topic).stream().map(info ->
                new org.apache.kafka.common.TopicPartition(topic, info.partition())).toList());
            consumer.seekToBeginning(consumer.assignment());
            while (System.currentTimeMillis() < deadline && (seen < wanted || empty < 5)) {
                ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
                empty = records.isEmpty() ? empty + 1 : 0;
                for (ConsumerRecord<String, String> record : records) {
                    if (values.add(record.value())) seen += isWanted.test(record.value()) ? 1 : 0;
                    else if (countsTwice) twice.incrementAndGet();
                }
            }
        }
        return values;
    }

    static List<String> without(Collection<String> values, Set<String> others) {
        return values.stream().filter(value -> !others.contains(value)).toList();
    }

    // --- clients and threads ---------------------------------------------------------------------------------

    static Properties client(String name, String value) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        settings.put("key.serializer", StringSerializer.class);
        settings.put("value.serializer", StringSerializer.class);
        settings.put("key.deserializer", StringDeserializer.class);
        settings.put("value.deserializer", StringDeserializer.class);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("linger.ms", "0");
        settings.put(name, value);
        return settings;
    }

    interface Work { void run() throws Exception; }

    static Thread started(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable error) {
                errors.add(error.toString());
            }
        });
        thread.start();
        return thread;
    }

    interface Condition { boolean holds(); }

    static void await(Condition condition) throws InterruptedException {
        long deadline = System.currentTimeMillis() + 110_000;
        while (!condition.holds() && System.currentTimeMillis() < deadline) Thread.sleep(50);
    }
}
