package org.apache.kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.metadata.ClientQuotaRecord;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaEntity.ConfigEntity;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.ControllerMutationQuota;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Kafka's quota on mutations, with the quotas that are committed: what its request layer gives a controller. */
final class MutationQuotas implements AutoCloseable {
    private static final Map<String, Integer> STRICT_SINCE =
        Map.of("CreateTopics", 6, "DeleteTopics", 5, "CreatePartitions", 3);

    private final ControllerMutationQuotaManager manager;
    private final Map<Long, ControllerMutationQuota> asked = new HashMap<>();

    MutationQuotas(Time clock) {
        Metrics metrics = new Metrics(new MetricConfig(), List.of(), clock);
        manager = new ControllerMutationQuotaManager(new ClientQuotaManagerConfig(11, 1), metrics, clock, "driver", Optional.empty());
    }

    static KafkaPrincipal principal(JsonNode step) {
        String[] parts = step.get("principal").asText().split(":", 2);
        return new KafkaPrincipal(parts[0], parts[1]);
    }

    /** What a request is charged. */
    ControllerMutationQuota of(JsonNode step, KafkaPrincipal principal) {
        Integer strictSince = STRICT_SINCE.get(step.get("api").asText());
        ControllerMutationQuota quota = ControllerMutationQuota.UNBOUNDED_CONTROLLER_MUTATION_QUOTA;
        if (strictSince != null) {
            Session session = new Session(principal, InetAddress.getLoopbackAddress());
            String clientId = step.get("clientId").asText();
            quota = step.get("version").asInt() >= strictSince ?
                manager.newStrictQuotaFor(session, clientId) : manager.newPermissiveQuotaFor(session, clientId);
        }
        synchronized (asked) { asked.put(step.get("number").asLong(), quota); }
        return quota;
    }

    int throttleTimeMs(JsonNode step) {
        synchronized (asked) { return asked.remove(step.get("number").asLong()).throttleTime(); }
    }

    void committed(ApiMessage message) {
        if (!(message instanceof ClientQuotaRecord record) || !record.key().equals("controller_mutation_rate"))
            return;
        Optional<ConfigEntity> user = Optional.empty();
        Optional<ConfigEntity> client = Optional.empty();
        for (ClientQuotaRecord.EntityData part : record.entity()) {
            String name = part.entityName();
            if (part.entityType().equals("user"))
                user = Optional.of(name == null ? ClientQuotaManager.DEFAULT_USER_ENTITY : new ClientQuotaManager.UserEntity(name));
            else
                client = Optional.of(name == null ? ClientQuotaManager.DEFAULT_USER_CLIENT_ID : new ClientQuotaManager.ClientIdEntity(name));
        }
        manager.updateQuota(user, client, record.remove() ? Optional.empty() : Optional.of(new Quota(record.value(), true)));
    }

    @Override public void close() { manager.initiateShutdown(); }
}
