// Prints the tree that kafka-metadata-shell has for each file, or what its commands print over one.
//
// A line on stdin is a JSON array, and is answered by a line on stdout, a JSON array of strings:
//
//   ["tree", FILE...]         for each file: name, faults, number of nodes, and each node's path and text
//   ["run", FILE, LINE...]    for each line: what it prints; a line is split as the shell's line reader splits it
//
// A directory's path ends with a slash. The shell's own main waits for ever on some files and
// may print before it has loaded; here the loader's queue is drained first, by reflection. A quota entity with a default
// part cannot be reached by its node's name: such a node is left out, and the entity printed under the name that kraftool
// gives it, where a default part is its type alone. What the loader or the reader complains of counts as a fault.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.MetadataLoader;
import org.apache.kafka.image.node.MetadataNode;
import org.apache.kafka.image.node.printer.MetadataNodePrinter;
import org.apache.kafka.image.node.printer.MetadataNodeRedactionCriteria;
import org.apache.kafka.metadata.util.SnapshotFileReader;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;
import org.apache.kafka.shell.command.Commands;
import org.apache.kafka.shell.node.RootShellNode;
import org.apache.kafka.shell.state.MetadataShellState;
import org.jline.reader.impl.DefaultParser;

public class ShellTrees {
    private static final String[] KINDS = {"client-id", "ip", "user"};
    private static final String[] SHOWN = {"clientId", "ip", "user"};

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        ObjectMapper json = new ObjectMapper();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = json.readValue(line, String[].class);
            List<String> fields = new ArrayList<>();
            if (words[0].equals("run")) {
                run(fields, words);
            } else {
                for (int i = 1; i < words.length; i++) {
                    tree(fields, words[i]);
                }
            }
            out.println(json.writeValueAsString(fields));
            out.flush();
        }
        System.exit(0);
    }

    private static void run(List<String> fields, String[] args) throws Exception {
        MetadataShellState state = new MetadataShellState();
        state.setRoot(new RootShellNode(load(args[1], new ArrayList<>())));
        Commands commands = new Commands(true);
        for (int i = 2; i < args.length; i++) {
            StringWriter written = new StringWriter();
            PrintWriter writer = new PrintWriter(written);
            try {
                List<String> words = new DefaultParser().parse(args[i], args[i].length()).words();
                commands.parseCommand(words).run(Optional.empty(), writer, state);
            } catch (Exception thrown) {
                writer.print("EXCEPTION " + thrown.getMessage());
            }
            writer.flush();
            fields.add(written.toString());
        }
    }

    private static void tree(List<String> fields, String file) throws Exception {
        List<String> faults = new ArrayList<>();
        MetadataImage image = load(file, faults);
        Map<String, String> nodes = new TreeMap<>();
        walk(new RootShellNode(image), "/", nodes);
        defaults(image, nodes);
        fields.addAll(List.of(file, String.join("; ", faults), "" + nodes.size()));
        nodes.forEach((path, text) -> fields.addAll(List.of(path, text)));
    }

    private static MetadataImage load(String file, List<String> faults) throws Exception {
        MetadataLoader loader = new MetadataLoader.Builder().
            setNodeId(-1).
            setFaultHandler((message, cause) -> {
                faults.add(message);
                return new RuntimeException(message, cause);
            }).
            setHighWaterMarkAccessor(OptionalLong::empty).
            setSupportedConfigChecker(new DefaultSupportedConfigChecker()).
            build();
        try (SnapshotFileReader reader = new SnapshotFileReader(file, loader)) {
            reader.startup();
            try {
                ((Future<?>) field(reader, "caughtUpFuture")).get();
            } catch (ExecutionException thrown) {
                faults.add(thrown.getMessage());
            }
            Method drain = MetadataLoader.class.getDeclaredMethod("waitForAllEventsToBeHandled");
            drain.setAccessible(true);
            drain.invoke(loader);
            return (MetadataImage) field(loader, "image");
        } finally {
            loader.close();
        }
    }

    private static Object field(Object of, String name) throws Exception {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    private static void walk(MetadataNode node, String path, Map<String, String> nodes) {
        if (!node.isDirectory()) {
            StringBuilder text = new StringBuilder();
            node.print(new Collector(text));
            nodes.put(path, text.toString());
            return;
        }
        String below = path.endsWith("/") ? path : path + "/";
        nodes.put(below, "");
        for (String name : new TreeSet<>(node.childNames())) {
            MetadataNode child = node.child(name);
            if (child != null) {
                walk(child, below + name, nodes);
            }
        }
    }

    private static void defaults(MetadataImage image, Map<String, String> nodes) {
        image.clientQuotas().entities().forEach((entity, quotas) -> {
            Map<String, String> parts = entity.entries();
            if (!parts.containsValue(null)) {
                return;
            }
            StringBuilder name = new StringBuilder();
            for (int i = 0; i < KINDS.length; i++) {
                if (parts.containsKey(KINDS[i])) {
                    String part = parts.get(KINDS[i]);
                    name.append(name.length() == 0 ? "" : "_").append(SHOWN[i]);
                    name.append(part == null ? "" : "(" + part.replaceAll("[\\\\()]", "\\\\$0") + ")");
                }
            }
            String path = "/image/clientQuotas/" + name + "/";
            nodes.put(path, "");
            quotas.quotas().forEach((key, value) -> nodes.put(path + key, "" + value));
        });
    }

    private record Collector(StringBuilder text) implements MetadataNodePrinter {
        @Override
        public MetadataNodeRedactionCriteria redactionCriteria() {
            return MetadataNodeRedactionCriteria.Disabled.INSTANCE;
        }

        @Override
        public void enterNode(String name) {
            throw new IllegalStateException(name);
        }

        @Override
        public void leaveNode() {
            throw new IllegalStateException();
        }

        @Override
        public void output(String output) {
            text.append(output);
        }
    }
}
