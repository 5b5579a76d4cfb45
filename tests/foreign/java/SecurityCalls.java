// The calls about ACLs, SCRAM users, quotas and delegation tokens.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.token.delegation.DelegationToken;

class SecurityCalls {
    static int changes = 0;

    static void run(Admin admin, Admin sasl) throws Exception {
        acls(admin);
        users(admin);
        quotas(admin);
        tokens(admin, sasl);
    }

    static void acls(Admin admin) throws Exception {
        AclBinding read = acl(ResourceType.TOPIC, "words", PatternType.LITERAL, "User:alice", AclOperation.READ);
        AclBinding prefix = acl(ResourceType.GROUP, "team-", PatternType.PREFIXED, "User:alice", AclOperation.ALL);
        AclBinding cluster = acl(ResourceType.CLUSTER, "kafka-cluster", PatternType.LITERAL, "User:*", AclOperation.DESCRIBE);
        AclBinding other = acl(ResourceType.CLUSTER, "another", PatternType.LITERAL, "User:bob", AclOperation.ALTER);
        AclBinding nobody = acl(ResourceType.TOPIC, "words", PatternType.LITERAL, "alice", AclOperation.READ);
        AclBinding unnamed = acl(ResourceType.TOPIC, "", PatternType.LITERAL, "User:alice", AclOperation.READ);
        AdminCalls.step("createAcls", () -> admin.createAcls(List.of(read, prefix, cluster)).values());
        AdminCalls.step("createAcls: again", () -> admin.createAcls(List.of(read)).values());
        AdminCalls.step("createAcls: another cluster", () -> admin.createAcls(List.of(other)).values());
        AdminCalls.step("createAcls: no principal", () -> admin.createAcls(List.of(nobody)).values());
        AdminCalls.step("createAcls: no name", () -> admin.createAcls(List.of(unnamed)).values());
        AdminCalls.until("describeAcls", shown -> shown.contains("team-") && shown.contains("User:*"),
            () -> sorted(AdminCalls.get(admin.describeAcls(AclBindingFilter.ANY).values())));
        AclBindingFilter alices = new AclBindingFilter(ResourcePatternFilter.ANY,
            new AccessControlEntryFilter("User:alice", null, AclOperation.ANY, AclPermissionType.ANY));
        AclBindingFilter matching = new AclBindingFilter(
            new ResourcePatternFilter(ResourceType.GROUP, "team-a", PatternType.MATCH), AccessControlEntryFilter.ANY);
        AdminCalls.step("describeAcls: of a user", () -> sorted(AdminCalls.get(admin.describeAcls(alices).values())));
        AdminCalls.step("describeAcls: matching", () -> sorted(AdminCalls.get(admin.describeAcls(matching).values())));
        AdminCalls.step("deleteAcls", () -> {
            List<String> deleted = new ArrayList<>();
            AdminCalls.get(admin.deleteAcls(List.of(alices)).values().get(alices)).values().forEach(result ->
                deleted.add(String.valueOf(result.binding()) + " " + result.exception()));
            return sorted(deleted);
        });
        AdminCalls.step("deleteAcls: none", () -> AdminCalls.get(admin.deleteAcls(List.of(alices)).values().get(alices))
            .values().size());
    }

    static AclBinding acl(ResourceType type, String name, PatternType pattern, String principal, AclOperation operation) {
        return new AclBinding(new ResourcePattern(type, name, pattern),
            new AccessControlEntry(principal, "*", operation, AclPermissionType.ALLOW));
    }

    static List<String> sorted(Iterable<?> items) {
        List<String> shown = new ArrayList<>();
        items.forEach(item -> shown.add(String.valueOf(item)));
        shown.sort(null);
        return shown;
    }

    static void users(Admin admin) throws Exception {
        ScramCredentialInfo sha256 = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
        changed(admin, new UserScramCredentialUpsertion("alice", sha256, "secret"),
            new UserScramCredentialUpsertion("bob", new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192), "secret"));
        changed(admin, new UserScramCredentialUpsertion("", sha256, "secret"));
        changed(admin, new UserScramCredentialUpsertion("carol",
            new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 10), "secret"));
        changed(admin, new UserScramCredentialUpsertion("carol",
            new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 100_000), "secret"));
        changed(admin, new UserScramCredentialUpsertion("carol",
            new ScramCredentialInfo(ScramMechanism.UNKNOWN, 4096), "secret"));
        changed(admin, new UserScramCredentialUpsertion("carol", sha256, "secret"),
            new UserScramCredentialDeletion("carol", ScramMechanism.SCRAM_SHA_256));
        changed(admin, new UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_512));
        changed(admin, new UserScramCredentialDeletion("nobody", ScramMechanism.SCRAM_SHA_256));
        AdminCalls.until("describeUserScramCredentials", shown -> shown.contains("alice") && shown.contains("bob"),
            () -> new TreeMap<>(AdminCalls.get(admin.describeUserScramCredentials().all())));
        AdminCalls.step("describeUserScramCredentials: nobody", () ->
            admin.describeUserScramCredentials(List.of("nobody")).description("nobody"));
        changed(admin, new UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_256));
        AdminCalls.until("describeUserScramCredentials: after", shown -> !shown.contains("alice"),
            () -> new TreeMap<>(AdminCalls.get(admin.describeUserScramCredentials().all())));
    }

    static void changed(Admin admin, UserScramCredentialAlteration... alterations) throws Exception {
        AdminCalls.step("alterUserScramCredentials " + ++changes,
            () -> admin.alterUserScramCredentials(List.of(alterations)).values());
    }

    static void quotas(Admin admin) throws Exception {
        Map<String, String> alice = Map.of("user", "alice");
        Map<String, String> both = Map.of("user", "alice", "client-id", "loader");
        quota(admin, alice, "producer_byte_rate", 1000.0);
        quota(admin, alice, "request_percentage", 12.5);
        quota(admin, both, "consumer_byte_rate", 5000.0);
        quota(admin, Map.of("ip", "127.0.0.9"), "connection_creation_rate", 10.0);
        quota(admin, alice, "producer_byte_rate", 1.5);
        quota(admin, alice, "producer_byte_rate", 0.0);
        quota(admin, alice, "producer_byte_rate", 1e300);
        quota(admin, alice, "connection_creation_rate", 10.0);
        quota(admin, alice, "no_such_rate", 10.0);
        quota(admin, Map.of("ip", "127.0.0.9"), "connection_creation_rate", 1e12);
        quota(admin, Map.of("ip", "127.0.0.9", "user", "alice"), "connection_creation_rate", 10.0);
        quota(admin, Map.of("ip", "no such host"), "connection_creation_rate", 10.0);
        quota(admin, Map.of("group", "readers"), "producer_byte_rate", 10.0);
        quota(admin, Map.of(), "producer_byte_rate", 10.0);
        quota(admin, Map.of("user", ""), "producer_byte_rate", 10.0);
        Map<String, String> everyone = new HashMap<>();
        everyone.put("user", null);
        quota(admin, everyone, "controller_mutation_rate", 100.0);
        AdminCalls.until("describeClientQuotas", shown -> shown.contains("127.0.0.9") && shown.contains("mutation"),
            () -> AdminCalls.get(admin.describeClientQuotas(ClientQuotaFilter.all()).entities()));
        AdminCalls.step("describeClientQuotas: of a user", () -> AdminCalls.get(admin.describeClientQuotas(
            ClientQuotaFilter.containsOnly(List.of(ClientQuotaFilterComponent.ofEntity("user", "alice")))).entities()));
        quota(admin, alice, "producer_byte_rate", null);
        quota(admin, alice, "producer_byte_rate", null);
        AdminCalls.until("describeClientQuotas: after", shown -> !shown.contains("producer_byte_rate"),
            () -> AdminCalls.get(admin.describeClientQuotas(ClientQuotaFilter.all()).entities()));
        quota(admin, everyone, "controller_mutation_rate", null);
    }

    static void quota(Admin admin, Map<String, String> entity, String key, Double value) throws Exception {
        // Map.of has another order in each JVM.
        ClientQuotaEntity named = new ClientQuotaEntity(new TreeMap<>(entity));
        AdminCalls.step("alterClientQuotas " + ++changes + ": " + AdminCalls.show(entity) + " " + key + "=" + value, () ->
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(named,
                List.of(new ClientQuotaAlteration.Op(key, value))))).values());
    }

    static void tokens(Admin admin, Admin sasl) throws Exception {
        AdminCalls.step("createDelegationToken: without a login", () -> admin.createDelegationToken().delegationToken());
        AdminCalls.step("createDelegationToken: bad renewer", () -> sasl.createDelegationToken(
            new CreateDelegationTokenOptions().renewers(List.of(new KafkaPrincipal("Team", "x")))).delegationToken());
        DelegationToken[] made = new DelegationToken[1];
        AdminCalls.step("createDelegationToken", () -> {
            made[0] = AdminCalls.get(sasl.createDelegationToken(new CreateDelegationTokenOptions()
                .renewers(List.of(new KafkaPrincipal("User", "bob"))).maxLifetimeMs(600_000)).delegationToken());
            return text(made[0]);
        });
        byte[] hmac = made[0] == null ? new byte[0] : made[0].hmac();
        AdminCalls.until("describeDelegationToken", shown -> shown.contains("admin"), () -> AdminCalls.get(
            sasl.describeDelegationToken().delegationTokens()).stream().map(SecurityCalls::text).toList());
        AdminCalls.step("describeDelegationToken: of another", () -> AdminCalls.get(sasl.describeDelegationToken(
            new DescribeDelegationTokenOptions().owners(List.of(new KafkaPrincipal("User", "bob"))))
            .delegationTokens()).size());
        AdminCalls.until("renewDelegationToken", shown -> shown.equals("true"), () ->
            AdminCalls.get(sasl.renewDelegationToken(hmac).expiryTimestamp()) == made[0].tokenInfo().maxTimestamp());
        AdminCalls.step("renewDelegationToken: unknown", () -> sasl.renewDelegationToken("x".getBytes()).expiryTimestamp());
        AdminCalls.step("expireDelegationToken: unknown", () -> sasl.expireDelegationToken("x".getBytes()).expiryTimestamp());
        AdminCalls.step("expireDelegationToken", () -> AdminCalls.get(sasl.expireDelegationToken(hmac,
            new ExpireDelegationTokenOptions().expiryTimePeriodMs(-1)).expiryTimestamp()) > 0);
        AdminCalls.until("describeDelegationToken: after", shown -> shown.equals("[]"), () -> AdminCalls.get(
            sasl.describeDelegationToken().delegationTokens()).stream().map(SecurityCalls::text).toList());
    }

    static String text(DelegationToken token) {
        return token.tokenInfo().owner() + " " + token.tokenInfo().tokenRequester() + " " + token.tokenInfo().renewers()
            + " " + (token.tokenInfo().maxTimestamp() - token.tokenInfo().issueTimestamp());
    }
}
