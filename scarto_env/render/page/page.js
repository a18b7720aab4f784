"use strict";
// Shows one ply at a time: the table as it was drawn, what the bot thought of each legal card, the trick in the list.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const table = byId("table"), slider = byId("ply"), label = byId("label"), rows = [...document.querySelectorAll("#tricks tbody tr")];
const last = data.plies.length - 1;
let ply = 0, timer = 0;

function cell(row, text, number) {
  const made = row.insertCell();
  made.textContent = text;
  if (number) made.className = "number";
  return made;
}

function showAdvice(advice) {
  const section = byId("advice");
  if (!section) return;
  const body = section.querySelector("tbody");
  body.replaceChildren();
  byId("advice-none").hidden = Boolean(advice);
  for (const card of advice ? advice.cards : []) {
    const row = body.insertRow();
    if (card.played) row.className = "played";
    cell(row, card.code + (card.choice ? " *" : "")).title = card.name;
    if (card.probability !== null) {
      const bar = cell(row, "");
      const meter = document.createElement("meter");
      meter.value = card.probability;
      meter.textContent = `${Math.round(100 * card.probability)} %`;
      bar.append(meter, ` ${(100 * card.probability).toFixed(1)} %`);
    }
    if (card.value !== null) cell(row, card.value.toFixed(2), true);
  }
}

function show(next) {
  ply = Math.min(last, Math.max(0, next));
  const now = data.plies[ply];
  table.innerHTML = now.table;
  table.setAttribute("aria-label", now.label);
  label.textContent = `${ply} of ${last}: ${now.label}`;
  slider.value = ply;
  slider.setAttribute("aria-valuetext", now.label);
  for (const row of rows) {
    const from = Number(row.dataset.from), to = Number(row.dataset.to);
    row.classList.toggle("now", ply > from && ply <= to);
    row.classList.toggle("later", ply <= from);
  }
  for (const [id, back] of [["first", true], ["back", true], ["next", false], ["end", false]]) {
    byId(id).disabled = ply === (back ? 0 : last);
  }
  const current = document.querySelector("#tricks tr.now");
  if (current) {
    const list = byId("tricks");
    list.scrollTop = Math.max(0, current.offsetTop - list.clientHeight / 2);
  }
  byId("count").hidden = ply !== last;
  byId("exchange").textContent = now.exchange;
  showAdvice(now.advice);
  try { history.replaceState(null, "", `#${ply}`); } catch { /* some viewers of local files forbid it */ }
  if (ply === last) stop();
}

// The end of the trick that the ply stands in or before, and the end of the one before that.
const trickEnds = rows.map((row) => Number(row.dataset.to));
const nextTrick = () => trickEnds.find((end) => end > ply) ?? last;
const lastTrick = () => trickEnds.findLast((end) => end < ply) ?? 0;

function stop() { clearInterval(timer); timer = 0; byId("run").textContent = "Play"; }
function run() {
  if (timer) return stop();
  if (ply === last) show(0);
  byId("run").textContent = "Pause";
  timer = setInterval(() => show(ply + 1), 900);
}

const moves = {
  ArrowRight: () => ply + 1, ArrowLeft: () => ply - 1, ArrowDown: nextTrick, ArrowUp: lastTrick,
  PageDown: nextTrick, PageUp: lastTrick, Home: () => 0, End: () => last,
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); run(); return; }
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  stop();
  show(move());
});
slider.max = last;
slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
byId("first").addEventListener("click", () => { stop(); show(0); });
byId("back").addEventListener("click", () => { stop(); show(ply - 1); });
byId("next").addEventListener("click", () => { stop(); show(ply + 1); });
byId("end").addEventListener("click", () => { stop(); show(last); });
byId("run").addEventListener("click", run);
for (const row of rows) row.addEventListener("click", () => { stop(); show(Number(row.dataset.to)); });
const start = Number.parseInt(location.hash.slice(1), 10);
show(Number.isNaN(start) ? 0 : start);
