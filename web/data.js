"use strict";
// The data of the page: JSON in the element #data. The numbers of a run are coded as src/io/page_code.c describes.

async function inflate(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

const MISSING = 65535;

class Run {
  constructor(head, buffer) {
    Object.assign(this, head);
    let at = 0;
    const take = (Type, count) => {
      const array = new Type(buffer.slice(at, at + count * Type.BYTES_PER_ELEMENT));
      at += array.byteLength;
      return array;
    };
    this.first = {}; // the first column of each group
    this.columns = 0;
    for (const [group, width] of Object.entries(this.width)) {
      this.first[group] = this.columns;
      this.columns += width;
    }
    this.t = take(Float64Array, this.frames);
    this.least = take(Float64Array, this.columns);
    this.step = take(Float64Array, this.columns);
    this.gain = take(Float64Array, this.bonds); // force over multiplier
    this.point = take(Int32Array, this.points);
    this.end = take(Int32Array, 2 * this.bonds);
    this.kind = take(Uint8Array, this.bonds);
    const high = take(Uint8Array, this.columns * this.frames), low = take(Uint8Array, this.columns * this.frames);
    this.code = this.decode(high, low);
    const names = new TextDecoder().decode(buffer.slice(at)).split("\n");
    const next = count => names.splice(0, count);
    this.names = { q: next(this.width.q), algebraic: next(this.algebraic), lambda: next(this.width.lambda),
                   output: next(this.width.output), event: next(this.eventNames) };
  }

  // Second differences, by columns, become numbers, by frames: what is shown at one time lies together.
  decode(high, low) {
    const { columns, frames } = this, code = new Uint16Array(columns * frames);
    for (let c = 0, at = 0; c < columns; c++) {
      for (let f = 0, before = 0, slope = 0; f < frames; f++, at++) {
        const folded = high[at] << 8 | low[at], second = folded & 1 ? ~(folded >> 1) : folded >> 1;
        slope = slope + second & 0xffff;
        before = before + slope & 0xffff;
        code[f * columns + c] = before;
        if (f === 0) slope = 0;
      }
    }
    return code;
  }

  value(frame, column) {
    const k = this.code[frame * this.columns + column];
    return k === MISSING ? NaN : this.least[column] + k * this.step[column];
  }

  // The frame at or before time t, and how far t is on the way to the next one.
  place(t) {
    const times = this.t, back = times[times.length - 1] < times[0];
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = low + high >> 1;
      if (back ? times[middle] >= t : times[middle] <= t) low = middle;
      else high = middle;
    }
    if (high <= low) return [low, 0];
    const span = times[high] - times[low], part = span ? Math.min(1, Math.max(0, (t - times[low]) / span)) : 1;
    return part === 1 ? [high, 0] : [low, part];
  }

  // Columns first .. first + out.length - 1 at time t.
  sample(t, first, out) {
    const [frame, part] = this.place(t), { columns, code, least, step } = this;
    const a = frame * columns, b = part ? a + columns : a;
    for (let k = 0, c = first; k < out.length; k++, c++) {
      const x = code[a + c], y = code[b + c];
      out[k] = x === MISSING || y === MISSING ? NaN : least[c] + (x + part * (y - x)) * step[c];
    }
    return out;
  }

  // Half a step of what is drawn: how far positions may be off by their coding.
  get error() {
    let most = 0;
    for (let c = 0; c < this.width.q; c++) most = Math.max(most, this.step[c] / 2);
    return most;
  }
}

async function readPage() {
  const page = JSON.parse(document.getElementById("data").textContent), runs = [], sweeps = [];
  for (const head of page.runs) {
    const buffer = await inflate(head.data);
    delete head.data;
    if ("sweep" in head) sweeps.push(new SweepTable(head, new TextDecoder().decode(buffer)));
    else runs.push(new Run(head, buffer));
  }
  return { version: page.version, runs, sweeps };
}
