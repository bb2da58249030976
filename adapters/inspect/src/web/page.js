"use strict";
// The peers choose most texts. The page shows them as text nodes only, and the browser enforces this (Trusted Types).

const MAX_MESSAGES = 2000;
const MAX_REQUESTS = 500;
const MAX_MARKS = 500;
const HIGHLIGHT_LIMIT = 40000;
const MAX_AT_ONCE = 1000;

const find = id => document.getElementById(id);
const entries = new Map();   // number of a message → its entry
const requests = [];         // rows of the time line, oldest first
const inFlight = new Map();  // sender and id → request
const marks = [];            // violations outside of requests
const queue = [];
const counts = { messages: 0, faults: 0, dropped: 0 };
let begin = null;            // time of the first message
let clock = { offset: 0, end: null };
let last = 0;
let chosen = null;

// Control characters, and characters that change the direction of text, as escapes.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const visible = text =>
  text.replace(HIDDEN, letter => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"));

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = visible(text);
  return made;
}

const seconds = ms => (ms / 1000).toFixed(3);
const duration = ms => ms < 1 ? "< 1 ms" : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
const now = () => clock.end ?? performance.now() - clock.offset;
const other = sender => sender === "client" ? "server" : "client";

// ---- Messages

function add(entry) {
  if (entry.number > last + 1) counts.dropped += entry.number - last - 1;
  last = entry.number;
  if (entry.end) Object.assign(entry, { parts: [], text: "", bytes: 0 });
  else counts.messages += 1;
  begin ??= entry.at;
  // The start of a busy page can delay its first event, and then its clock is late.
  if (clock.end === null) clock.offset = Math.min(clock.offset, performance.now() - entry.at);
  counts.faults += entry.violations.length;
  entries.set(entry.number, entry);
  entry.requests = [];
  for (const part of entry.parts) connect(entry, part);
  if (entry.end) blameOpenRequests(entry);
  entry.row = messageRow(entry);
  find("messages").append(entry.row);
  if (entry.violations.length > 0) {
    if (entry.requests.length === 0) addMark(entry);
    for (const request of entry.requests) {
      request.row.classList.add("violation");
      request.entry.row.hidden = !matches(request.entry);
    }
  }
  if (entries.size > MAX_MESSAGES) {
    const [oldest] = entries.values();
    entries.delete(oldest.number);
    oldest.row.remove();
    counts.dropped += 1;
  }
}

// Adds a message to the request that it begins, ends or mentions.
function connect(entry, part) {
  const own = `${entry.from} ${part.id}`, theirs = `${other(entry.from)} ${part.id}`;
  const mentioned = sender => inFlight.get(`${sender} ${part.target}`);
  if (part.kind === "request") {
    const request = { entry, part, from: entry.from, begin: entry.at, end: null, response: null, steps: [] };
    inFlight.set(own, request);
    entry.requests.push(request);
    addRequest(request);
  } else if (part.kind === "response" || part.kind === "error") {
    const request = inFlight.get(theirs);
    if (!request) return;
    inFlight.delete(theirs);
    request.response = entry;
    part.answers = request;
    entry.requests.push(request);
    // A response may cross the cancellation of its request.
    if (request.end === null) finish(request, entry.at, part.kind === "error" ? "error" : "answered");
  } else if (part.method === "notifications/cancelled") {
    const request = mentioned(entry.from);
    if (!request) return;
    entry.requests.push(request);
    finish(request, entry.at, "cancelled");
  } else if (part.method === "notifications/progress") {
    for (const request of inFlight.values()) {
      if (request.from !== entry.from && request.part.token === part.target) {
        entry.requests.push(request);
        addStep(request, entry.at);
        break;
      }
    }
  }
}

// At the end, each request without a response is a violation.
function blameOpenRequests(entry) {
  for (const violation of entry.violations) {
    const request = inFlight.get(`${other(violation.from)} ${violation.id}`);
    if (request) entry.requests.push(request);
  }
}

function label(part) {
  const { method, name } = part.answers?.part ?? part;
  return [method, name].filter(Boolean).join(" ").slice(0, 200);
}

function title(entry) {
  if (entry.end) return `the ${entry.from} has closed its side`;
  if (entry.parts.length === 0) return "not a message";
  if (entry.parts.length > 1) return `batch of ${entry.parts.length}`;
  const [part] = entry.parts;
  switch (part.kind) {
    case "response": return `${label(part)} result`.trim();
    case "error": return `${label(part)} error ${part.code ?? ""}`.trim();
    case "invalid": return "not a message";
    default: return label(part);
  }
}

function messageRow(entry) {
  const faulty = entry.violations.length > 0 ? " violation" : "";
  const error = entry.parts.some(part => part.kind === "error") ? " error" : "";
  const row = element("div", "message" + faulty + error);
  row.tabIndex = -1;
  row.dataset.number = entry.number;
  row.append(
    element("span", "time", seconds(entry.at)),
    element("span", `arrow ${entry.from}`, entry.from === "client" ? "→" : "←"),
    element("span", "name", title(entry)),
    element("span", "summary", entry.text.slice(0, 200)),
    element("span", "id", entry.parts.length === 1 ? entry.parts[0].id ?? "" : ""),
  );
  row.title = entry.from === "client" ? "client to server" : "server to client";
  row.addEventListener("click", () => choose(entry));
  entry.search = `${title(entry)} ${entry.text}`.toLowerCase();
  row.hidden = !matches(entry);
  return row;
}

// ---- Time line

function addRequest(request) {
  const row = element("div", `lane request open ${request.from}`);
  const text = element("div", "label");
  text.append(
    element("span", `arrow ${request.from}`, request.from === "client" ? "→" : "←"),
    element("span", "name", label(request.part)),
    element("span", "id", request.part.id),
  );
  const track = element("div", "track");
  request.bar = element("div", "bar");
  request.took = element("span", "took");
  track.append(request.bar, request.took);
  row.append(text, track);
  row.tabIndex = -1;
  row.addEventListener("click", () => choose(request.entry));
  request.row = row;
  requests.push(request);
  find("requests").append(row);
  find("no-requests").hidden = true;
  if (requests.length > MAX_REQUESTS) {
    const index = Math.max(0, requests.findIndex(request => request.end !== null));
    const [dropped] = requests.splice(index, 1);
    dropped.row.remove();
    inFlight.delete(`${dropped.from} ${dropped.part.id}`);
  }
}

function finish(request, at, className) {
  request.end = at;
  request.row.classList.replace("open", className);
}

function addStep(request, at) {
  const mark = element("span", "step");
  request.steps.push({ at, mark });
  request.row.lastChild.append(mark);
}

function addMark(entry) {
  const mark = element("button", "mark");
  mark.title = visible(entry.violations.map(violation => violation.rule).join(", "));
  mark.addEventListener("click", () => choose(entry));
  marks.push({ at: entry.at, mark });
  if (marks.length > MAX_MARKS) marks.shift().mark.remove();
  find("axis").append(mark);
}

// The length of the time between two ticks: 1, 2 or 5 times a power of ten.
function tickLength(length) {
  const power = 10 ** Math.floor(Math.log10(length / 6));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => length / step <= 8);
}

function draw() {
  const to = now();
  const from = Math.max(begin ?? 0, to - Number(find("span").value));
  const length = Math.max(to - from, 1);
  const place = at => 100 * Math.min(Math.max((at - from) / length, 0), 1);
  for (const request of requests) {
    const end = request.end ?? to;
    request.row.hidden = end < from || request.entry.row.hidden;
    if (request.row.hidden) continue;
    const [left, right] = [place(request.begin), place(end)];
    request.bar.style.left = `${left}%`;
    request.bar.style.width = `${right - left}%`;
    request.took.style.left = `${right}%`;
    request.took.textContent = duration(end - request.begin);
    for (const { at, mark } of request.steps) mark.style.left = `${place(at)}%`;
  }
  const step = tickLength(length);
  const axis = find("axis");
  for (const tick of axis.querySelectorAll(".tick")) tick.remove();
  for (let at = Math.ceil(from / step) * step; at < to; at += step) {
    const tick = element("span", "tick", `${Number((at / 1000).toFixed(3))} s`);
    tick.style.left = `${place(at)}%`;
    axis.prepend(tick);
  }
  for (const { at, mark } of marks) {
    mark.hidden = at < from;
    mark.style.left = `${place(at)}%`;
  }
}

// ---- Details

// JSON with line breaks. The other characters stay the same, so that numbers keep their digits.
function* tokens(text) {
  const pattern = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/g;
  const line = depth => "\n" + "  ".repeat(Math.max(depth, 0));
  const all = text.match(pattern) ?? [];
  let depth = 0;
  for (let index = 0; index < all.length; index += 1) {
    const token = all[index], next = all[index + 1], previous = all[index - 1];
    if (token === "{" || token === "[") {
      depth += 1;
      const isEmpty = next === "}" || next === "]";
      yield ["", token + (isEmpty ? "" : line(depth))];
    } else if (token === "}" || token === "]") {
      depth -= 1;
      const isEmpty = previous === "{" || previous === "[";
      yield ["", (isEmpty ? "" : line(depth)) + token];
    } else if (token === ",") {
      yield ["", "," + line(depth)];
    } else if (token === ":") {
      yield ["", ": "];
    } else {
      yield [token[0] !== '"' ? "other" : next === ":" ? "key" : "string", token];
    }
  }
}

function body(entry) {
  const pre = element("pre");
  if (entry.parts.length === 0 || entry.text.length > HIGHLIGHT_LIMIT) {
    pre.textContent = visible(entry.text);
  } else {
    for (const [kind, text] of tokens(entry.text)) pre.append(kind ? element("span", kind, text) : text);
  }
  if (entry.isCut) pre.append("\n… (the message is longer than the page keeps)");
  return pre;
}

function fault(violation) {
  const box = element("div", "fault");
  const level = violation.isRecommended ? "recommended" : "required";
  box.append(
    element("b", "", violation.rule),
    element("div", "", violation.text),
    element("small", "", [level, violation.revision, violation.section].filter(Boolean).join(" · ")),
  );
  return box;
}

function block(entry, note) {
  const from = entry.from === "client" ? "client → server" : "server → client";
  const at = `${from} · at ${seconds(entry.at)} s · ${entry.bytes} bytes${note}`;
  return [element("h3", "", title(entry)), element("p", "", at), ...entry.violations.map(fault), body(entry)];
}

function choose(entry) {
  for (const row of document.querySelectorAll(".chosen")) row.classList.remove("chosen");
  chosen = entry;
  find("follow").checked = false;
  entry.row.classList.add("chosen");
  for (const request of entry.requests) request.row.classList.add("chosen");
  show();
  entry.row.scrollIntoView({ block: "nearest" });
}

// A request is shown with its response, and a response with its request.
function show() {
  const shown = block(chosen, "");
  const [request] = chosen.requests;
  if (request && request.entry === chosen && request.response) {
    shown.push(...block(request.response, ` · after ${duration(request.end - request.begin)}`));
  } else if (request && request.response === chosen) {
    shown.push(...block(request.entry, ""));
  }
  const target = find("chosen");
  target.className = "";
  target.replaceChildren(...shown);
}

// ---- Filters and keys

function matches(entry) {
  if (find("faulty").checked && !isFaulty(entry)) return false;
  const wanted = find("filter").value.toLowerCase();
  return wanted === "" || entry.search.includes(wanted);
}

const isFaulty = entry =>
  entry.violations.length > 0 || entry.requests.some(request => request.row?.classList.contains("violation"));

function filter() {
  const all = [...entries.values(), ...requests.map(request => request.entry)];
  for (const entry of all) entry.row.hidden = !matches(entry);
  draw();
}

function move(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.target.matches("input, select")) return;
  const rows = [...entries.values()].filter(entry => !entry.row.hidden);
  const index = rows.indexOf(chosen);
  const next = rows[index < 0 ? rows.length - 1 : index + step];
  if (next) choose(next);
  event.preventDefault();
}

// ---- The connection

function refresh() {
  const hadEntries = queue.length > 0;
  const pending = chosen?.requests[0]?.response;
  for (const entry of queue.splice(0, MAX_AT_ONCE)) add(entry);
  if (hadEntries) {
    find("messages-count").textContent = counts.messages;
    find("open-count").textContent = requests.filter(request => request.end === null).length;
    find("faults-count").textContent = counts.faults;
    find("faults").className = counts.faults > 0 ? "some" : "";
    find("dropped").textContent = counts.dropped > 0 ? `${counts.dropped} older ones are not shown` : "";
    if (find("follow").checked) {
      for (const id of ["messages", "requests"]) find(id).parentElement.scrollTop = 1e9;
    }
    if (chosen && chosen.requests[0]?.response !== pending) show();
  }
  if (hadEntries || clock.end === null) draw();
}

function state(text, className) {
  find("state").textContent = text;
  find("state").className = className;
}

const source = new EventSource("events");
source.addEventListener("session", event => {
  const session = JSON.parse(event.data);
  clock = { offset: performance.now() - session.now, end: null };
  find("title").textContent = visible(session.title);
  find("title").title = visible(session.title);
  document.title = `${visible(session.title)} – mcp-inspect`;
  state("live", "live");
});
source.addEventListener("message", event => queue.push(JSON.parse(event.data)));
source.addEventListener("close", event => {
  source.close();
  while (queue.length > 0) refresh();
  clock.end = JSON.parse(event.data).now;
  state("ended", "");
  draw();
});
source.addEventListener("error", () => {
  while (queue.length > 0) refresh();
  clock.end = now();
  state("connection lost", "lost");
});

for (const id of ["filter", "faulty"]) find(id).addEventListener("input", filter);
find("span").addEventListener("input", draw);
document.addEventListener("keydown", move);
setInterval(refresh, 100);
