// Lists the configs of topics that a Kafka release defines: one JSON object a line on stdout,
//   {"name", "type", "default", "check", "synonyms", "internal"}
//
//   java -cp 'libs/*' TopicConfigs.java
//
// `check` is what the validator says of itself. `synonyms` are the broker's configs that a topic takes its default
// from, in their order, each with how many milliseconds (or other units of the topic's config) one of its units is.

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

public class TopicConfigs {
    public static void main(String[] args) {
        for (ConfigDef.ConfigKey key : new TreeMap<>(LogConfig.configDefCopy().configKeys()).values()) {
            ObjectNode line = new ObjectMapper().createObjectNode();
            line.put("name", key.name).put("type", key.type.name());
            line.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            line.put("check", key.validator == null ? "" : key.validator.toString());
            line.put("internal", key.internalConfig);
            ObjectNode synonyms = line.putObject("synonyms");
            for (ConfigSynonym synonym : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.getOrDefault(key.name, List.of()))
                synonyms.put(synonym.name(), unit(synonym));
            System.out.println(line);
        }
    }

    static long unit(ConfigSynonym synonym) {
        try {
            return Long.parseLong(synonym.converter().apply("1"));
        } catch (NumberFormatException e) {
            return 1;
        }
    }
}
