// Lists the configs of topics, groups, brokers and client metrics that a Kafka release defines: one JSON object a line
// on stdout,
//   {"resource", "name", "type", "default", "check", "synonyms", "bounds", "internal", "dynamic"}
//
//   java -cp 'libs/*' ResourceConfigs.java
//
// `check` is what the validator says of itself. `synonyms` are the broker's configs that a resource takes its default
// from, in their order, each with how many milliseconds (or other units of the resource's config) one of its units is.
// `bounds` are the broker's configs that say how small and how large a group's may be, with their defaults.
// `dynamic`: the brokers' configs that can be changed while they run.

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

public class ResourceConfigs {
    static final Map<String, ConfigDef.ConfigKey> BROKER = AbstractKafkaConfig.CONFIG_DEF.configKeys();

    public static void main(String[] args) {
        for (ConfigDef.ConfigKey key : new TreeMap<>(LogConfig.configDefCopy().configKeys()).values()) {
            ObjectNode line = line("topic", key);
            ObjectNode synonyms = line.putObject("synonyms");
            for (ConfigSynonym synonym : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.getOrDefault(key.name, List.of()))
                synonyms.put(synonym.name(), unit(synonym));
            System.out.println(line);
        }
        for (ConfigDef.ConfigKey key : new TreeMap<>(GroupConfig.CONFIG_DEF.configKeys()).values()) {
            ObjectNode line = line("group", key);
            ObjectNode synonyms = line.putObject("synonyms"), bounds = line.putObject("bounds");
            Optional<String> synonym = GroupConfig.brokerSynonym(key.name);
            synonym.ifPresent(name -> synonyms.put(name, 1));
            for (String side : List.of("min", "max")) {
                String[] words = key.name.split("\\.", 2);
                for (String rest : List.of(words[1], words[1].replace("num.", ""))) {
                    String name = "group." + words[0] + "." + side + "." + rest;
                    if (BROKER.containsKey(name))
                        bounds.putArray(side).add(name).add(BROKER.get(name).defaultValue.toString());
                }
            }
            System.out.println(line);
        }
        for (ConfigDef.ConfigKey key : new TreeMap<>(ClientMetricsConfigs.configDef().configKeys()).values())
            System.out.println(line("client metrics", key));
        for (ConfigDef.ConfigKey key : new TreeMap<>(BROKER).values())
            System.out.println(line("broker", key).put("dynamic", DynamicBrokerConfig.ALL_DYNAMIC_CONFIGS.contains(key.name)));
    }

    static ObjectNode line(String resource, ConfigDef.ConfigKey key) {
        ObjectNode line = new ObjectMapper().createObjectNode();
        line.put("resource", resource).put("name", key.name).put("type", key.type.name());
        boolean hasDefault = key.hasDefault() && key.defaultValue != null;
        line.put("default", hasDefault ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
        line.put("check", key.validator == null ? "" : key.validator.toString());
        line.put("internal", key.internalConfig);
        return line;
    }

    static long unit(ConfigSynonym synonym) {
        try {
            return Long.parseLong(synonym.converter().apply("1"));
        } catch (NumberFormatException e) {
            return 1;
        }
    }
}
