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
}

// A run minus the first one, at the times of the latter.
class Difference {
  constructor(one, other, label) {
    Object.assign(this, { run: one.run, group: "difference", one, other, plain: label, label });
  }
  get values() {
    if (!this.kept) this.kept = this.one.values.map((x, f) => this.other.at(this.run.t[f]) - x);
    return this.kept;
  }
  at(t) {
    return this.other.at(t) - this.one.at(t);
  }
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
  // At most `most` members of a group, evenly spread; those that have no value, or (unless wanted) never change, are left out.
  some(group, most) {
    const all = (this.groups.get(group) || []).filter(s => s.column === undefined || isFinite(s.run.value(0, s.column)) || s.run.step[s.column] > 0);
    if (all.length <= most) return all;
    return Array.from({ length: most }, (_, k) => all[Math.floor(k * (all.length - 1) / (most - 1))]);
  }
}
