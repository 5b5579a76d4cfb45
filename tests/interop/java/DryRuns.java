import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs kafka-features many times in one JVM: each line of stdin is a JSON array of its arguments, each
 * line of stdout a JSON object with the exit code and all that it printed.
 */
public class DryRuns {
    public static void main(String[] args) throws Exception {
        Class<?> command = Class.forName("org.apache.kafka.tools.FeatureCommand");
        Method run = command.getDeclaredMethod("mainNoExit", String[].class);
        run.setAccessible(true);
        ObjectMapper json = new ObjectMapper();
        PrintStream out = System.out;
        PrintStream err = System.err;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            List<String> words = new ArrayList<>();
            for (JsonNode word : json.readTree(line)) words.add(word.asText());
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            PrintStream both = new PrintStream(said, true, StandardCharsets.UTF_8);
            System.setOut(both);
            System.setErr(both);
            int code = (int) run.invoke(null, (Object) words.toArray(new String[0]));
            System.setOut(out);
            System.setErr(err);
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("code", code);
            told.put("said", said.toString(StandardCharsets.UTF_8));
            out.println(json.writeValueAsString(told));
        }
    }
}
