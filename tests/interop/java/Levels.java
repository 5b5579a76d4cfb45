import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Prints one JSON object with what a release of Kafka says about its feature levels: MetadataVersion,
 * Feature (Features in 3.9), and the ranges that its nodes register. By reflection, since the API
 * differs from release to release; what a release does not have is left out.
 */
public class Levels {
    public static void main(String[] args) throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        List<Object> levels = new ArrayList<>();
        MetadataVersion before = null;
        for (MetadataVersion each : MetadataVersion.values()) {
            if (each.featureLevel() < 1) continue;
            Map<String, Object> level = new LinkedHashMap<>();
            level.put("level", (int) each.featureLevel());
            level.put("name", each.version());
            if (before != null) level.put("changed", MetadataVersion.checkIfMetadataChanged(before, each));
            for (String name : List.of("registerBrokerRecordVersion", "registerControllerRecordVersion",
                    "partitionRecordVersion", "partitionChangeRecordVersion", "isScramSupported",
                    "isMetadataTransactionSupported", "isDelegationTokenSupported", "isMigrationSupported",
                    "isDirectoryAssignmentSupported", "isElrSupported", "isControllerRegistrationSupported",
                    "isCordonedLogDirsSupported", "isCidrAclSupported", "isControllerUnregistrationSupported",
                    "isInControlledShutdownStateSupported", "isBrokerRegistrationChangeRecordSupported",
                    "isNoOpRecordSupported")) {
                Object value = call(each, name);
                if (value != null) level.put(name, value);
            }
            levels.add(level);
            before = each;
        }
        told.put("levels", levels);
        Object latest = null;
        for (String name : List.of("latestProduction", "latest")) {
            if (latest == null) latest = callStatic(MetadataVersion.class, name);
        }
        told.put("latest", (int) ((MetadataVersion) latest).featureLevel());
        told.put("features", features());
        told.put("ranges", ranges());
        Map<String, Object> names = new LinkedHashMap<>();
        for (String name : args) names.put(name, named(name));
        told.put("named", names);
        System.out.println(new ObjectMapper().writeValueAsString(told));
    }

    /** The level that a release string stands for; with unstable ones where there is a choice. */
    static Object named(String name) {
        for (Method method : MetadataVersion.class.getMethods()) {
            if (!method.getName().equals("fromVersionString")) continue;
            try {
                Object found = method.getParameterCount() == 1 ? method.invoke(null, name) : method.invoke(null, name, true);
                return (int) ((MetadataVersion) found).featureLevel();
            } catch (ReflectiveOperationException e) {
                return null;
            }
        }
        return null;
    }

    static Map<String, Object> features() throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        Class<?> feature;
        try {
            feature = Class.forName("org.apache.kafka.server.common.Feature");
        } catch (ClassNotFoundException e) {
            try {
                feature = Class.forName("org.apache.kafka.server.common.Features");
            } catch (ClassNotFoundException none) {
                return told;
            }
            if (!feature.isEnum()) return told;
        }
        for (Object each : (List<?>) feature.getField("PRODUCTION_FEATURES").get(null)) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("latestProduction", call(each, "latestProduction"));
            List<Object> versions = new ArrayList<>();
            for (Object version : (Object[]) call(each, "featureVersions")) {
                Class<?> api = Class.forName("org.apache.kafka.server.common.FeatureVersion");
                Map<String, Object> rule = new LinkedHashMap<>();
                rule.put("level", api.getMethod("featureLevel").invoke(version));
                rule.put("bootstrap", (int) ((MetadataVersion) api.getMethod("bootstrapMetadataVersion").invoke(version)).featureLevel());
                rule.put("dependencies", api.getMethod("dependencies").invoke(version));
                versions.add(rule);
            }
            one.put("versions", versions);
            Map<String, Object> defaults = new LinkedHashMap<>();
            for (MetadataVersion level : MetadataVersion.values()) {
                if (level.featureLevel() < 1) continue;
                for (String name : List.of("defaultLevel", "defaultValue")) {
                    try {
                        defaults.put("" + level.featureLevel(), each.getClass().getMethod(name, MetadataVersion.class).invoke(each, level));
                    } catch (NoSuchMethodException e) {
                        // The other name.
                    }
                }
            }
            one.put("defaults", defaults);
            told.put((String) call(each, "featureName"), one);
        }
        return told;
    }

    /** The ranges of a node's registration. */
    static Object ranges() throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        Class<?> quorum = Class.forName("org.apache.kafka.controller.QuorumFeatures");
        Map<?, ?> map = null;
        for (Method method : quorum.getMethods()) {
            if (!method.getName().equals("defaultFeatureMap") && !method.getName().equals("defaultSupportedFeatureMap")) continue;
            map = (Map<?, ?>) (method.getParameterCount() == 0 ? method.invoke(null) : method.invoke(null, false));
        }
        if (map == null) return null;
        for (Map.Entry<?, ?> each : map.entrySet()) {
            told.put((String) each.getKey(), List.of(call(each.getValue(), "min"), call(each.getValue(), "max")));
        }
        return told;
    }

    static Object call(Object on, String name) {
        try {
            Method method = on.getClass().getMethod(name);
            method.setAccessible(true);
            return method.invoke(on);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    static Object callStatic(Class<?> on, String name) {
        try {
            return on.getMethod(name).invoke(null);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
