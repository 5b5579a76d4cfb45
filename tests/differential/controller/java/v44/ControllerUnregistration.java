package org.apache.kafka.controller;

import org.apache.kafka.common.message.UnregisterControllerRequestData;
import org.apache.kafka.common.message.UnregisterControllerResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;

import java.util.concurrent.CompletableFuture;

/** The request that came with Kafka 4.4. */
final class ControllerUnregistration {
    private ControllerUnregistration() { }

    static CompletableFuture<Void> ask(QuorumController controller, ControllerRequestContext context,
                                       ByteBufferAccessor body, short version) {
        return controller.unregisterController(context, new UnregisterControllerRequestData(body, version).controllerId());
    }

    static ApiMessage answer() { return new UnregisterControllerResponseData(); }
}
