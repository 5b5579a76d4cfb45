package org.apache.kafka.controller;

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

/** Drives one real QuorumController by lines of JSON: a command a line on stdin, its answer a line on stdout. */
public final class ControllerDriver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static RealController controller;

    private ControllerDriver() { }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine())
            out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }

    /** Carry out a command. "fatal" names an exception, after which the controller is of no use. */
    private static ObjectNode answer(JsonNode command) {
        try {
            if (command.get("command").asText().equals("start")) {
                if (controller != null) controller.close();
                controller = new RealController(command);
                return controller.did();
            }
            return controller.step(command);
        } catch (Throwable error) {
            ObjectNode answer = JSON.createObjectNode().put("fatal", error.toString());
            ArrayNode trace = answer.putArray("trace");
            Arrays.stream(error.getStackTrace()).limit(10).forEach(frame -> trace.add(frame.toString()));
            return answer;
        }
    }
}
