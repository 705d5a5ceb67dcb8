"use strict";
// What can be plotted, by name: columns of runs, and differences of runs.

class Series {
  constructor(run, group, column, plain, label) {
    Object.assign(this, { run, group, column, plain, label });
  }
  get values() { // of all frames
    if (!this.kept) {
      this.kept = new Float64Array(this.run.frames);
      for (let f = 0; f < this.kept.length; f++) this.kept[f] = this.run.value(f, this.column);
    }
    return this.kept;
  }
  at(t) {
    return this.run.sample(t, this.column, new Float64Array(1))[0];
  }
  get error() { return this.run.step[this.column] / 2; } // of the coding
}

// A run minus the first one, at the times of the latter; where their rows have the same times, it is in the data.
class Difference {
  constructor(one, other, label) {
    Object.assign(this, { run: one.run, group: "difference", one, other, plain: label, label });
    const { run, column } = other;
    if (run.width.difference) this.given = new Series(run, "difference", run.first.difference + column, label, label);
  }
  get values() {
    if (!this.kept) this.kept = this.given ? this.given.values : this.one.values.map((x, f) => this.other.at(this.run.t[f]) - x);
    return this.kept;
  }
  at(t) {
    return this.given ? this.given.at(t) : this.other.at(t) - this.one.at(t);
  }
  get error() { return this.given ? this.given.error : this.one.error + this.other.error; }
}

class Catalogue {
  constructor(runs) {
    this.runs = runs;
    this.byLabel = new Map();
    this.groups = new Map(); // name of a group -> series
    for (const run of runs) this.addRun(run);
    for (const run of runs.slice(1)) this.addDifferences(runs[0], run);
  }
  add(series) {
    this.byLabel.set(series.label, series);
    if (!this.groups.has(series.group)) this.groups.set(series.group, []);
    this.groups.get(series.group).push(series);
  }
  addRun(run) {
    const label = plain => this.runs.length > 1 ? `${run.name}: ${plain}` : plain;
    const put = (group, first, names) =>
      names.forEach((name, k) => this.add(new Series(run, group, first + k, name, label(name))));
    const { names, first } = run;
    put(run.mechanical ? "coordinates" : "state", first.q, names.q);
    if (run.mechanical) put("velocities", first.v, names.q.map(name => name + "'"));
    else put("algebraic variables", first.v, names.algebraic);
    put("bond forces", first.lambda, names.lambda.map(name => `lambda(${name})`));
    put("outputs", first.output, names.output);
    if (run.mechanical) put("energy", first.energy, ["energy"]);
    put("drift", first.drift, run.mechanical ? ["drift of positions", "drift of velocities"] : ["drift"]);
  }
  addDifferences(base, run) {
    for (const one of this.byLabel.values()) {
      if (one.run !== base || one.group === "difference" || one.group === "drift") continue;
      const other = this.byLabel.get(`${run.name}: ${one.plain}`);
      if (other) this.add(new Difference(one, other, `${one.plain}: ${run.name} - ${base.name}`));
    }
  }
  of(run, plain) {
    return this.byLabel.get(this.runs.length > 1 ? `${run.name}: ${plain}` : plain);
  }
  // About `most` members of a group: those of the first run evenly spread, and the same of the other runs.
  some(group, most) {
    const all = (this.groups.get(group) || []).filter(s => s.run === this.runs[0] && (isFinite(s.run.value(0, s.column)) || s.run.step[s.column] > 0));
    const count = Math.min(all.length, Math.max(1, Math.floor(most / this.runs.length)));
    const chosen = Array.from({ length: count }, (_, k) => all[count > 1 ? Math.floor(k * (all.length - 1) / (count - 1)) : 0]);
    return chosen.flatMap(s => this.runs.map(run => this.of(run, s.plain))).filter(s => s);
  }
  // The differences of what `some` gives.
  differences(group, most) {
    const names = new Set(this.some(group, most).map(s => s.plain));
    return (this.groups.get("difference") || []).filter(s => names.has(s.one.plain));
  }
}
