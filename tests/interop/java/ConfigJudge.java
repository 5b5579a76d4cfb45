// Asks KafkaConfig of a release whether it takes configurations: one JSON object of keys a line on stdin, one JSON
// object a line on stdout, {"refused": null or the message, "directory": where the metadata belongs, "advertised":
// the controller listeners as "NAME host port"}.
//
//   java -cp 'libs/*' ConfigJudge.java

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.Endpoint;

public class ConfigJudge {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Properties properties = new Properties();
            for (Map.Entry<?, ?> each : ((Map<?, ?>) json.readValue(line, Map.class)).entrySet())
                properties.put(each.getKey(), each.getValue());
            ObjectNode answer = json.createObjectNode();
            try {
                KafkaConfig config = KafkaConfig.fromProps(properties, false);
                answer.putNull("refused").put("directory", config.metadataLogDir());
                ArrayNode advertised = answer.putArray("advertised");
                scala.collection.Iterator<Endpoint> all = config.effectiveAdvertisedControllerListeners().iterator();
                while (all.hasNext()) {
                    Endpoint each = all.next();
                    advertised.add(each.listener() + " " + each.host() + " " + each.port());
                }
            } catch (Throwable e) {
                answer.put("refused", String.valueOf(e.getMessage()));
            }
            System.out.println(json.writeValueAsString(answer));
        }
    }
}
