"""Opens traces in Perfetto's interface and holds what its engine says against the files. TAP output, after the plan.

    perfetto.py CHROMIUM WEB_DIST DIR     DIR/{mixed,service,window}/timeline.json

Chromium is spoken to in its DevTools protocol over a pipe (--remote-debugging-pipe: messages end with a NUL). Standard library only.
"""

import base64
import collections
import functools
import http.server
import json
import os
import select
import subprocess
import sys
import threading
import time

TESTS = 22
HOUR = 3600 * 10**9


class Server(http.server.SimpleHTTPRequestHandler):
    """The interface from WEB_DIST, /trace/NAME from DIR; as Perfetto's own server it may be read from anywhere."""

    traces = ""

    def translate_path(self, path):
        if path.startswith("/trace/"):
            return os.path.join(self.traces, os.path.basename(path), "timeline.json")
        return super().translate_path(path)

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_):
        pass


class Browser:
    def __init__(self, program, profile):
        there, self.to = os.pipe()
        self.of, back = os.pipe()

        def wire():  # it reads from 3 and writes to 4
            a, b = os.dup(there), os.dup(back)
            os.dup2(a, 3)
            os.dup2(b, 4)

        options = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --window-size=1280,1600".split()
        options += ["--user-data-dir=" + profile, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank"]
        self.process = subprocess.Popen(
            [program] + options, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(back)
        self.n, self.rest, self.page, self.thrown = 0, b"", None, []

    def message(self):
        while b"\0" not in self.rest:
            if not select.select([self.of], [], [], 30)[0]:
                raise TimeoutError("the browser says nothing for 30 s")
            got = os.read(self.of, 1 << 20)
            if not got:
                raise EOFError("the browser is gone")
            self.rest += got
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.n += 1
        sent = {"id": self.n, "method": method, "params": params}
        if self.page:
            sent["sessionId"] = self.page
        os.write(self.to, json.dumps(sent).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("method") == "Runtime.exceptionThrown":
                self.thrown.append(json.dumps(got["params"])[:400])
            if got.get("id") == sent["id"]:
                if "error" in got:
                    raise RuntimeError(method + ": " + json.dumps(got["error"]))
                return got["result"]

    def open(self, url):
        self.page = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.page = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Page.navigate", url=url)

    def js(self, text):
        got = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:800])
        return got["result"].get("value")

    def end(self):
        self.page = None
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def sql(browser, query):
    """Rows, as lists; whole numbers as such (they come as BigInt, which JSON has not)."""
    return browser.js("""(async () => {
        const got = await app.trace.engine.query(%s), rows = [];
        for (const it = got.iter({}); it.valid(); it.next())
            rows.push(got.columns().map(c => { const v = it.get(c); return typeof v === 'bigint' ? Number(v) : v; }));
        return rows; })()""" % json.dumps(query))


def load(browser, url):
    browser.open(url)
    end = time.monotonic() + 40
    # the interface has drawn the names of the groups once it has the trace
    while not browser.js("!!(window.app && app.trace && app.trace.engine && document.querySelector('canvas') &&"
                         " app.trace.workspaces.currentWorkspace.children.length)"):
        if time.monotonic() > end:
            raise TimeoutError("the trace is not loaded after 40 s: " + str(browser.js("document.body.innerText"))[:400])
        time.sleep(0.1)


class File:
    """What stands in a timeline.json."""

    def __init__(self, path):
        events = json.load(open(path, encoding="utf-8"))["traceEvents"]
        names = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"].endswith("_name")}
        process = {pid: name for (what, pid, _), name in names.items() if what == "process_name"}
        self.policies = [name for pid, name in sorted(process.items()) if pid > 0]
        self.slices, self.counters, self.tracks = collections.Counter(), collections.Counter(), {}
        self.starts = self.marks = 0
        for e in events:
            if e["ph"] in "Xi":
                track = names["thread_name", e["pid"], e["tid"]]
                self.tracks.setdefault(process[e["pid"]], {})[e["tid"]] = track
                self.slices[process[e["pid"]], track, e["name"], e["ts"] * 1000, e.get("dur", 0) * 1000] += 1
                self.starts += e["name"] == "start-up"
                self.marks += e["ph"] == "i"
            elif e["ph"] == "C":
                (key, value), = e["args"].items()
                self.counters[process[e["pid"]], e["name"] + " " + key, e["ts"] * 1000, value] += 1


# What Perfetto could not make sense of, or left out.
COMPLAINTS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"

failed = done = 0


def check(what, good, found=""):
    global failed, done
    done += 1
    failed += not good
    print("%s %d %s" % ("ok" if good else "not ok", done, what), flush=True)
    if not good:
        print("# found: " + str(found)[:2000], flush=True)


def differ(a, b):
    return list((a - b).items())[:3], list((b - a).items())[:3]


def look(browser, name, path):
    """Six tests of a trace that is loaded."""
    want = File(path)
    said = sql(browser, COMPLAINTS)
    check(name + ": Perfetto complains of nothing and drops nothing", said == [], said)
    got = collections.Counter(tuple(r) for r in sql(browser, """
        select p.name, t.name, s.name, s.ts, s.dur from slice s join thread_track k on s.track_id = k.id
        join thread t using (utid) join process p using (upid)"""))
    total = sql(browser, "select count(*) from slice")[0][0]
    check("%s: all %d slices are there, each on the track of its card and slot" % (name, sum(want.slices.values())),
          got == want.slices and total == sum(want.slices.values()) > 100, (total, differ(got, want.slices)))
    nested = sql(browser, """select count(*), count(p.id), sum(s.ts = p.ts), sum(s.ts + s.dur <= p.ts + p.dur), sum(s.name = 'start-up'),
        sum(p.depth = 0) from slice s left join slice p on s.parent_id = p.id where s.depth > 0""")[0]
    check("%s: they nest: %d starts inside their jobs, nothing else" % (name, want.starts), nested == [want.starts] * 6, nested)
    # Its reader of decimals is off by a last bit here and there.
    got = collections.Counter((*r[:3], float("%.12g" % r[3])) for r in sql(browser, """
        select p.name, k.name, c.ts, c.value from counter c join process_counter_track k on c.track_id = k.id join process p using (upid)"""))
    kinds = {k[1] for k in want.counters}
    check(name + ": the counters of each policy are there", got == want.counters and
          kinds == {"jobs waiting", "card time held %", "power W"} and
          {(k[0], k[1]) for k in got} == {(p, k) for p in want.policies for k in kinds}, differ(got, want.counters))
    # The tree at the left: a group a policy, in it the tracks in the order of cards and slots, then the counters.
    tree = dict(browser.js("app.trace.workspaces.currentWorkspace.children.map(g => { const names = [], leaf = n => {"
                           " if (n.children.length) n.children.forEach(leaf); else names.push(n.name); }; leaf(g); return [g.name, names]; })"))
    order = {"%s %d" % (p, i + 1): ["%s %d" % (track, tid) for tid, track in sorted(want.tracks[p].items())] + sorted(kinds)
             for i, p in enumerate(want.policies)}
    check(name + ": a group for each policy, its cards and slots in order", tree == order, [
        (k, tree.get(k), order.get(k)) for k in {**tree, **order} if tree.get(k) != order.get(k)][:1])
    end = time.monotonic() + 20
    text = browser.js("document.body.innerText")
    while not all(g in text for g in order) and time.monotonic() < end:
        time.sleep(0.3)
        text = browser.js("app.raf.scheduleFullRedraw(), document.body.innerText")
    check(name + ": it is drawn", all(g in text for g in order), text)
    if os.environ.get("SHOTS"):
        browser.js("app.trace.workspaces.currentWorkspace.children.forEach(g => g.expand()); app.raf.scheduleFullRedraw()")
        time.sleep(2)
        with open(os.path.join(os.environ["SHOTS"], name + ".png"), "wb") as f:
            f.write(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
    return want


def overlapping(path):
    """The control: a file with a slice that sticks out of its parent. Were this not told, no complaint would mean nothing."""
    events = [{"name": "a", "ph": "X", "ts": 0, "dur": 10, "pid": 1, "tid": 2}, {"name": "b", "ph": "X", "ts": 5, "dur": 10, "pid": 1, "tid": 2}]
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"traceEvents": events}, f)


def main(program, web, traces):
    Server.traces = traces
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=web))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = "http://127.0.0.1:%d/" % server.server_address[1]
    overlapping(os.path.join(traces, "control", "timeline.json"))
    browser = Browser(program, os.path.join(traces, "profile"))
    try:
        wants = {}
        for name in ("mixed", "service", "window"):
            load(browser, root + "index.html#!/?url=" + root + "trace/" + name)
            wants[name] = look(browser, name, os.path.join(traces, name, "timeline.json"))
        bounds = sql(browser, "select start_ts, end_ts from trace_bounds")[0]
        check("window: it begins at 30 h and ends by 50 h, and the view does", 30 * HOUR == bounds[0] < bounds[1] <= 50 * HOUR, bounds)
        check("window: each policy says how many were left out", wants["window"].marks == 2, wants["window"].marks)
        load(browser, root + "index.html#!/?url=" + root + "trace/control")
        told = sql(browser, COMPLAINTS)
        check("a slice that does not nest would be told", told != [], told)
        check("no script fails", not browser.thrown, browser.thrown)
    except (OSError, EOFError, TimeoutError, RuntimeError) as e:
        while done < TESTS:
            check("not reached", False, e)
    finally:
        browser.end()
        server.shutdown()
    return failed > 0


sys.exit(main(*sys.argv[1:]))
