// browser.mjs - Chromium without a window, driven through its pipe of the DevTools protocol; no packages.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const READY = "new Promise(done => { const look = () => window.taut && window.taut.ready || document.querySelector('.failure') ? done(1) : setTimeout(look, 10); look(); })";

export class Browser {
  constructor(program) {
    this.folder = mkdtempSync(join(tmpdir(), "taut-browser-"));
    this.child = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--disable-quic",
      "--remote-debugging-pipe", `--user-data-dir=${this.folder}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.next = 1;
    this.waiting = new Map();
    this.listeners = [];
    this.text = "";
    this.child.stdio[4].setEncoding("utf8");
    this.child.stdio[4].on("data", text => this.receive(text));
    this.ended = new Promise(done => this.child.on("exit", done));
    process.once("exit", () => { // after a failure too
      this.child.kill("SIGKILL");
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    });
  }
  receive(text) {
    this.text += text;
    for (let end; (end = this.text.indexOf("\0")) >= 0; this.text = this.text.slice(end + 1)) {
      const message = JSON.parse(this.text.slice(0, end)), call = this.waiting.get(message.id);
      if (!call) this.listeners.forEach(listen => listen(message));
      else {
        this.waiting.delete(message.id);
        if (message.error) call.fail(new Error(message.error.message));
        else call.done(message.result);
      }
    }
  }
  send(method, params = {}, sessionId) {
    const id = this.next++;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }
  // A page of this size; what it writes to the console as an error, and what it requests, are kept.
  // It is waited for, or the pages inside it with these addresses.
  async open(address, width = 1280, height = 900, mobile = false, frames = null) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.watch();
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
    const loaded = page.wait("Page.loadEventFired");
    const { errorText } = await page.send("Page.navigate", { url: address });
    if (errorText) throw new Error(`${address}: ${errorText}`);
    await loaded;
    if (!frames) await page.evaluate(READY);
    for (const frame of frames || []) await page.evaluate(READY, await page.context(frame));
    return page;
  }
  async close() {
    this.send("Browser.close").catch(() => {});
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target, errors: [], requests: [], awaited: [], contexts: [], sandboxes: [] });
    browser.listeners.push(message => {
      if (message.sessionId !== session) return;
      const { method, params } = message;
      this.awaited = this.awaited.filter(a => a.method !== method || a.done(params));
      if (method === "Target.attachedToTarget" && params.targetInfo.type === "iframe") this.sandboxes.push(new Page(browser, params.sessionId, params.targetInfo.targetId));
      if (method === "Runtime.executionContextCreated") this.contexts.push(params.context);
      if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
      if (method === "Runtime.consoleAPICalled" && params.type === "error") this.errors.push(JSON.stringify(params.args));
      if (method === "Log.entryAdded" && params.entry.level === "error") this.errors.push(params.entry.text);
      if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    });
  }
  watch() {
    const watch = this.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
    return Promise.all([watch, ...["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"].map(method => this.send(method))]);
  }
  // The page inside a frame with an origin of its own, which is another process.
  async sandbox() {
    while (!this.sandboxes.length) await new Promise(done => setTimeout(done, 10));
    const [page] = this.sandboxes;
    await page.watch();
    await page.evaluate(READY);
    return page;
  }
  wait(method) {
    return new Promise(done => this.awaited.push({ method, done }));
  }
  send(method, params) {
    return this.browser.send(method, params, this.session);
  }
  // Of the frame with this address.
  async context(address) {
    const list = ({ frame, childFrames = [] }) => [frame, ...childFrames.flatMap(list)], { frameTree } = await this.send("Page.getFrameTree");
    const { id } = list(frameTree).find(frame => frame.url + (frame.urlFragment || "") === address);
    return this.contexts.findLast(context => context.auxData.frameId === id).id;
  }
  // The value of an expression in the page, or in one of its frames.
  async evaluate(expression, contextId) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, contextId, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }
  async picture() {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }
  async print() {
    const { data } = await this.send("Page.printToPDF", { printBackground: false, preferCSSPageSize: true });
    return Buffer.from(data, "base64");
  }
  async key(key, code = key, text) {
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, code, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code });
  }
  mouse(type, x, y, more = {}) {
    return this.send("Input.dispatchMouseEvent", { type, x, y, ...more });
  }
  async click(x, y) {
    for (const type of ["mousePressed", "mouseReleased"]) await this.mouse(type, x, y, { button: "left", clickCount: 1 });
  }
  async drag(x, y, dx, dy) {
    await this.mouse("mousePressed", x, y, { button: "left", clickCount: 1 });
    for (const part of [0.5, 1]) await this.mouse("mouseMoved", x + part * dx, y + part * dy, { button: "left", buttons: 1 });
    await this.mouse("mouseReleased", x + dx, y + dy, { button: "left", clickCount: 1 });
  }
  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}
