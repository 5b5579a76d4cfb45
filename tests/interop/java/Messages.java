// Writes every message of a Kafka release, in every version, with random values, as Kafka's own
// classes write it: one JSON object a line on stdout.
//
//   java -cp 'libs/*' Messages.java SEED SAMPLES [NAME_PATTERN]
//
// Line 1:    {"java": ..., "kafka": ..., "seed": ...}
// A sample:  {"name", "kind", "version", "sample", "hex", "text"}: the bytes of the generated class, and
//            what JsonNode.toString() of its JsonConverter prints.
// A gap:     {"name", "kind", "version", "sample", "skipped": reason}: Kafka itself cannot write this;
//            "version" is absent where the release has no valid version of the message left.
//
// Samples of one version: 0 is all defaults, 1 has every field set and nothing null, 2 has null wherever
// that is allowed, 3 has empty instead (but one struct in each array of structs), the others are random.
// The values follow the class's SCHEMAS, so a field that a version does not have keeps its default.

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.CRC32C;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

public class Messages {
    static final ObjectMapper MAPPER = new ObjectMapper().configure(JsonParser.Feature.ALLOW_COMMENTS, true);
    static final String[] PACKAGES = {
        "org.apache.kafka.common.message.", "org.apache.kafka.common.metadata.", "org.apache.kafka.raft.generated."};
    // One class of each jar that carries message descriptions; the jar is found from it.
    static final String[] ANCHORS = {
        "org.apache.kafka.common.protocol.ApiMessage", "org.apache.kafka.common.metadata.MetadataRecordType",
        "org.apache.kafka.raft.generated.QuorumStateData"};
    static final int DEFAULTS = 0, FULL = 1, NULLS = 2, EMPTY = 3;

    static PrintStream out;

    public static void main(String[] args) throws Exception {
        out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
        long seed = Long.parseLong(args[0]);
        int samples = Integer.parseInt(args[1]);
        String pattern = args.length > 2 ? args[2] : ".*";
        ObjectNode head = MAPPER.createObjectNode();
        head.put("java", System.getProperty("java.version"));
        head.put("kafka", kafkaVersion());
        head.put("seed", seed);
        out.println(head);
        for (JsonNode description : descriptions().values())
            if (description.get("name").asText().matches(pattern))
                writeMessage(description, seed, samples);
        out.flush();
    }

    static String kafkaVersion() throws Exception {
        Properties properties = new Properties();
        try (InputStream in = Message.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(in);
        }
        return properties.getProperty("version");
    }

    static Map<String, JsonNode> descriptions() throws Exception {
        Map<String, JsonNode> found = new TreeMap<>();
        for (String anchor : ANCHORS) {
            File file = new File(Class.forName(anchor).getProtectionDomain().getCodeSource().getLocation().toURI());
            try (JarFile jar = new JarFile(file)) {
                for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
                    JarEntry entry = entries.nextElement();
                    if (!entry.getName().matches("common/(message|metadata)/\\w+\\.json"))
                        continue;
                    try (InputStream in = jar.getInputStream(entry)) {
                        JsonNode description = MAPPER.readTree(in);
                        found.put(description.get("name").asText(), description);
                    }
                }
            }
        }
        return found;
    }

    static void writeMessage(JsonNode description, long seed, int samples) throws Exception {
        String name = description.get("name").asText();
        ObjectNode base = MAPPER.createObjectNode();
        base.put("name", name);
        base.put("kind", description.get("type").asText());
        if (description.get("validVersions").asText().equals("none")) {
            out.println(base.put("skipped", "no valid versions"));
            return;
        }
        Class<?> type = generatedClass(name);
        Method converter = jsonWriter(type);
        Schema[] schemas = (Schema[]) type.getField("SCHEMAS").get(null);
        Message prototype = (Message) type.getDeclaredConstructor().newInstance();
        for (short version = prototype.lowestSupportedVersion(); version <= prototype.highestSupportedVersion(); version++) {
            for (int sample = 0; sample < samples; sample++) {
                ObjectNode line = base.deepCopy().put("version", version).put("sample", sample);
                // The seed of a sample depends on nothing but its own coordinates, so that one message
                // can be written again alone.
                Random random = new Random(seed * 1_000_003 + name.hashCode() * 31L + version * 1009L + sample);
                Message message = (Message) type.getDeclaredConstructor().newInstance();
                new Filler(random, sample).fill(message, schemas[version], 0);
                try {
                    ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
                    byte[] array = new byte[bytes.remaining()];
                    bytes.get(array);
                    JsonNode json = (JsonNode) converter.invoke(null, message, version);
                    line.put("hex", HexFormat.of().formatHex(array)).put("text", json.toString());
                } catch (Exception e) {
                    Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
                    line.put("skipped", cause.toString());
                }
                out.println(line);
            }
        }
    }

    static Class<?> generatedClass(String name) throws ClassNotFoundException {
        for (String prefix : PACKAGES)
            for (String suffix : new String[] {"Data", ""})
                try {
                    Class<?> candidate = Class.forName(prefix + name + suffix);
                    if (Message.class.isAssignableFrom(candidate))
                        return candidate;
                } catch (ClassNotFoundException e) {
                    // try the next place
                }
        throw new ClassNotFoundException("no generated class for message " + name);
    }

    static Method jsonWriter(Class<?> type) throws Exception {
        return Class.forName(type.getName() + "JsonConverter").getMethod("write", type, short.class);
    }

    /** Schemas name a field k_raft_version or kraft_version where the class has kRaftVersion. */
    static String key(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }

    /** Sets the fields of one generated object, and of those below it, to values its schema allows. */
    static class Filler {
        final Random random;
        final int mode;
        int budget = 150;  // values left before arrays stay short, so that deep messages stay readable

        Filler(Random random, int mode) {
            this.random = random;
            this.mode = mode;
        }

        boolean sparse() {
            return mode == NULLS || mode == EMPTY;
        }

        void fill(Object target, Schema schema, int depth) throws Exception {
            Map<String, Field> fields = new HashMap<>();
            for (Class<?> c = target.getClass(); c != Object.class; c = c.getSuperclass())
                for (Field field : c.getDeclaredFields())
                    if (!Modifier.isStatic(field.getModifiers()))
                        fields.putIfAbsent(key(field.getName()), field);
            for (BoundField bound : schema.fields()) {
                if (bound.def.type instanceof TaggedFields tagged) {
                    for (var entry : tagged.fields().entrySet())
                        if (mode != DEFAULTS && (mode <= EMPTY || random.nextBoolean()))
                            set(target, fields, entry.getValue().name, entry.getValue().type, depth);
                    if (mode > EMPTY && random.nextInt(3) == 0 || sparse() && depth == 0)
                        addUnknownTags((Message) target);
                } else if (mode != DEFAULTS) {
                    set(target, fields, bound.def.name, bound.def.type, depth);
                }
            }
        }

        // Known tags are all below 50, and Kafka's readers refuse a tag that only another version knows.
        void addUnknownTags(Message message) {
            int[] tags = {100, 127, 128, 16383, 16384, 2_000_000};
            for (int tag : tags)
                if (random.nextInt(3) == 0)
                    message.unknownTaggedFields().add(new RawTaggedField(tag, bytes()));
        }

        void set(Object target, Map<String, Field> fields, String name, Type type, int depth) throws Exception {
            Field field = fields.get(key(name));
            if (field == null)
                throw new IllegalStateException(target.getClass() + " has no field for " + name);
            field.setAccessible(true);
            // A records field is null by default even where no version may write a null.
            if (mode > EMPTY && random.nextInt(8) == 0 && (type.isNullable() || field.get(target) != null))
                return;
            if (type.isNullable() && (mode == NULLS || mode > EMPTY && random.nextInt(4) == 0))
                field.set(target, null);
            else
                field.set(target, value(type, field.getType(), field.getGenericType(), depth));
        }

        Object value(Type type, Class<?> holder, java.lang.reflect.Type generic, int depth) throws Exception {
            budget--;
            if (type.isArray())
                return list(type.arrayElementType().get(), holder, generic, depth);
            if (type instanceof Schema schema)
                return struct(holder, schema, depth);
            if (holder.getSimpleName().equals("BaseRecords"))
                return records(holder);
            if (holder == ByteBuffer.class)
                return ByteBuffer.wrap(bytes());
            if (holder == byte[].class)
                return bytes();
            if (holder == String.class)
                return string();
            if (holder == Uuid.class)
                return uuid();
            if (holder == boolean.class || holder == Boolean.class)
                return mode == FULL || random.nextBoolean();
            if (holder == double.class || holder == Double.class)
                return number();
            if (type == Type.INT8)
                return (byte) integer(8);
            if (type == Type.INT16)
                return (short) integer(16);
            if (type == Type.UINT16)
                return (int) integer(16) & 0xffff;
            if (type == Type.INT32)
                return (int) integer(32);
            if (type == Type.UNSIGNED_INT32)
                return integer(32) & 0xffffffffL;
            if (type == Type.INT64)
                return integer(64);
            throw new IllegalStateException("no values for " + type + " in a " + holder);
        }

        Object struct(Class<?> holder, Schema schema, int depth) throws Exception {
            Constructor<?> constructor = holder.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object struct = constructor.newInstance();
            fill(struct, schema, depth + 1);
            return struct;
        }

        @SuppressWarnings("unchecked")
        Object list(Type element, Class<?> holder, java.lang.reflect.Type generic, int depth) throws Exception {
            Collection<Object> list;
            Class<?> elementClass;
            if (holder == List.class) {
                list = new ArrayList<>();
                java.lang.reflect.Type argument = ((ParameterizedType) generic).getActualTypeArguments()[0];
                // A list of lists would give a parameterized type here; no message has one.
                elementClass = (Class<?>) argument;
            } else {  // a keyed collection: XCollection extends ImplicitLinkedHashMultiCollection<X>
                list = (Collection<Object>) holder.getDeclaredConstructor().newInstance();
                elementClass = (Class<?>) ((ParameterizedType) holder.getGenericSuperclass()).getActualTypeArguments()[0];
            }
            boolean small = !(element instanceof Schema schema) || schema.numFields() <= 3;
            int size = sparse() ? (element instanceof Schema ? 1 : 0)
                : mode == FULL ? 1 + random.nextInt(2)
                : budget < 0 ? random.nextInt(2)
                : small && depth < 2 && random.nextInt(30) == 0 ? 127 + random.nextInt(4)
                : random.nextInt(4);
            for (int i = 0; i < size; i++)
                list.add(value(element, elementClass, elementClass, depth));
            return list;
        }

        long integer(int bits) {
            long min = -1L << (bits - 1), max = ~min;
            if (sparse())
                return new long[] {min, max, -1, 0}[random.nextInt(4)];
            return switch (random.nextInt(8)) {
                case 0 -> min;
                case 1 -> max;
                case 2 -> -1;
                case 3 -> -2 - random.nextInt(60);
                case 4 -> random.nextInt(100);
                case 5 -> 0;
                default -> random.nextLong() >> (64 - bits);
            };
        }

        double number() {
            double[] corners = {
                0.0, -0.0, 0.1, 1.0, -1.5, 100.0, 1e-5, 1e-3, 9.99e-4, 1e7, 9999999.0, 12345678.9, 1e16, 2.0E23, 1e300,
                1.0 / 3, Double.MAX_VALUE, Double.MIN_VALUE, Double.MIN_NORMAL, Double.NaN, Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY, 123456789012345680.0, 4.35, 2.2250738585072014E-308};
            return switch (random.nextInt(4)) {
                case 0 -> random.nextInt(100000) / 100.0;
                case 1 -> Double.longBitsToDouble(random.nextLong() & 0xbfffffffffffffffL);  // no NaN payloads
                default -> corners[random.nextInt(corners.length)];
            };
        }

        Uuid uuid() {
            return switch (random.nextInt(6)) {
                case 0 -> Uuid.ZERO_UUID;
                case 1 -> new Uuid(0, 1);
                case 2 -> new Uuid(-1, -1);
                default -> new Uuid(random.nextLong(), random.nextLong());
            };
        }

        byte[] bytes() {
            int[] sizes = {0, 1, 2, 3, 16, 126, 127, 128, 200};
            byte[] bytes = new byte[sparse() ? 0 : sizes[random.nextInt(sizes.length)]];
            random.nextBytes(bytes);
            return bytes;
        }

        // Not ASCII, quotes, backslashes, controls, line separators: all that a JSON writer may escape.
        static final String[] PIECES = {
            "a", "topic-", "Z9._-", " ", "\"", "\\", "/", "\n", "\t", "\r", "\b", "\f", "\u0000", "\u0001", "\u001f", "\u007f",
            "\u0080", "\u00fc", "\u00df", "\u07ff", "\u0800", "\u2028", "\u2029", "\u4e2d\u6587", "\ufeff", "\ufffd",
            "\uffff", "\ud83d\ude00", "\udbff\udfff", "<b>", "&", "'", "[red]"};

        String string() {
            if (sparse())
                return "";
            int choice = random.nextInt(mode == FULL ? 5 : 6);
            if (choice == 5)
                return "";
            if (choice == 4 && random.nextInt(100) == 0)
                return "y".repeat(16382 + random.nextInt(4));
            if (choice == 4)
                return "x".repeat(125 + random.nextInt(5));
            StringBuilder text = new StringBuilder();
            int pieces = 1 + random.nextInt(choice == 3 && budget > 0 ? 150 : 6);
            for (int i = 0; i < pieces; i++)
                text.append(choice == 0 ? PIECES[random.nextInt(3)] : PIECES[random.nextInt(PIECES.length)]);
            return text.toString();
        }

        /** The class lives in another package since 4.4, so it is looked up beside the field's type. */
        Object records(Class<?> holder) throws Exception {
            Class<?> memory = Class.forName(holder.getPackageName() + ".MemoryRecords");
            ByteBuffer bytes = sparse() || random.nextInt(4) == 0 ? ByteBuffer.allocate(0) : batch();
            return memory.getMethod("readableRecords", ByteBuffer.class).invoke(null, bytes);
        }

        /** A valid batch (magic 2) with one record of a null key and one byte of value. */
        ByteBuffer batch() {
            ByteBuffer batch = ByteBuffer.allocate(61 + 8);
            batch.putLong(random.nextInt(1000)).putInt(batch.capacity() - 12).putInt(7).put((byte) 2).putInt(0);
            batch.putShort((short) 0).putInt(0).putLong(1).putLong(1).putLong(-1).putShort((short) -1).putInt(-1).putInt(1);
            batch.put(new byte[] {14, 0, 0, 0, 1, 2, (byte) random.nextInt(256), 0});
            CRC32C crc = new CRC32C();
            crc.update(batch.array(), 21, batch.capacity() - 21);
            batch.putInt(17, (int) crc.getValue());
            return batch.rewind();
        }
    }
}
