// What Kafka makes of changes to SCRAM credentials: who is left afterwards.
//
//   ScramLoss image CASE...            applies changes to Kafka's own image; a case is BASE|CHANGES, names with commas
//                                      between, a change is +name or -name; prints one line for each case
//   ScramLoss swap SERVER GONE KEPT    one request to a broker that removes a user and adds another; prints who the
//                                      broker then says there is
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.metadata.RemoveUserScramCredentialRecord;
import org.apache.kafka.common.metadata.UserScramCredentialRecord;
import org.apache.kafka.image.ScramDelta;
import org.apache.kafka.image.ScramImage;

public class ScramLoss {
    private static final ScramMechanism MECHANISM = ScramMechanism.SCRAM_SHA_256;

    public static void main(String[] args) throws Exception {
        if (args[0].equals("swap")) {
            print(swap(args[1], args[2], args[3]));
            return;
        }
        for (int i = 1; i < args.length; i++) {
            String[] parts = args[i].split("\\|", -1);
            print(left(parts[0], parts[1]));
        }
    }

    private static Set<String> left(String base, String changes) {
        ScramDelta before = new ScramDelta(ScramImage.EMPTY);
        for (String name : base.split(",")) {
            if (!name.isEmpty()) {
                before.replay(added(name));
            }
        }
        ScramDelta delta = new ScramDelta(before.apply());
        for (String change : changes.split(",")) {
            if (change.startsWith("+")) {
                delta.replay(added(change.substring(1)));
            } else {
                delta.replay(new RemoveUserScramCredentialRecord().
                    setName(change.substring(1)).
                    setMechanism(MECHANISM.type()));
            }
        }
        Map<String, ?> users = delta.apply().mechanisms().get(MECHANISM);
        return users == null ? Set.of() : users.keySet();
    }

    private static UserScramCredentialRecord added(String name) {
        return new UserScramCredentialRecord().setName(name).setMechanism(MECHANISM.type()).
            setSalt(new byte[1]).setStoredKey(new byte[1]).setServerKey(new byte[1]).setIterations(4096);
    }

    private static Set<String> swap(String server, String gone, String kept) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", server))) {
            admin.alterUserScramCredentials(List.of(
                new UserScramCredentialDeletion(gone, MECHANISM),
                new UserScramCredentialUpsertion(kept, new ScramCredentialInfo(MECHANISM, 4096),
                    "CANARY-scram".getBytes(StandardCharsets.UTF_8), "CANARY-salt".getBytes(StandardCharsets.UTF_8))
            )).all().get();
            // The broker answers from its image; it has the removal as soon as it has the rest of the batch.
            Set<String> users = Set.copyOf(admin.describeUserScramCredentials().users().get());
            while (users.contains(gone)) {
                users = Set.copyOf(admin.describeUserScramCredentials().users().get());
            }
            return users;
        }
    }

    private static void print(Set<String> names) {
        System.out.println(String.join(",", new TreeSet<>(names)));
    }
}
