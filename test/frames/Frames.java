import com.github.luben.zstd.Zstd;
import io.airlift.compress.zstd.ZstdDecompressor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Decodes every frame in the folder with aircompressor and zstd-jni, and compares the contents. */
public class Frames {
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        byte[] frames = Files.readAllBytes(folder.resolve("frames"));
        byte[] contents = Files.readAllBytes(folder.resolve("contents"));
        ZstdDecompressor decompressor = new ZstdDecompressor();
        int at = 0, from = 0, number = 0;
        for (String line : Files.readAllLines(folder.resolve("index"))) {
            int size = Integer.parseInt(line.split(" ")[0]), length = Integer.parseInt(line.split(" ")[1]);
            byte[] expected = Arrays.copyOfRange(contents, from, from + length), found = new byte[length];
            int decoded = decompressor.decompress(frames, at, size, found, 0, length);
            byte[] other = Zstd.decompress(Arrays.copyOfRange(frames, at, at + size), length);
            if (decoded != length || !Arrays.equals(found, expected) || !Arrays.equals(other, expected)) {
                throw new Exception("frame " + number + ", " + length + " bytes, is not what it contains");
            }
            at += size;
            from += length;
            number++;
        }
        System.out.println(number + " frames");
    }
}
