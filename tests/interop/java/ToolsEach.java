// Runs Kafka's command line tools many times in one JVM: a JSON array a line on stdin, the class of a tool and its
// arguments; one JSON object a line on stdout, {"code": how it ended, "out": what it printed, "err": what it said}.
//
//   java -cp 'libs/*' ToolsEach.java

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

public class ToolsEach {
    /** What a tool ends with in the stead of the JVM. */
    private static final class Ended extends Error { }

    /** How the present one ended; null as long as it runs. */
    private static Integer code;

    /** Some tools catch all that is thrown and tell of it: of what comes after the end nothing is seen. */
    private static void end(int with) {
        if (code == null) code = with;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        System.setErr(System.out);
        throw new Ended();
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        Exit.setExitProcedure((status, message) -> end(status));
        Exit.setHaltProcedure((status, message) -> end(status));
        PrintStream stdout = System.out, stderr = System.err;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] command = json.readValue(line, String[].class);
            ByteArrayOutputStream out = new ByteArrayOutputStream(), err = new ByteArrayOutputStream();
            System.setOut(new PrintStream(out, true, "UTF-8"));
            System.setErr(new PrintStream(err, true, "UTF-8"));
            code = null;
            try {
                Class.forName(command[0]).getMethod("main", String[].class).
                    invoke(null, (Object) Arrays.copyOfRange(command, 1, command.length));
            } catch (InvocationTargetException e) {
                if (code == null) {
                    code = 1;
                    System.err.println(e.getCause());
                }
            } finally {
                System.setOut(stdout);
                System.setErr(stderr);
            }
            stdout.println(json.writeValueAsString(json.createObjectNode().put("code", code == null ? 0 : code).
                put("out", out.toString("UTF-8")).put("err", err.toString("UTF-8"))));
        }
    }
}
