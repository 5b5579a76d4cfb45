package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Drives one real raft client by lines of JSON: a command a line on stdin, its answer a line on stdout. */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static RealNode node;

    private Driver() { }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine())
            out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }

    /** Carry out a command. "fatal" names an exception, which ends the node. */
    private static ObjectNode answer(JsonNode command) {
        try {
            switch (command.get("command").asText()) {
                case "fill": Disk.fill(command); return JSON.createObjectNode();
                case "start":
                    stop();
                    node = new RealNode(command);
                    return node.did();
                case "stop": stop(); return JSON.createObjectNode();
                default: return node.step(command);
            }
        } catch (Throwable error) {
            ObjectNode answer = JSON.createObjectNode().put("fatal", error.toString());
            ArrayNode trace = answer.putArray("trace");
            Arrays.stream(error.getStackTrace()).limit(10).forEach(frame -> trace.add(frame.toString()));
            return answer;
        }
    }

    private static void stop() {
        if (node != null) node.close();
        node = null;
    }
}
