import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  static final byte[] SECRET = System.getenv("WEBHOOK_SECRET").getBytes(StandardCharsets.UTF_8);

  static boolean verified(String timestamp, byte[] body, String signature) throws Exception {
    if (!timestamp.matches("[0-9]{1,12}")) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
    mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
    String wanted = "v1=" + HexFormat.of().formatHex(mac.doFinal(body));
    return MessageDigest.isEqual(wanted.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", exchange -> {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String timestamp = Objects.toString(exchange.getRequestHeaders().getFirst("X-Brokerage-Timestamp"), "");
      String signature = Objects.toString(exchange.getRequestHeaders().getFirst("X-Brokerage-Signature"), "");
      boolean ok;
      try {
        ok = verified(timestamp, body, signature);
      } catch (Exception impossible) {
        ok = false;
      }
      exchange.sendResponseHeaders(ok ? 204 : 400, -1);
      exchange.close(); // first the answer, then the work: deduplicate by id
      if (ok) System.out.println(new String(body, StandardCharsets.UTF_8));
    });
    server.start();
  }
}
