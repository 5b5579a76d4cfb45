import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.controller.ControllerRequestContext;

/**
 * Starts Kafka servers on directories, one case after the other in one JVM, and stops them again.
 *
 * A line in is one case: {"nodes": ["server.properties", ...], "seconds": 20}. A line out says of
 * each node how its start ended: "active" (it is the active controller), "started" (it follows, or
 * is a broker that started), "exit" (Kafka ended the process) or "waiting" (time is up). A case ends
 * as soon as every node has an outcome; with "writes", when the active controller has written a record
 * after that. "spent" is "true" when a start goes on: this JVM serves no other case then. Stderr has
 * Kafka's log between lines of marks.
 */
public class Starts {
    static final ObjectMapper JSON = new ObjectMapper();

    /** What Kafka throws us out with: its process would be gone. */
    static class Exited extends Error {
        Exited(String message) {
            super(message, null, false, false);
        }
    }

    static class Node {
        final Properties properties = new Properties();
        volatile KafkaRaftServer server;
        volatile boolean started;
        volatile String exited;
        Thread thread;
        CompletableFuture<?> answer;

        Node(String path) throws Exception {
            properties.load(new StringReader(Files.readString(Path.of(path), StandardCharsets.UTF_8)));
        }

        int id() {
            return Integer.parseInt(properties.getProperty("node.id"));
        }

        /** As kafka.Kafka's main: what is thrown here ends the process. */
        void start() {
            try {
                server = new KafkaRaftServer(KafkaConfig.fromProps(properties), Time.SYSTEM);
                server.startup();
                started = true;
            } catch (Throwable fatal) {
                System.err.println("start of node " + id() + " failed");
                fatal.printStackTrace();
                if (exited == null) {
                    exited = fatal.toString();
                }
            }
        }

        boolean active() throws Exception {
            if (!started) {
                return false;
            }
            Field field = KafkaRaftServer.class.getDeclaredField("controller");
            field.setAccessible(true);
            scala.Option<?> found = (scala.Option<?>) field.get(server);
            if (!found.isDefined()) {
                return false;
            }
            Controller controller = ((ControllerServer) found.get()).controller();
            if (!controller.isActive()) {
                return false;
            }
            // It is called active before it has read its state and written its first records, on
            // which it may end. A question is answered after that.
            if (answer == null) {
                answer = controller.findAllTopicIds(
                    new ControllerRequestContext(
                        new RequestHeaderData(), KafkaPrincipal.ANONYMOUS, OptionalLong.empty()));
            }
            if (answer.isCompletedExceptionally()) {
                answer = null;
            }
            return answer != null && answer.isDone();
        }
    }

    static volatile List<Node> running = List.of();

    static void exit(String how, int code, String message) {
        String thread = Thread.currentThread().getName();
        // Which node it was is in the thread's name; a case with one node needs no name.
        for (Node node : running) {
            boolean named = thread.contains("-" + node.id() + "-") || thread.endsWith("-" + node.id());
            if (running.size() == 1 || named) {
                node.exited = how + " " + code + " in " + thread + (message == null ? "" : ": " + message);
            }
        }
        throw new Exited(how + " " + code);
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((code, message) -> exit("exit", code, message));
        Exit.setHaltProcedure((code, message) -> exit("halt", code, message));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(JSON.writeValueAsString(run(JSON.readTree(line))));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    static Map<String, String> run(JsonNode question) throws Exception {
        List<Node> nodes = new ArrayList<>();
        for (JsonNode path : question.get("nodes")) {
            nodes.add(new Node(path.asText()));
        }
        running = nodes;
        for (Node node : nodes) {
            node.thread = new Thread(node::start, "start-" + node.id());
            node.thread.setDaemon(true);
            node.thread.start();
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(question.get("seconds").asLong());
        while (!over(nodes) && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
        if (question.path("writes").asBoolean()) {
            long size = written(nodes);
            while (written(nodes) == size && System.nanoTime() < deadline) {
                Thread.sleep(20);
            }
        }
        Map<String, String> outcomes = new TreeMap<>();
        for (Node node : nodes) {
            outcomes.put("" + node.id(), outcome(node));
        }
        boolean waits = outcomes.containsValue("waiting");
        List<Thread> stopping = new ArrayList<>();
        for (Node node : nodes) {
            stopping.add(stop(node));
        }
        for (Thread thread : stopping) {
            // The last of several voters waits 5 s for a next leader, and a stop for a start that
            // hangs; the JVM ends after such a case.
            thread.join(nodes.size() == 1 && !waits ? 10_000 : 500);
        }
        running = List.of();
        outcomes.put("spent", "" + spent(nodes));
        return outcomes;
    }

    /** True if a start goes on although its server was told to stop: some do so with a whole core. */
    static boolean spent(List<Node> nodes) throws Exception {
        for (Node node : nodes) {
            node.thread.join(500);
            if (node.thread.isAlive()) {
                return true;
            }
        }
        return false;
    }

    /** Bytes in the segments of all nodes. */
    static long written(List<Node> nodes) {
        long size = 0;
        for (Node node : nodes) {
            File partition = new File(node.properties.getProperty("log.dirs"), "__cluster_metadata-0");
            for (File segment : partition.listFiles((folder, name) -> name.endsWith(".log"))) {
                size += segment.length();
            }
        }
        return size;
    }

    static String outcome(Node node) throws Exception {
        if (node.exited != null) {
            return "exit: " + node.exited;
        }
        return node.active() ? "active" : node.started ? "started" : "waiting";
    }

    /** One is active or all have exited, and the others have started. */
    static boolean over(List<Node> nodes) throws Exception {
        boolean active = false;
        boolean all = true;
        for (Node node : nodes) {
            all &= node.exited != null || node.started;
            active |= node.exited == null && node.active();
        }
        boolean gone = nodes.stream().allMatch(node -> node.exited != null);
        return gone || all && active;
    }

    static Thread stop(Node node) {
        Thread thread = new Thread(() -> {
            try {
                if (node.server != null) {
                    node.server.shutdown();
                }
            } catch (Throwable fault) {
                System.err.println("stop of node " + node.id() + ": " + fault);
            }
        }, "stop-" + node.id());
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
