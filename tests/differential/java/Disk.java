package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.Writable;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.raft.internals.KafkaRaftLog;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.common.serialization.RecordSerde;
import org.apache.kafka.snapshot.RawSnapshotWriter;
import org.apache.kafka.snapshot.RecordsSnapshotWriter;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;

/** Kafka's metadata log in a folder: opened, or filled before a node starts on it. */
final class Disk {
    private static final TopicPartition PARTITION = new TopicPartition("__cluster_metadata", 0);

    private Disk() { }

    /** Records are bytes that nobody interprets. */
    static final class BytesSerde implements RecordSerde<byte[]> {
        @Override public int recordSize(byte[] data, ObjectSerializationCache cache) { return data.length; }

        @Override public void write(byte[] data, ObjectSerializationCache cache, Writable out) { out.writeByteArray(data); }

        @Override public byte[] read(Readable in, int size) { return in.readArray(size); }
    }

    static RaftLog open(File folder, Manual.Clock clock) throws IOException {
        return KafkaRaftLog.createLog(PARTITION, Uuid.METADATA_TOPIC_ID, folder, clock, new Manual.Background(),
            new MetadataLogConfig(new AbstractConfig(MetadataLogConfig.CONFIG_DEF, Map.of(), false)), 1);
    }

    /** Snapshots before the log, the log, and snapshots of it. One that wipes the log is what it begins with. */
    static void fill(JsonNode content) throws IOException {
        Manual.Clock clock = new Manual.Clock(content.get("at").asLong());
        RaftLog log = open(new File(content.get("folder").asText()), clock);
        for (JsonNode snapshot : content.get("before")) {
            write(log, clock, snapshot);
            if (snapshot.get("wipes").asBoolean()) log.truncateToLatestSnapshot();
        }
        for (JsonNode batch : content.get("batches")) {
            MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(Wire.bytes(batch.asText())));
            log.appendAsLeader(records, records.batches().iterator().next().partitionLeaderEpoch());
        }
        log.flush(true);
        for (JsonNode snapshot : content.get("after")) write(log, clock, snapshot);
        log.close();
    }

    private static void write(RaftLog log, Manual.Clock clock, JsonNode snapshot) {
        OffsetAndEpoch id = new OffsetAndEpoch(snapshot.get("offset").asLong(), snapshot.get("epoch").asInt());
        Optional<RawSnapshotWriter> raw = log.createNewSnapshotUnchecked(id);
        if (raw.isEmpty()) return;
        Optional<VoterSet> voters = Optional.ofNullable(snapshot.get("voters").textValue()).map(Wire::voters);
        try (RecordsSnapshotWriter<byte[]> writer = new RecordsSnapshotWriter.Builder()
            .setTime(clock).setRawSnapshotWriter(raw.get()).setVoterSet(voters)
            .setKraftVersion(KRaftVersion.fromFeatureLevel((short) snapshot.get("kraftVersion").asInt()))
            .build(new BytesSerde())) {
            writer.freeze();
        }
    }
}
