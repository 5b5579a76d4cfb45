import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * Has Kafka's StandardAuthorizer decide: a line of JSON on stdin is a configuration, ACLs and actions; the line on
 * stdout has a letter for each action: A allowed, D denied, and the name of an exception in its place.
 */
public class AclJudge {
    private record Client(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        @Override public String listenerName() { return "CONTROLLER"; }

        @Override public SecurityProtocol securityProtocol() { return SecurityProtocol.PLAINTEXT; }

        @Override public int requestType() { return 0; }

        @Override public int requestVersion() { return 0; }

        @Override public String clientId() { return "client"; }

        @Override public int correlationId() { return 1; }
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine())
            System.out.println(decisions(json.readTree(line)));
    }

    private static String decisions(JsonNode asked) throws Exception {
        StandardAuthorizer authorizer = new StandardAuthorizer();
        Map<String, String> configs = new HashMap<>();
        asked.get("configs").properties().forEach(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        authorizer.configure(configs);
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), new HashMap<>()));
        Map<Uuid, StandardAcl> acls = new LinkedHashMap<>();
        for (JsonNode acl : asked.get("acls"))
            acls.put(new Uuid(7, acls.size()), new StandardAcl(ResourceType.fromCode((byte) acl.get(0).asInt()),
                acl.get(1).asText(), PatternType.fromCode((byte) acl.get(2).asInt()), acl.get(3).asText(),
                acl.get(4).asText(), AclOperation.fromCode((byte) acl.get(5).asInt()),
                AclPermissionType.fromCode((byte) acl.get(6).asInt())));
        authorizer.loadSnapshot(acls);
        if (asked.get("loaded").asBoolean()) authorizer.completeInitialLoad();
        StringBuilder told = new StringBuilder();
        for (JsonNode action : asked.get("actions")) {
            String[] principal = action.get(0).asText().split(":", 2);
            Client client = new Client(new KafkaPrincipal(principal[0], principal[1]),
                InetAddress.getByName(action.get(1).asText()));
            ResourcePattern resource = new ResourcePattern(ResourceType.fromString(action.get(3).asText()),
                action.get(4).asText(), PatternType.LITERAL);
            try {
                AuthorizationResult result = authorizer.authorize(client, List.of(
                    new Action(AclOperation.fromString(action.get(2).asText()), resource, 1, true, true))).get(0);
                told.append(result == AuthorizationResult.ALLOWED ? "A" : "D");
            } catch (RuntimeException error) {
                told.append("(").append(error.getClass().getSimpleName()).append(")");
            }
        }
        return told.toString();
    }
}
