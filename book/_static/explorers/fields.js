/* The controls as they stand on the page: a slider or a choice each, with its label and value. */
((X) => {
"use strict";
const {make, rich, words} = X;

/** The place of the value of a rising list that is nearest. */
function nearest(values, value) {
  const after = values.findIndex(v => v >= value);
  if (after <= 0) return after < 0 ? values.length - 1 : 0;
  const [low, high] = [values[after - 1], values[after]];
  return value - low < high - value ? after - 1 : after;
}

/** A setting from the words of a link; null where it is none that the control can have. */
function parsed(control, text) {
  if (text === null || text === undefined || text === "") return null;
  if (control.options) return control.options.some(([value]) => value === text) ? text : null;
  const value = Number(text);
  const [low, high] = [control.values[0], control.values[control.values.length - 1]];
  const fits = value >= low && value <= high && !(control.whole && !Number.isInteger(value));
  const between = value === Infinity || Number.isFinite(value);
  return fits && between ? value : null;
}

function choiceField(control, id) {
  const options = control.options.map(([value, text]) => make("option", {value}, text));
  const input = make("select", {id}, ...options);
  const node = make("div", {class: "x-field"}, make("label", {for: id}, ...rich(control.label)), input);
  const put = value => { input.value = value; };
  return {control, input, node, put, read: () => input.value};
}

function sliderField(control, id) {
  const {values} = control;
  const range = {type: "range", min: 0, max: values.length - 1, step: 1, autocomplete: "off"};
  const input = make("input", {id, ...range});
  const output = make("output", {for: id, "aria-live": "off"});
  const label = make("label", {for: id}, ...rich(control.label));
  const node = make("div", {class: "x-field"}, label, output, input);
  const put = value => {
    input.value = String(nearest(values, value));
    const text = control.text(value);
    output.replaceChildren(...rich(text));
    output.dataset.value = String(value);
    input.setAttribute("aria-valuetext", words(text));
  };
  return {control, input, node, put, read: () => values[Number(input.value)]};
}

/** A control's field: {node, input, put(value), read()}. */
const field = (control, id) => control.options ? choiceField(control, id) : sliderField(control, id);

/** A value of a control that a pull at a mark asks for: within its range, whole where it must be. */
function within(control, value) {
  const {values} = control;
  const inside = Math.min(Math.max(value, values[0]), values[values.length - 1]);
  return control.whole ? Math.round(inside) : values[nearest(values, inside)];
}

Object.assign(X, {field, parsed, within});
})(globalThis.iclExplorers ??= {explorers: {}});
