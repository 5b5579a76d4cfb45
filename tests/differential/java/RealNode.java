package org.apache.kafka.raft;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.SnapshotReader;
import org.apache.kafka.snapshot.SnapshotWriter;

import java.io.File;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** One KafkaRaftClient over a KafkaRaftLog, from its start to its end. Steps go in, what it did comes out. */
final class RealNode {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_POLLS = 60;

    private final Manual.Clock clock;
    private final Manual.Expiration expiration;
    private final Manual.Chance chance = new Manual.Chance();
    private final Release.Queue queue;
    private final Release.Channel channel;
    private final RaftLog log;
    private final QuorumStateStore store;
    private final KafkaRaftClient<byte[]> client;
    private final JsonNode versions;
    private final Map<Integer, Node> destinations = new HashMap<>();
    private final List<ObjectNode> replies = new ArrayList<>();
    private final List<int[]> leaders = new ArrayList<>();
    private CompletableFuture<Void> shutdown;
    private long consumed;
    private boolean isDown;

    RealNode(JsonNode start) throws Exception {
        versions = start.get("versions");
        clock = new Manual.Clock(start.get("at").asLong());
        expiration = new Manual.Expiration(clock);
        chance.number = start.get("chance").asLong();
        queue = new Release.Queue(clock);
        channel = new Release.Channel(ListenerName.normalised(start.get("defaultListener").asText()));
        File folder = new File(start.get("folder").asText());
        log = Disk.open(folder, clock);
        store = new FileQuorumStateStore(new File(folder, FileQuorumStateStore.DEFAULT_FILE_NAME));
        List<InetSocketAddress> bootstrap = new ArrayList<>();
        start.get("bootstrap").forEach(each -> bootstrap.add(address(each)));
        Map<ListenerName, InetSocketAddress> listeners = new LinkedHashMap<>();
        start.get("listeners").properties().forEach(
            each -> listeners.put(ListenerName.normalised(each.getKey()), address(each.getValue())));
        Map<Integer, InetSocketAddress> voters = new TreeMap<>();
        start.get("staticVoters").properties().forEach(
            each -> voters.put(Integer.valueOf(each.getKey()), address(each.getValue())));
        Map<String, Object> settings = JSON.convertValue(start.get("settings"), new TypeReference<>() { });
        client = Release.client(
            start.get("id").isNull() ? OptionalInt.empty() : OptionalInt.of(start.get("id").asInt()),
            Uuid.fromString(start.get("directory").asText()), new Disk.BytesSerde(), channel, queue, log, clock, expiration,
            start.get("fetchMaxWaitMs").asInt(), start.get("canBecomeVoter").asBoolean(), start.get("cluster").asText(),
            bootstrap, listeners.isEmpty() ? Endpoints.empty() : Endpoints.fromInetSocketAddresses(listeners), chance,
            new QuorumConfig(new AbstractConfig(QuorumConfig.CONFIG_DEF, settings, false)));
        client.register(new Listener());
        client.initialize(voters, store, new Metrics(clock), metrics -> { });
        settle();
    }

    private static InetSocketAddress address(JsonNode endpoint) {
        return InetSocketAddress.createUnresolved(endpoint.get(0).asText(), endpoint.get(1).asInt());
    }

    private final class Listener implements RaftClient.Listener<byte[]> {
        @Override public void handleCommit(BatchReader<byte[]> reader) {
            while (reader.hasNext()) consumed = reader.next().lastOffset() + 1;
            reader.close();
        }

        @Override public void handleLoadSnapshot(SnapshotReader<byte[]> reader) {
            consumed = reader.snapshotId().offset();
            reader.close();
        }

        @Override public void handleLoadBootstrap(SnapshotReader<byte[]> reader) { reader.close(); }

        @Override public void handleLeaderChange(LeaderAndEpoch leader) {
            leaders.add(new int[] {leader.epoch(), leader.leaderId().orElse(-1)});
        }
    }

    void close() { log.close(); }

    /** One step: the time, what happens then, and the thread's turns until it rests. */
    ObjectNode step(JsonNode step) throws Exception {
        chance.number = step.get("chance").asLong();
        long at = step.get("at").asLong();
        queue.arrivalMs = at;
        if (!step.get("arrivesWhileWaiting").asBoolean()) {
            clock.advanceTo(at);
            settle();
        }
        String refusal = null;
        Object outcome = null;
        try {
            outcome = isDown ? null : act(step, at);
        } catch (Refusal e) {
            refusal = e.getMessage();
        }
        settle();
        ObjectNode answer = did();
        answer.put("refused", refusal);
        answer.set("outcome", JSON.valueToTree(outcome));
        return answer;
    }

    /** The caller of the client is refused, and the raft thread goes on. */
    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;

        Refusal(RuntimeException cause) { super(cause.toString(), cause); }
    }

    private interface Order { Object give() throws Exception; }

    /** Give the client an order of another thread. The client may refuse it. */
    private Object order(long at, Order order) throws Exception {
        clock.advanceTo(at);
        try {
            return order.give();
        } catch (RuntimeException e) {
            throw new Refusal(e);
        }
    }

    private Object act(JsonNode step, long at) throws Exception {
        switch (step.get("action").asText()) {
            case "time": clock.advanceTo(at); return null;
            case "request": receive(step, at); return null;
            case "response": {
                short api = (short) step.get("api").asInt();
                ApiMessage data = Wire.response(api, (short) step.get("version").asInt(), Wire.bytes(step.get("data").asText()));
                int correlationId = step.get("correlationId").asInt();
                // Straight to the queue, so that an answer can be late, or come twice.
                Node source = destinations.get(correlationId);
                RequestManager requests = (RequestManager) Wire.field(client, "requestManager");
                boolean isExpected = requests.isResponseExpected(source, correlationId);
                Release.response(queue, correlationId, data, source);
                return isExpected;
            }
            case "append": return order(at, () -> {
                List<byte[]> records = new ArrayList<>();
                step.get("records").forEach(each -> records.add(Wire.bytes(each.asText())));
                long last = client.prepareAppend(step.get("epoch").asInt(), records);
                client.schedulePreparedAppend();
                return last;
            });
            case "resign": return order(at, () -> { client.resign(step.get("epoch").asInt()); return null; });
            case "shutdown": return order(at, () -> {
                shutdown = client.shutdown(1_000_000_000).toCompletableFuture();
                return null;
            });
            case "upgrade": return order(at, () -> {
                KRaftVersion level = KRaftVersion.fromFeatureLevel((short) step.get("level").asInt());
                client.upgradeKRaftVersion(step.get("epoch").asInt(), level, step.get("validateOnly").asBoolean());
                return null;
            });
            case "snapshot": return order(at, () -> {
                Optional<SnapshotWriter<byte[]>> writer = client.createSnapshot(place(step), 0);
                if (writer.isPresent()) {
                    writer.get().freeze();
                    writer.get().close();
                }
                return writer.isPresent();
            });
            case "clean": return order(at, () -> log.deleteBeforeSnapshot(place(step)));
            default: throw new IllegalArgumentException(step.get("action").asText());
        }
    }

    private static OffsetAndEpoch place(JsonNode step) {
        return new OffsetAndEpoch(step.get("offset").asLong(), step.get("epoch").asInt());
    }

    private void receive(JsonNode step, long at) {
        int id = step.get("request").asInt();
        short api = (short) step.get("api").asInt(), version = (short) step.get("version").asInt();
        ApiMessage data = Wire.request(api, version, Wire.bytes(step.get("data").asText()));
        ListenerName listener = ListenerName.normalised(step.get("listener").asText());
        Release.request(client, new RaftRequest.Inbound(listener, id, version, data, at), (reply, error) -> {
            ObjectNode node = JSON.createObjectNode().put("request", id).put("api", api).put("version", version);
            if (error != null) node.put("error", error.toString());
            else node.put("data", Wire.text(Wire.written(reply, version)));
            replies.add(node);
        });
    }

    /** Let the raft thread, and what expires, have turns until nothing changes any more. */
    private void settle() {
        do {
            String before = null;
            for (int turns = 0, same = 0; turns < MOST_POLLS && same < 2 && !isDown; turns++) {
                client.poll();
                isDown = shutdown != null && shutdown.isDone();
                String now = progress();
                same = now.equals(before) ? same + 1 : 0;
                before = now;
            }
        } while (!isDown && expiration.expire());
    }

    private String progress() {
        return System.identityHashCode(role()) + "/" + channel.sent.size() + "/" + replies.size() + "/" + leaders.size()
            + "/" + log.endOffset().offset() + "/" + log.startOffset() + "/" + consumed + "/" + queue.isEmpty();
    }

    private Object role() { return Wire.field(client.quorum(), "state"); }

    ObjectNode did() throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode sends = answer.putArray("sends");
        for (RaftRequest.Outbound request : channel.sent) {
            short version = (short) versions.get(ApiKeys.forId(request.data().apiKey()).name).asInt();
            Node to = request.destination();
            destinations.put(request.correlationId(), to);
            sends.addObject().put("destination", to.id()).put("host", to.host()).put("port", to.port())
                .put("correlationId", request.correlationId()).put("api", request.data().apiKey()).put("version", version)
                .put("data", Wire.text(Wire.written(request.data(), version)));
        }
        channel.sent.clear();
        answer.putArray("replies").addAll(replies);
        replies.clear();
        ArrayNode changes = answer.putArray("leaders");
        leaders.forEach(each -> changes.addArray().add(each[0]).add(each[1]));
        leaders.clear();
        answer.put("isDown", isDown);
        answer.set("state", Observed.state(client, log, role(), clock.milliseconds(), consumed));
        return answer;
    }
}
