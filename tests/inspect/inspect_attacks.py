#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inspect_attacks.py HOST: what a hostile program or page may send to the inspector, row by row: each must be
refused, and the program must go on stepping as before. Loopback only."""
import errno
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import threading
import time

HOST = sys.argv[1]
failed = passed = 0


class Program:
    def __init__(self, *options):
        # AddressSanitizer keeps what was freed: not so much that it looks like a leak
        kept = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
        self.process = subprocess.Popen([HOST, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "ASAN_OPTIONS": kept})
        url = self.process.stdout.readline().split()[1]
        self.port = int(url.split(":")[2].split("/")[0])
        self.token = url.split("#")[1]

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        return s

    def send(self, data, half=False):
        """Sends bytes, reads until the other side closes or a reply is whole; returns what came."""
        with self.connect() as s:
            try:
                s.sendall(data)
                if half:
                    s.shutdown(socket.SHUT_WR)
                return read_reply(s)
            except (ConnectionResetError, BrokenPipeError):
                return b""

    def head(self, method="POST", path="/api", host=None, token=True, body=b"{}", **more):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}"]
        if token:
            lines.append(f"X-Weft-Token: {self.token if token is True else token}")
        if method == "POST":
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{k.replace('_', '-')}: {v}" for k, v in more.items() if v is not None]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body if method == "POST" else b"")

    def ask(self, **request):
        body = json.dumps(request).encode()
        reply = self.send(self.head(body=body))
        return status(reply), json.loads(reply.split(b"\r\n\r\n", 1)[1] or b"{}")

    def steps(self, count):
        """Whether it makes so many steps more; a minute only ends what hangs."""
        frame = lambda: self.ask(do="status")[1].get("frame", 0)  # 0: more requests than the rate
        first, end = frame(), time.monotonic() + 60
        while first == 0 or frame() < first + count:
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
            first = first or frame()
        return True

    def end(self):
        out = self.process.communicate("")[0]
        return self.process.returncode, out


def read_reply(s):
    data = b""
    while True:
        part = s.recv(65536)
        if not part:
            return data
        data += part
        head, mark, body = data.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if mark and lengths and len(body) >= int(lengths[0].split(b":")[1]):
            return data


def status(reply):
    return int(reply.split(b" ")[1]) if reply.startswith(b"HTTP/1.") else 0


def check(name, condition, shown=""):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(f"FAILED: {name}: {shown}")


def refused(program, name, data, *codes, half=False):
    """The reply has one of the codes; 0: closed without one."""
    got = status(program.send(data, half))
    check(name, got in codes, f"{got}, expected {codes}")


def headers(p):
    """83, 84, 91: malformed heads, smuggling, other protocols."""
    host = f"Host: 127.0.0.1:{p.port}\r\n".encode()
    key = f"X-Weft-Token: {p.token}\r\nContent-Type: application/json\r\n".encode()
    post = b"POST /api HTTP/1.1\r\n" + host + key
    refused(p, "83 a header of 1 MiB", b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * (1 << 20) + b"\r\n\r\n", 400, 431, 413, 0)
    refused(p, "83 100,000 headers", b"GET / HTTP/1.1\r\n" + host + b"X: a\r\n" * 100000 + b"\r\n", 400, 431, 413, 0)
    page, cut = p.send(p.head("GET", "/")), p.send(b"GET /\0/api HTTP/1.1\r\n" + host + b"\r\n")
    check("83 what follows a NUL in the target is not seen", status(cut) in (400, 404) or cut.split(b"\r\n\r\n")[1] == page.split(b"\r\n\r\n")[1], cut[:80])
    refused(p, "83 a folded header", b"POST /api HTTP/1.1\r\n" + host + b"X-Weft-Token:\r\n " + p.token.encode() + b"x\r\nContent-Length: 2\r\n\r\n{}", 400, 401)
    for name, line in (("a CR in a value", b"X: a\rY: b"), ("a blank before the colon", b"X : a"), ("a control character", b"X: \x1b[2J")):
        refused(p, f"83 {name}", b"GET / HTTP/1.1\r\n" + host + line + b"\r\n\r\n", 400)
    refused(p, "83 bare LF without a token", b"POST /api HTTP/1.1\n" + host.replace(b"\r", b"") + b"Content-Length: 2\n\n{}", 400, 401, 403)
    refused(p, "84 a negative length", post + b"Content-Length: -1\r\n\r\n{}", 400)
    refused(p, "84 a length of words", post + b"Content-Length: two\r\n\r\n{}", 400)
    refused(p, "84 a huge length", post + b"Content-Length: 99999999999999999999\r\n\r\n{}", 400, 413)
    refused(p, "84 two lengths", post + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}", 400)
    refused(p, "84 a length and chunks", post + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n" + host + b"\r\n", 400)
    refused(p, "84 a body of 65,537 bytes", p.head(body=b" " * 65537), 413)
    refused(p, "91 HTTP/0.9", b"GET /\r\n", 400, 505, 0, half=True)
    refused(p, "91 the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 405, 505, 0)
    refused(p, "91 a TLS hello", bytes.fromhex("16030100c8010000c40303") + b"\x5a" * 200 + b"\r\n\r\n", 400, 405, 505, 0, half=True)
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "WEFT", "get"):
        refused(p, f"91 {method}", p.head(method, "/"), 400, 405, 501)
    refused(p, "91 GET of the interface", p.head("GET", "/api"), 405)
    refused(p, "91 POST of a page", p.head("POST", "/"), 405)
    refused(p, "91 no Host", b"GET / HTTP/1.1\r\n\r\n", 400)
    refused(p, "91 two Hosts", b"GET / HTTP/1.1\r\n" + host + host + b"\r\n", 400)


def origins(p):
    """85, 86: pages of other names and sites."""
    for name in ("evil.example", f"evil.example:{p.port}", "localhost6", f"localhost6:{p.port}", "127.0.0.1", "127.0.0.1:1",
                 f"127.0.0.1.evil.example:{p.port}", f"0.0.0.0:{p.port}", f"[::]:{p.port}", f"localhost:{p.port}@evil"):
        refused(p, f"85 Host {name}", p.head("GET", "/", host=name), 400, 403)
        refused(p, f"85 Host {name} with the key", p.head(host=name), 400, 403)
    for name in (f"localhost:{p.port}", f"[::1]:{p.port}", f"LOCALHOST:{p.port}"):
        check(f"85 Host {name} is this machine", status(p.send(p.head("GET", "/", host=name))) == 200)
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{p.port}", f"http://127.0.0.1:{p.port + 1}",
                   f"http://127.0.0.1:{p.port}.evil.example", "file://"):
        refused(p, f"86 Origin {origin}", p.head(Origin=origin), 403)
    for site in ("cross-site", "same-site", "strange"):
        refused(p, f"86 Sec-Fetch-Site {site}", p.head(Sec_Fetch_Site=site), 403)
        refused(p, f"86 a page from {site}", p.head("GET", "/main.js", token=None, Sec_Fetch_Site=site), 403)
    refused(p, "86 a link from cross-site", p.head("GET", "/", token=None, Sec_Fetch_Site="cross-site"), 403)
    simple = p.head().replace(b"application/json", b"text/plain")
    refused(p, "86 a simple POST of a form", simple, 415)
    preflight = p.send(p.head("OPTIONS", "/api", token=None, Origin="http://evil.example", Access_Control_Request_Method="POST"))
    check("86 a preflight", status(preflight) in (403, 405) and b"access-control" not in preflight.lower(), preflight[:80])
    page = p.send(p.head("GET", "/", token=None))
    check("86 no answer allows other origins", b"access-control" not in page.lower())
    check("94 the policy of the page", b"Content-Security-Policy: default-src 'self'" in page, page[:300])


def keys(p):
    """87: the token."""
    refused(p, "87 no token", p.head(token=None), 401)
    for wrong in ("", "0" * 32, p.token[:-1], p.token + "0", p.token.upper() if p.token.upper() != p.token else "x", "\xff" * 32):
        refused(p, f"87 the token {wrong!r}", p.head(token=wrong or " "), 401, 400)
    refused(p, "87 a token in the URL", p.head("POST", f"/api?token={p.token}", token=None), 401)
    refused(p, "87 events without a token", p.head("GET", "/events", token=None), 401)
    with open(f"/proc/{p.process.pid}/cmdline", "rb") as f:
        check("87 the token is in no command line", p.token.encode() not in f.read())


def paths(p):
    """88: the file system."""
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%5c..%5cetc", "//etc/passwd", "/etc/passwd", "/%00", "/index.html%00.js",
                 "/\xc0\xae\xc0\xae/etc/passwd", "/./index.html", "/index.html/", "/page.css%20", "/" + "a" * 8000, "/INDEX.HTML", "/.git/config"):
        got = p.send(p.head("GET", path, token=None))
        check(f"88 {path[:40]}", status(got) in (400, 404, 414, 431) and b"root:" not in got, f"{status(got)}")
    refused(p, "88 a whole URL as target", p.head("GET", "http://evil.example/", token=None), 400, 404)


def addresses(p):
    """89: only 127.0.0.1 is bound."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        bound = [line.split()[1] for line in f if line.split()[1].endswith(f":{p.port:04X}") and line.split()[3] == "0A"]
    check("89 the socket is of 127.0.0.1", bound == [f"0100007F:{p.port:04X}"], bound)
    with open("/proc/net/tcp6", encoding="ascii") as f:
        check("89 and of no other family", not any(f":{p.port:04X} " in line for line in f))


def requests(p):
    """Bodies: no request reaches what it may not, and nothing ends the program."""
    for body in (b"", b"null", b"[]", b"{", b'{"do":1}', b'{"do":"nothing"}', b'{"do":"status"} {}', b'{"do":"watch"}', b"\xff\xfe", b'{"do":"\\u0000"}',
                 b'{"do":"watch","stream":1,"what":[{"do":"pause"}]}', b'{"do":"watch","stream":999,"what":[]}', b"[" * 60000,
                 b'{"do":"watch","stream":1,"what":' + b'[{"do":"status"},' * 40 + b"0]}"):
        refused(p, f"a body {body[:30]!r}", p.head(body=body), 400, 404)
    for request, code in (({"do": "entity", "entity": "4294967295:4294967295"}, 404), ({"do": "entity", "entity": "0:0"}, 404),
                          ({"do": "entities", "query": "Nothing"}, 422), ({"do": "entities", "query": "Position|" * 40}, 422),
                          ({"do": "entities", "query": "x" * 5000}, 400), ({"do": "archetype", "archetype": 4000000000}, 404),
                          ({"do": "tree", "relation": "Position"}, 404), ({"do": "explain", "a": "move", "b": "?"}, 404),
                          ({"do": "speed", "speed": -1}, 422), ({"do": "speed", "speed": 1e300}, 422),
                          ({"do": "set", "entity": "1:1", "component": "Position", "path": "x", "value": 1}, 403),
                          ({"do": "switch", "system": "move", "enabled": False}, 403), ({"do": "section", "section": "north", "load": False}, 403)):
        got, answer = p.ask(**request)
        check(f"{request}", got == code and "error" in answer, f"{got} {answer}")
    name = "<script>alert(1)</script>"
    found = p.ask(do="search", part="<script>")[1]["rows"]
    check("94 hostile names are JSON", len(found) == 1 and found[0]["name"].startswith(name), found)


def pipelines(p):
    """91, 93: several requests in one packet; a client that dies while it is answered."""
    with p.connect() as s:
        s.sendall(p.head(body=b'{"do":"status"}') * 3)
        data, end = b"", time.monotonic() + 10
        while data.count(b"HTTP/1.1 200") < 3 and time.monotonic() < end:
            data += s.recv(65536)
        check("91 three requests in one packet have three answers", data.count(b"HTTP/1.1 200") == 3)
    for _ in range(50):
        s = p.connect()
        s.sendall(p.head(body=b'{"do":"entities","query":"Position","count":200}'))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    check("93 clients that die do not end the program", p.ask(do="status")[0] == 200)


def slow_reader(p):
    """92: a stream that is not read: what waits is bounded, the program goes on."""
    with p.connect() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(p.head("GET", "/events"))
        data = b""
        while b"event: open" not in data:
            data += s.recv(4096)
        number = json.loads(data.split(b"data: ")[1].split(b"\n")[0])["stream"]
        what = [{"do": "entities", "query": "Position", "count": 200}] * 8 + [{"do": "status"}]
        check("92 a page that watches", p.ask(do="watch", stream=number, what=what)[0] == 200)
        before = memory(p)
        check("92 the program goes on while nothing is read", p.steps(300))
        check("92 what waits is bounded", memory(p) < before + 32 * 1024, f"{before} to {memory(p)} KiB")
    streams = []
    for _ in range(12):
        s = p.connect()
        s.sendall(p.head("GET", "/events"))
        streams.append((s, status(s.recv(4096))))
    check("92 at most 8 streams", [code for _, code in streams].count(200) <= 8 and streams[-1][1] == 503, [c for _, c in streams])
    for s, _ in streams:
        s.close()


def memory(p, what="VmRSS"):
    """KiB that the program has now, or with VmPeak: the most addresses that it ever had."""
    with open(f"/proc/{p.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(what))


def descriptors(p):
    return len(os.listdir(f"/proc/{p.process.pid}/fd"))


def half_requests(p):
    """83, 84: what never ends is ended."""
    head = p.head(body=b"").replace(b"Content-Length: 0", b"Content-Length: 1073741824")
    refused(p, "83 no end of the head", b"GET / HTTP/1.1\r\nHost: x\r\n", 400, 408, 0, half=True)
    before = memory(p, "VmPeak")  # the program's own steps move what is resident, but by no 512 MiB of addresses
    refused(p, "84 a claim of 1 GiB that does not come", head + b"{", 400, 413, 0, half=True)
    check("84 nothing was allocated for it", memory(p, "VmPeak") < before + (512 << 10), f"{before} KiB to {memory(p, 'VmPeak')}")


def slow_writers(p):
    """82: requests that trickle in on every connection that there is: they end after 10 s, and cost nothing."""
    began = time.monotonic()
    sockets = [p.connect() for _ in range(60)]
    for s in sockets:
        s.sendall(b"POST /api HTTP/1.1\r\n")
        s.setblocking(False)
    frames = lambda: sum(int(part) for part in open(f"/proc/{p.process.pid}/stat", encoding="ascii").read().split()[13:15])
    busy = frames()
    ended = set()
    while len(ended) < 32 and time.monotonic() < began + 60:
        time.sleep(0.5)
        for i, s in enumerate(sockets):
            try:
                s.sendall(b"X")
                if s.recv(1) == b"":
                    ended.add(i)
            except BlockingIOError:
                pass
            except OSError:
                ended.add(i)
    check("82 slow requests are ended", len(ended) >= 32, f"{len(ended)} in {time.monotonic() - began:.0f} s")
    check("82 the program was not kept busy", frames() - busy < 100 * 2 * (time.monotonic() - began), frames() - busy)
    for s in sockets:
        s.close()
    check("82 the program steps as before", p.steps(100))


def burst(p, count):
    """So many connections with a request each before any answer is read: the statuses."""
    sockets = [p.connect() for _ in range(count)]
    for s in sockets:
        s.sendall(p.head("GET", "/icon.svg", token=None))
    found = [status(read_reply(s)) for s in sockets]
    for s in sockets:
        s.close()
    return found


def floods(p):
    """90: 1,000 connections opened and dropped, some in the middle of a request: no leak, no stall."""
    p.ask(do="status")
    files, before = descriptors(p), memory(p)
    for i in range(1000):
        s = p.connect()
        if i % 4 == 1:
            s.sendall(b"GET / HT")
        elif i % 4 == 2:
            s.sendall(p.head("GET", "/events"))
        elif i % 4 == 3:
            s.sendall(p.head(body=b'{"do":"archetypes"}'))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
        if i % 100 == 99:
            check("90 the program answers in between", p.ask(do="status")[0] in (200, 429))
    end = time.monotonic() + 20
    while descriptors(p) > files and time.monotonic() < end:
        time.sleep(0.1)
    check("90 no descriptor is left", descriptors(p) <= files, f"{files} to {descriptors(p)}")
    check("90 no memory is left", memory(p) < before + 8192, f"{before} to {memory(p)} KiB")
    time.sleep(0.6)
    statuses, end = [], time.monotonic() + 60
    while 429 not in statuses and time.monotonic() < end:
        statuses += burst(p, 28)
    check("90 more requests than the rate are refused", 429 in statuses and statuses.count(200) >= 100, set(statuses))
    time.sleep(1)
    check("90 and then answered again", p.ask(do="status")[0] == 200)


def no_descriptors():
    """90: accept fails for want of descriptors: the program goes on, and answers when there are some again."""
    p = Program()
    soft = descriptors(p) + 2
    resource.prlimit(p.process.pid, resource.RLIMIT_NOFILE, (soft, soft))
    sockets = [p.connect() for _ in range(8)]
    ticks = lambda: sum(int(x) for x in open(f"/proc/{p.process.pid}/stat", encoding="ascii").read().split()[13:15])
    begin = ticks()
    time.sleep(1)
    check("90 no descriptors: no spinning", ticks() - begin < 90, ticks() - begin)
    for s in sockets:
        s.close()
    check("90 no descriptors: answers afterwards", p.ask(do="status")[0] == 200)
    check("90 no descriptors: ends well", p.end()[0] == 0)


def ends():
    """95: the program ends while pages look and requests wait."""
    p = Program("--quick")
    stop = threading.Event()
    codes = set()

    def look():
        while not stop.is_set():
            try:
                codes.add(status(p.send(p.head(body=b'{"do":"entities","query":"Position","count":200}'))))
            except (OSError, ConnectionError):
                codes.add(0)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.4)
    code, out = p.end()
    stop.set()
    for thread in threads:
        thread.join()
    check("95 the program ends well under questions", code == 0 and "HASH" in out, (code, out))
    check("95 what was asked meanwhile was answered or refused", codes <= {200, 429, 503, 0}, codes)


def slowly(rows):
    """With a program of its own, beside the others: these wait for time limits of the server."""
    p = Program()
    rows(p)
    check(f"{rows.__name__}: ends well", p.end()[0] == 0)


def main():
    beside = [threading.Thread(target=slowly, args=(rows,)) for rows in (half_requests, slow_writers)]
    for thread in beside:
        thread.start()
    p = Program()
    for rows in (headers, origins, keys, paths, addresses, requests, pipelines, slow_reader, floods):
        rows(p)
        time.sleep(0.3)  # the rate of requests recovers
        check(f"{rows.__name__}: the program still answers", p.ask(do="status")[0] == 200)
    code, out = p.end()
    check("the program ends well", code == 0 and "HASH" in out, (code, out))
    no_descriptors()
    ends()
    for thread in beside:
        thread.join()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
