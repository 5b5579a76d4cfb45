// The calls about configs of topics, brokers, groups and client metrics.
import static org.apache.kafka.clients.admin.AlterConfigOp.OpType.APPEND;
import static org.apache.kafka.clients.admin.AlterConfigOp.OpType.DELETE;
import static org.apache.kafka.clients.admin.AlterConfigOp.OpType.SET;
import static org.apache.kafka.clients.admin.AlterConfigOp.OpType.SUBTRACT;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.ConfigResource.Type;

class ConfigCalls {
    static int alterations = 0;

    static void run(Admin admin) throws Exception {
        altered(admin, Type.TOPIC, "words", op("retention.ms", "7200000", SET), op("cleanup.policy", "compact", APPEND));
        altered(admin, Type.TOPIC, "words", op("cleanup.policy", "delete", SUBTRACT), op("retention.ms", "", DELETE));
        altered(admin, Type.TOPIC, "words", op("min.insync.replicas", "0", SET));
        altered(admin, Type.TOPIC, "words", op("retention.ms", "soon", SET));
        altered(admin, Type.TOPIC, "words", op("no.such.config", "1", SET));
        altered(admin, Type.TOPIC, "words", op("retention.ms", "1", APPEND));
        altered(admin, Type.TOPIC, "words", op("retention.ms", "1", SET), op("retention.ms", "2", SET));
        altered(admin, Type.TOPIC, "no-such-topic", op("retention.ms", "1", SET));
        altered(admin, Type.TOPIC, "", op("retention.ms", "1", SET));
        altered(admin, Type.BROKER, "", op("log.cleaner.threads", "2", SET), op("max.connections", "500", SET));
        altered(admin, Type.BROKER, "11", op("max.connections", "400", SET), op("num.io.threads", "3", SET));
        altered(admin, Type.BROKER, "11", op("node.id", "5", SET));
        altered(admin, Type.BROKER, "11", op("max.connections", "many", SET));
        altered(admin, Type.BROKER, "x", op("max.connections", "4", SET));
        altered(admin, Type.BROKER_LOGGER, "11", op("org.apache.kafka", "DEBUG", SET));
        altered(admin, Type.BROKER_LOGGER, "11", op("org.apache.kafka", "LOUD", SET));
        altered(admin, Type.GROUP, "readers", op("consumer.session.timeout.ms", "50000", SET));
        altered(admin, Type.GROUP, "readers", op("consumer.session.timeout.ms", "1", SET));
        altered(admin, Type.GROUP, "readers", op("no.such.config", "1", SET));
        altered(admin, Type.GROUP, "", op("consumer.session.timeout.ms", "50000", SET));
        altered(admin, Type.CLIENT_METRICS, "all", op("metrics", "org.apache.kafka", SET), op("interval.ms", "9000", SET));
        altered(admin, Type.CLIENT_METRICS, "all", op("interval.ms", "9", SET));
        altered(admin, Type.CLIENT_METRICS, "all", op("match", "no_such=.*", SET));
        altered(admin, Type.CLIENT_METRICS, "", op("interval.ms", "9000", SET));
        AdminCalls.step("incrementalAlterConfigs: dry run", () -> admin.incrementalAlterConfigs(
            Map.of(new ConfigResource(Type.TOPIC, "words"), List.of(op("retention.ms", "5", SET))),
            new AlterConfigsOptions().validateOnly(true)).values());
        described(admin, Type.TOPIC, "words", "cleanup.policy=compact");
        described(admin, Type.TOPIC, "kept", "retention.ms");
        described(admin, Type.TOPIC, "no-such-topic", "");
        described(admin, Type.BROKER, "", "max.connections");
        described(admin, Type.BROKER, "11", "max.connections=400");
        described(admin, Type.BROKER, "x", "");
        described(admin, Type.GROUP, "readers", "50000");
        described(admin, Type.CLIENT_METRICS, "all", "9000");
        described(admin, Type.BROKER_LOGGER, "11", "org.apache.kafka=DEBUG");
        AdminCalls.step("describeConfigs: everything of a topic", () -> {
            ConfigResource resource = new ConfigResource(Type.TOPIC, "kept");
            Map<String, String> shown = new TreeMap<>();
            AdminCalls.get(admin.describeConfigs(List.of(resource), new DescribeConfigsOptions().includeSynonyms(true)
                .includeDocumentation(true)).values().get(resource)).entries().forEach(entry ->
                    shown.put(entry.name(), shown(entry) + " " + entry.type() + " " + entry.synonyms().size()));
            return shown;
        });
        AdminCalls.until("listConfigResources", shown -> shown.contains("all") && shown.contains("readers"),
            () -> AdminCalls.get(admin.listConfigResources(Set.of(Type.GROUP, Type.CLIENT_METRICS),
                new ListConfigResourcesOptions()).all()).stream().map(Object::toString).sorted().toList());
        clientMetrics(admin);
        altered(admin, Type.CLIENT_METRICS, "all", op("metrics", "", DELETE), op("interval.ms", "", DELETE));
        altered(admin, Type.GROUP, "readers", op("consumer.session.timeout.ms", "", DELETE));
        altered(admin, Type.BROKER, "11", op("max.connections", "", DELETE), op("num.io.threads", "", DELETE));
    }

    @SuppressWarnings("removal")
    static void clientMetrics(Admin admin) throws Exception {
        AdminCalls.step("listClientMetricsResources", () -> AdminCalls.get(admin.listClientMetricsResources().all())
            .stream().map(ClientMetricsResourceListing::name).sorted().toList());
    }

    static AlterConfigOp op(String name, String value, AlterConfigOp.OpType type) {
        return new AlterConfigOp(new ConfigEntry(name, value), type);
    }

    static void altered(Admin admin, Type type, String name, AlterConfigOp... ops) throws Exception {
        ConfigResource resource = new ConfigResource(type, name);
        String what = String.join(", ", Arrays.stream(ops).map(op -> op.opType() + " " + op.configEntry().name() + "="
            + op.configEntry().value()).toList());
        AdminCalls.step("incrementalAlterConfigs " + ++alterations + ": " + type + " '" + name + "' " + what,
            () -> admin.incrementalAlterConfigs(Map.of(resource, List.of(ops))).values().get(resource));
    }

    static void described(Admin admin, Type type, String name, String wanted) throws Exception {
        ConfigResource resource = new ConfigResource(type, name);
        AdminCalls.until("describeConfigs " + ++alterations + ": " + type + " '" + name + "'", shown -> shown.contains(wanted), () -> {
            Map<String, String> configs = new TreeMap<>();
            for (ConfigEntry entry : AdminCalls.get(admin.describeConfigs(List.of(resource)).values().get(resource)).entries()) {
                ConfigSource source = entry.source();
                // The files of brokers differ by their ports and folders.
                boolean isChanged = source != ConfigSource.DEFAULT_CONFIG && source != ConfigSource.STATIC_BROKER_CONFIG;
                boolean isLogger = type == Type.BROKER_LOGGER && !entry.name().equals("org.apache.kafka");
                if (isChanged && !isLogger) configs.put(entry.name(), shown(entry));
            }
            return configs;
        });
    }

    static String shown(ConfigEntry entry) {
        return entry.value() + " " + entry.source() + (entry.isSensitive() ? " sensitive" : "")
            + (entry.isReadOnly() ? " read-only" : "");
    }
}
