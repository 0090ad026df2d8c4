// The part of steps() that runs in the page: one picture, and for each step the parts to reveal, to highlight and to fill with text.

const button = (name, sign) => Object.assign(document.createElement("button"), { title: name, ariaLabel: name, textContent: sign });
const make = (tag, className) => Object.assign(document.createElement(tag), { className });

function render({ model, el }) {
  const root = make("div", "steps");
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab leaves the keys to this widget
  const [bar, first, back, play, next, last] = [make("div", "steps-bar"), button("first step (Home)", "|◁"),
    button("step back (←)", "◁"), button("play (space)", "▶"), button("step on (→)", "▷"), button("last step (End)", "▷|")];
  const slider = Object.assign(make("input"), { type: "range", min: 0, ariaLabel: "step" });
  const count = make("span", "steps-count");
  const say = Object.assign(make("div", "steps-say"), { ariaLive: "polite" });
  const [inputs, problem, stage, note] = ["steps-inputs", "steps-problem", "steps-stage", "steps-note"].map((name) => make("div", name));
  bar.append(first, back, play, next, last, slider, count);
  const printed = make("div", "steps-printed"); // on paper: the graph after the last step, and all steps in words
  root.append(bar, say, inputs, problem, stage, note, printed);
  el.append(root);

  let timer = null;
  const steps = () => model.get("trace").steps;
  const part = (id) => stage.querySelector(`#${id}`);

  // Every step is drawn from the start, so that it looks the same whichever step came before.
  function show() {
    const position = Math.min(model.get("position"), steps().length - 1);
    stage.querySelectorAll("[id^=box], [id^=edge]").forEach((each) => each.setAttribute("class", "faint"));
    stage.querySelectorAll("[id^=data], [id^=grad], [id^=derivative]").forEach((each) => { each.textContent = ""; each.removeAttribute("class"); });
    steps().slice(0, position + 1).forEach((step, number) => {
      step.show.forEach((id) => part(id)?.setAttribute("class", ""));
      Object.entries(step.set).forEach(([id, text]) => { if (part(id)) part(id).textContent = text; });
      if (number === position) step.light.forEach((id) => part(id)?.setAttribute("class", `light ${step.phase}`));
    });
    const step = steps()[position];
    say.textContent = step.say;
    say.dataset.phase = step.phase;
    count.textContent = `step ${position} of ${steps().length - 1} · ${step.phase}`;
    slider.max = steps().length - 1;
    slider.value = position;
    const lit = stage.querySelector(".light");
    if (stage.scrollWidth > stage.clientWidth && lit) {
      const box = lit.getBoundingClientRect(), frame = stage.getBoundingClientRect();
      stage.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
    }
  }

  function draw() {
    stage.innerHTML = model.get("trace").svg;
    note.textContent = model.get("trace").note;
    printed.innerHTML = model.get("trace").html;
    show();
  }

  const fields = model.get("inputs").map(({ name }, i) => {
    const field = Object.assign(make("input"), { type: "number", step: "any", ariaLabel: name });
    const apply = () => {
      if (!Number.isFinite(field.valueAsNumber)) {
        drawInputs();
        problem.textContent = `${name} has to be a number.`;
        return;
      }
      drawProblem();
      model.set("inputs", model.get("inputs").map((each, other) => (other === i ? { name, value: field.valueAsNumber } : each)));
      model.save_changes();
    };
    field.addEventListener("change", apply);
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") apply(); }); // JupyterLab keeps Enter from it
    const label = make("label");
    label.append(`${name} = `, field);
    inputs.append(label);
    return field;
  });
  const drawInputs = () => model.get("inputs").forEach(({ value }, i) => { fields[i].value = value; });
  const drawProblem = () => { problem.textContent = model.get("error"); };

  function go(position) {
    model.set("position", Math.max(0, Math.min(position, steps().length - 1)));
    model.save_changes();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶";
  }

  function toggle() {
    if (timer) return stop();
    if (model.get("position") >= steps().length - 1) go(0);
    play.textContent = "‖";
    timer = setInterval(() => (model.get("position") < steps().length - 1 ? go(model.get("position") + 1) : stop()), 1200);
  }

  const by = (distance) => () => { stop(); go(model.get("position") + distance); };
  first.onclick = by(-Infinity);
  back.onclick = by(-1);
  next.onclick = by(1);
  last.onclick = by(Infinity);
  play.onclick = toggle;
  slider.oninput = () => { stop(); go(slider.valueAsNumber); };
  root.addEventListener("keydown", (event) => {
    if (event.target.type === "number") return;
    const action = { ArrowLeft: back.onclick, ArrowRight: next.onclick, Home: first.onclick, End: last.onclick, " ": toggle }[event.key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });

  const handlers = { "change:trace": draw, "change:position": show, "change:inputs": drawInputs, "change:error": drawProblem };
  Object.entries(handlers).forEach(([name, handler]) => model.on(name, handler));
  draw();
  drawInputs();
  drawProblem();
  return () => {
    stop();
    Object.entries(handlers).forEach(([name, handler]) => model.off(name, handler));
    root.remove();
  };
}

// In JupyterLab and Notebook 7 the output is the element <steps-…> with the static picture in it (StepsWidget says why). Only a model,
// and so a running kernel, comes here: then the steps stand in its place, wherever the page shows it, until the model ends.
function initialize({ model }) {
  const name = model.get("element");
  if (!customElements.get(name)) {
    customElements.define(name, class extends HTMLElement {
      connectedCallback() {
        this.disconnectedCallback();
        if (this.constructor.model) this.leave = render({ model: this.constructor.model, el: this });
      }

      disconnectedCallback() {
        this.leave?.();
        this.leave = null;
      }
    });
  }
  const use = (current) => {
    customElements.get(name).model = current;
    document.querySelectorAll(name).forEach((each) => each.connectedCallback());
  };
  use(model);
  model.on("comm_live_update", () => use(null)); // the kernel has been started again, without this model
  return () => use(null);
}

export default { initialize, render };
