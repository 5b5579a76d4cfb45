package org.apache.kafka.raft;

import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchSnapshotResponseData;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.DataOutputStreamWritable;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.UnalignedFileRecords;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;
import org.apache.kafka.common.utils.Utils;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Base64;

/** Kafka's messages and their bytes, as they travel between nodes. */
final class Wire {
    private Wire() { }

    static byte[] bytes(String base64) { return Base64.getDecoder().decode(base64); }

    static String text(byte[] bytes) { return Base64.getEncoder().encodeToString(bytes); }

    static ApiMessage request(short api, short version, byte[] data) {
        return read(ApiMessageType.fromApiKey(api).newRequest(), version, data);
    }

    static ApiMessage response(short api, short version, byte[] data) {
        return read(ApiMessageType.fromApiKey(api).newResponse(), version, data);
    }

    private static ApiMessage read(ApiMessage message, short version, byte[] data) {
        message.read(new ByteBufferAccessor(ByteBuffer.wrap(data)), version);
        return message;
    }

    static VoterSet voters(String base64) {
        return VoterSet.fromVotersRecord(
            new VotersRecord(new ByteBufferAccessor(ByteBuffer.wrap(bytes(base64))), (short) 0));
    }

    static String voters(VoterSet voters) {
        return text(written(voters.toVotersRecord((short) 0), (short) 0));
    }

    /** The bytes of a message. Records that are still in a file are read first. */
    static byte[] written(Message message, short version) {
        if (message instanceof FetchResponseData fetch)
            fetch.responses().forEach(topic -> topic.partitions().forEach(p -> p.setRecords(inMemory(p.records()))));
        if (message instanceof FetchSnapshotResponseData snapshot)
            snapshot.topics().forEach(topic -> topic.partitions().forEach(
                p -> p.setUnalignedRecords(inMemory(p.unalignedRecords()))));
        ObjectSerializationCache cache = new ObjectSerializationCache();
        message.size(cache, version);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        message.write(new RecordsWritable(new DataOutputStream(out)), cache, version);
        return out.toByteArray();
    }

    private static final class RecordsWritable extends DataOutputStreamWritable {
        RecordsWritable(DataOutputStream out) { super(out); }

        @Override public void writeRecords(BaseRecords records) {
            if (records instanceof MemoryRecords memory) writeByteBuffer(memory.buffer().duplicate());
            else writeByteBuffer(((UnalignedMemoryRecords) records).buffer().duplicate());
        }
    }

    static BaseRecords inMemory(BaseRecords records) {
        try {
            if (records == null) return MemoryRecords.EMPTY;
            if (records instanceof FileRecords file) {
                ByteBuffer buffer = ByteBuffer.allocate(file.sizeInBytes());
                file.readInto(buffer, 0);
                return MemoryRecords.readableRecords(buffer);
            }
            if (records instanceof UnalignedFileRecords file) {
                ByteBuffer buffer = ByteBuffer.allocate(file.sizeInBytes());
                Utils.readFully((FileChannel) field(file, "channel"), buffer, (Long) field(file, "position"));
                buffer.flip();
                return new UnalignedMemoryRecords(buffer);
            }
            return records;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A private field of one of Kafka's objects. */
    static Object field(Object object, String name) {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(object);
            } catch (NoSuchFieldException e) {
                continue;
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException(object.getClass() + " has no field " + name);
    }
}
