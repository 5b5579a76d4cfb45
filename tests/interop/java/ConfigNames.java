// Lists every config name that a Kafka release defines: one JSON object a line on stdout,
//   {"scope", "name", "type", "fixed"}
//
//   java -cp 'libs/*' ConfigNames.java
//
// `scope` is the kind of resource that can carry the name: broker, topic, group or client-metrics.
// `fixed` is true where only a fixed set of words is accepted (a ValidList may take any). The definitions moved between
// classes over the releases, so every place that ever held one is asked, and each ConfigDef found there.

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

public class ConfigNames {
    static final String[][] PLACES = {
        {"broker", "org.apache.kafka.server.config.AbstractKafkaConfig"},
        {"broker", "kafka.server.KafkaConfig$"},
        {"broker", "kafka.server.DynamicConfig$Broker$"},
        {"broker", "org.apache.kafka.server.config.QuotaConfig"},
        {"broker", "org.apache.kafka.server.config.QuotaConfigs"},
        {"topic", "org.apache.kafka.storage.internals.log.LogConfig"},
        {"topic", "kafka.log.LogConfig$"},
        {"group", "org.apache.kafka.coordinator.group.GroupConfig"},
        {"client-metrics", "org.apache.kafka.server.metrics.ClientMetricsConfigs"},
    };

    public static void main(String[] args) throws Exception {
        Map<String, ObjectNode> lines = new LinkedHashMap<>();
        for (String[] place : PLACES) {
            Class<?> holder;
            try {
                holder = Class.forName(place[1]);
            } catch (ClassNotFoundException e) {
                continue;
            }
            for (Field field : holder.getDeclaredFields()) {
                // LogConfig.SERVER_CONFIG_DEF has the broker's defaults (log.*) of the topic configs.
                boolean ofServer = field.getName().equals("SERVER_CONFIG_DEF");
                if (ConfigDef.class.isAssignableFrom(field.getType()))
                    list(ofServer ? "broker" : place[0], (ConfigDef) read(field, holder), lines);
            }
            if (place[1].endsWith("QuotaConfig") || place[1].endsWith("QuotaConfigs"))
                list("broker", (ConfigDef) holder.getMethod("brokerQuotaConfigs").invoke(null), lines);
        }
        lines.values().forEach(System.out::println);
    }

    static Object read(Field field, Class<?> holder) throws Exception {
        field.setAccessible(true);
        Object scalaObject = Modifier.isStatic(field.getModifiers()) ? null : holder.getField("MODULE$").get(null);
        return field.get(scalaObject);
    }

    static void list(String scope, ConfigDef definition, Map<String, ObjectNode> lines) {
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            ObjectNode line = new ObjectMapper().createObjectNode();
            line.put("scope", scope).put("name", key.name).put("type", key.type.name());
            line.put("fixed", isFixed(key.validator));
            lines.putIfAbsent(scope + " " + key.name, line);
        }
    }

    static boolean isFixed(ConfigDef.Validator validator) {
        return validator instanceof ConfigDef.ValidString || validator instanceof ConfigDef.CaseInsensitiveValidString;
    }
}
