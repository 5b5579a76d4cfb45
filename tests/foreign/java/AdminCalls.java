// Calls every method of Kafka's Admin in a fixed order, and prints for each step one JSON object a line:
// {"test": its name, "outcome": its result or its error}. Owns the order, and a text of each result that does not
// depend on chance: ids, times and offsets of the metadata are left out. Knows nothing of who runs the controllers.
//
// Arguments: the brokers, their SASL listeners, the controllers.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;

public class AdminCalls {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Set<String> CALLED = new TreeSet<>();
    static final long PATIENCE_MS = 30_000;

    public static void main(String[] args) throws Exception {
        Map<String, Object> login = Map.of("security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN",
            "sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required "
                + "username=\"admin\" password=\"CANARY-PLAIN-admin\";");
        try (Admin admin = client("bootstrap.servers", args[0], Map.of());
             Admin sasl = client("bootstrap.servers", args[1], login);
             Admin controllers = client("bootstrap.controllers", args[2], Map.of())) {
            TopicCalls.run(admin);
            ConfigCalls.run(admin);
            SecurityCalls.run(admin, sasl);
            GroupCalls.run(admin, args[0]);
            ClusterCalls.run(admin, controllers);
            TopicCalls.end(admin);
        }
        Set<String> missing = new TreeSet<>();
        for (Method method : Admin.class.getMethods()) missing.add(method.getName());
        missing.removeAll(CALLED);
        missing.remove("create");
        step("methods that no step calls", () -> missing);
    }

    // A client that notes which methods are called.
    static Admin client(String where, String at, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put(where, at);
        settings.put("request.timeout.ms", "20000");
        settings.put("default.api.timeout.ms", "40000");
        Admin client = Admin.create(settings);
        return (Admin) Proxy.newProxyInstance(AdminCalls.class.getClassLoader(), new Class<?>[] {Admin.class},
            (proxy, method, arguments) -> {
                CALLED.add(method.getName());
                try {
                    return method.invoke(client, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    // One step: its outcome is printed.
    static void step(String name, Callable<?> call) throws Exception {
        print(name, outcome(call));
    }

    // A step that is repeated until its outcome is as it should be: a broker may know of a change a moment later.
    static void until(String name, Predicate<String> wanted, Callable<?> call) throws Exception {
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        String outcome = outcome(call);
        while (!wanted.test(outcome) && System.currentTimeMillis() < deadline) {
            Thread.sleep(50);
            outcome = outcome(call);
        }
        print(name, outcome);
    }

    static void print(String name, String outcome) throws Exception {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("test", name);
        line.put("outcome", outcome);
        System.out.println(JSON.writeValueAsString(line));
    }

    static String outcome(Callable<?> call) {
        try {
            return show(call.call());
        } catch (Throwable thrown) {
            return error(thrown);
        }
    }

    static String error(Throwable thrown) {
        Throwable cause = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    // A text of a result: maps and sets in an order of their own, and of each future what it comes to.
    static String show(Object value) {
        if (value instanceof KafkaFuture<?> future) return outcome(future::get);
        if (value instanceof Optional<?> optional) return optional.map(AdminCalls::show).orElse("none");
        if (value instanceof Map<?, ?> map) {
            Map<String, String> shown = new TreeMap<>();
            map.forEach((key, item) -> shown.put(show(key), show(item)));
            return shown.toString();
        }
        if (value instanceof Collection<?> items) {
            List<String> shown = new ArrayList<>();
            for (Object item : items) shown.add(show(item));
            if (!(value instanceof List<?>)) shown.sort(null);
            return shown.toString();
        }
        return String.valueOf(value);
    }

    static <T> T get(KafkaFuture<T> future) throws Exception {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) throw cause;
            throw e;
        }
    }

    static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }
}
