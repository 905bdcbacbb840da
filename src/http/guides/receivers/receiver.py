import hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()


def verified(timestamp: str, body: bytes, signature: str) -> bool:
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    wanted = "v1=" + hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        timestamp = self.headers.get("X-Brokerage-Timestamp", "")
        signature = self.headers.get("X-Brokerage-Signature", "")
        ok = verified(timestamp, body, signature)
        self.send_response(204 if ok else 400)
        self.end_headers()
        if ok:  # first the answer, then the work: deduplicate by id
            delivery = json.loads(body)
            print(delivery["id"], delivery["event"], flush=True)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
