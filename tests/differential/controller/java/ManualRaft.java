package org.apache.kafka.controller;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.RaftClient;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.SnapshotWriter;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The log below a controller: it keeps what is appended, and nothing is committed but on request. */
final class ManualRaft implements RaftClient<ApiMessageAndVersion> {
    record Appended(long baseOffset, List<ApiMessageAndVersion> records) { }

    private final int nodeId;
    private final List<Appended> appended = new ArrayList<>();
    private Appended prepared;
    Listener<ApiMessageAndVersion> listener;
    long endOffset;
    boolean hasResigned;
    LeaderAndEpoch leader = LeaderAndEpoch.UNKNOWN;
    KRaftVersion kraftVersion = KRaftVersion.KRAFT_VERSION_0;

    ManualRaft(int nodeId) { this.nodeId = nodeId; }

    synchronized List<Appended> takeAppended() {
        List<Appended> taken = List.copyOf(appended);
        appended.clear();
        return taken;
    }

    @Override public synchronized long prepareAppend(int epoch, List<ApiMessageAndVersion> records) {
        prepared = new Appended(endOffset, List.copyOf(records));
        return endOffset + records.size() - 1;
    }

    @Override public synchronized void schedulePreparedAppend() {
        appended.add(prepared);
        endOffset += prepared.records.size();
        prepared = null;
    }

    @Override public void register(Listener<ApiMessageAndVersion> listener) { this.listener = listener; }

    @Override public void unregister(Listener<ApiMessageAndVersion> listener) { }

    @Override public OptionalLong highWatermark() { return OptionalLong.of(endOffset); }

    @Override public LeaderAndEpoch leaderAndEpoch() { return leader; }

    @Override public OptionalInt nodeId() { return OptionalInt.of(nodeId); }

    @Override public Optional<Node> voterNode(int id, ListenerName listenerName) { return Optional.empty(); }

    @Override public CompletableFuture<Void> shutdown(int timeoutMs) { return CompletableFuture.completedFuture(null); }

    @Override public void resign(int epoch) { hasResigned = true; }

    @Override public Optional<SnapshotWriter<ApiMessageAndVersion>> createSnapshot(OffsetAndEpoch id, long timestamp) {
        return Optional.empty();
    }

    @Override public Optional<OffsetAndEpoch> latestSnapshotId() { return Optional.empty(); }

    @Override public long logEndOffset() { return endOffset; }

    @Override public KRaftVersion kraftVersion() { return kraftVersion; }

    @Override public void upgradeKRaftVersion(int epoch, KRaftVersion version, boolean validateOnly) { }

    @Override public void close() { }
}
