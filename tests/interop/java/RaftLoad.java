import java.io.FileInputStream;
import java.lang.reflect.Field;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.tools.TestRaftServer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Kafka's TestRaftServer (a raft node that appends records of zeros as fast as it is told to while it
 * leads), on the partition of the metadata log: that one it has under another name, by which no
 * node of a cluster would fetch from it. Its cluster id is AAAAAAAAAAAAAAAAAAAAAA.
 *
 * Arguments: server.properties, the directory's id, records a second, bytes of a record.
 */
public class RaftLoad {
    public static void main(String[] args) throws Exception {
        Properties given = new Properties();
        try (FileInputStream file = new FileInputStream(args[0])) {
            given.load(file);
        }
        TestRaftServer server = new TestRaftServer(KafkaConfig.fromProps(given, false),
            Uuid.fromString(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        set(server, "partition", new TopicPartition("__cluster_metadata", 0));
        set(server, "topicId", Uuid.METADATA_TOPIC_ID);
        server.startup();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        server.awaitShutdown();
    }

    private static void set(Object of, String name, Object value) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }
}
