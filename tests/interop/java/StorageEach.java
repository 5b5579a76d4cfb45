// Runs kafka-storage many times in one JVM: a JSON array of arguments a line on stdin, one JSON object a line on
// stdout, {"code": how it ended, "out": what it printed, "error": the message it ended with or null}.
//
//   java -cp 'libs/*' StorageEach.java

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

public class StorageEach {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        Method execute = Class.forName("kafka.tools.StorageTool").getMethod("execute", String[].class, PrintStream.class);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ByteArrayOutputStream told = new ByteArrayOutputStream();
            ObjectNode answer = json.createObjectNode();
            try {
                Object code = execute.invoke(null, json.readValue(line, String[].class), new PrintStream(told, true, "UTF-8"));
                answer.put("code", ((Integer) code).intValue()).putNull("error");
            } catch (InvocationTargetException e) {
                answer.put("code", 1).put("error", String.valueOf(e.getCause().getMessage()));
            }
            System.out.println(json.writeValueAsString(answer.put("out", told.toString("UTF-8"))));
        }
    }
}
