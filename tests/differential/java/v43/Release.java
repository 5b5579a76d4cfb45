package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.feature.SupportedVersionRange;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.server.common.serialization.RecordSerde;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.function.BiConsumer;

/** Queue, channel and client as Kafka 4.3 has them. v44 has the same class for Kafka 4.4. */
final class Release {
    private Release() { }

    /** Messages for the raft thread. While it waits for one, time passes until that one arrives. */
    static final class Queue implements RaftMessageQueue {
        private final Manual.Clock clock;
        private final Deque<RaftMessage> messages = new ArrayDeque<>();
        long arrivalMs;

        Queue(Manual.Clock clock) { this.clock = clock; }

        @Override public RaftMessage poll(long timeoutMs) {
            if (!messages.isEmpty()) clock.advanceTo(arrivalMs);
            return messages.poll();
        }

        @Override public void add(RaftMessage message) { messages.add(message); }

        @Override public boolean isEmpty() { return messages.isEmpty(); }

        @Override public void wakeup() { }
    }

    /** Keeps what the client sends. */
    @SuppressWarnings("try")
    static final class Channel implements NetworkChannel {
        private final ListenerName listener;
        private int next;
        final List<RaftRequest.Outbound> sent = new ArrayList<>();

        Channel(ListenerName listener) { this.listener = listener; }

        @Override public int newCorrelationId() { return next++; }

        @Override public void send(RaftRequest.Outbound request) { sent.add(request); }

        @Override public ListenerName listenerName() { return listener; }
    }

    static KafkaRaftClient<byte[]> client(
        OptionalInt id, Uuid directory, RecordSerde<byte[]> serde, Channel channel, Queue queue, RaftLog log,
        Manual.Clock clock, ExpirationService expiration, int maxWaitMs, boolean canBecomeVoter, String cluster,
        List<InetSocketAddress> bootstrap, Endpoints endpoints, Random random, QuorumConfig config
    ) {
        return new KafkaRaftClient<>(id, directory, serde, channel, queue, log, MemoryPool.NONE, clock, expiration,
            maxWaitMs, canBecomeVoter, cluster, bootstrap, endpoints, new SupportedVersionRange((short) 0, (short) 1),
            new LogContext(), random, config);
    }

    static void request(
        KafkaRaftClient<byte[]> client, RaftRequest.Inbound request, BiConsumer<ApiMessage, Throwable> answered
    ) {
        request.completion.whenComplete((reply, error) -> answered.accept(reply == null ? null : reply.data(), error));
        client.handle(request);
    }

    static void response(Queue queue, int correlationId, ApiMessage data, Node source) {
        queue.add(new RaftResponse.Inbound(correlationId, data, source));
    }
}
