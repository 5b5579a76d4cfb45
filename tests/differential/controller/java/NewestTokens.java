package org.apache.kafka.controller;

import org.apache.kafka.common.message.CreateDelegationTokenResponseData;
import org.apache.kafka.common.metadata.DelegationTokenRecord;
import org.apache.kafka.common.metadata.RemoveDelegationTokenRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.CreateDelegationTokenResponse;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.security.token.delegation.TokenInformation;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.DelegationTokenData;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The tokens that a controller knows. A node's publisher takes those that are committed; here it is those that are
 * appended, as all other decisions of a controller see them.
 */
final class NewestTokens {
    final DelegationTokenCache cache = new DelegationTokenCache(ScramMechanism.mechanismNames());
    private final Map<String, DelegationTokenRecord> committed = new HashMap<>();
    private final String secret;

    NewestTokens(String secret) { this.secret = secret; }

    /** Its manager of tokens takes the system's time, which nothing else can set. */
    static void useClock(QuorumController controller, Time clock) throws Exception {
        Field manager = QuorumController.class.getDeclaredField("delegationTokenControlManager");
        manager.setAccessible(true);
        Field time = DelegationTokenControlManager.class.getDeclaredField("time");
        time.setAccessible(true);
        time.set(manager.get(controller), clock);
    }

    void appended(ApiMessage message) {
        // Without the secret, a node's publisher fails, and the cache stays empty.
        if (message instanceof DelegationTokenRecord record && secret != null) add(record);
        if (message instanceof RemoveDelegationTokenRecord record) cache.removeCache(record.tokenId());
    }

    void committed(ApiMessage message) {
        if (message instanceof DelegationTokenRecord record) committed.put(record.tokenId(), record);
        if (message instanceof RemoveDelegationTokenRecord record) committed.remove(record.tokenId());
    }

    void onlyCommitted() {
        cache.tokens().stream().map(TokenInformation::tokenId).toList().forEach(cache::removeCache);
        committed.values().forEach(this::appended);
    }

    private void add(DelegationTokenRecord record) {
        TokenInformation token = DelegationTokenData.fromRecord(record).tokenInformation();
        try {
            Mac mac = Mac.getInstance("HmacSHA512");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), mac.getAlgorithm()));
            byte[] hmac = mac.doFinal(token.tokenId().getBytes(StandardCharsets.UTF_8));
            cache.updateCache(new DelegationToken(token, hmac), Map.of());
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** The answer in the form that Kafka's request layer gives it for a version. */
    static ApiMessage answer(CreateDelegationTokenResponseData reply, short version) {
        return CreateDelegationTokenResponse.prepareResponse(version, 0, Errors.forCode(reply.errorCode()),
            new KafkaPrincipal(reply.principalType(), reply.principalName()),
            new KafkaPrincipal(reply.tokenRequesterPrincipalType(), reply.tokenRequesterPrincipalName()),
            reply.issueTimestampMs(), reply.expiryTimestampMs(), reply.maxTimestampMs(), reply.tokenId(),
            ByteBuffer.wrap(reply.hmac())).data();
    }
}
