// Runs kafka-dump-log on one file after the other in one JVM, each as if it were alone. Owns nothing but the loop.
// After each file's output come a NUL, the exception by which the tool ended (empty when it came to its end), a NUL.
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import org.apache.kafka.tools.DumpLogSegments;

public class DumpEach {
    public static void main(String[] files) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
        System.setOut(out);
        for (String file : files) {
            String ending = "";
            try {
                DumpLogSegments.main(new String[] {"--cluster-metadata-decoder", "--files", file});
            } catch (Throwable thrown) {
                ending = thrown.toString().replace('\0', ' ');
            }
            out.print("\0" + ending + "\0");
            out.flush();
        }
    }
}
