package org.apache.kafka.controller;

import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;

import java.util.concurrent.CompletableFuture;

/** Kafka 4.3 cannot unregister controllers. */
final class ControllerUnregistration {
    private ControllerUnregistration() { }

    static CompletableFuture<Void> ask(QuorumController controller, ControllerRequestContext context,
                                       ByteBufferAccessor body, short version) {
        throw new UnsupportedOperationException();
    }

    static ApiMessage answer() { throw new UnsupportedOperationException(); }
}
