"use strict";
// Strokes by WebGL2: one instance each, a rectangle around it; what is within half its width is coloured.

const VERTEX = `#version 300 es
layout(location=0) in vec3 a;
layout(location=1) in vec3 b;
layout(location=2) in float width;
layout(location=3) in vec4 colour;
uniform mat3 axes;
uniform vec3 centre;
uniform vec4 view; // pixels of a unit, half the width and height in pixels, depth
uniform float ratio;
out vec2 place;
out float span, radius;
out vec4 tint;
void main() {
  vec3 p = axes * (a - centre) * view.x, q = axes * (b - centre) * view.x;
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2. - 1., d = q.xy - p.xy;
  span = length(d);
  d = span > 1e-6 ? d / span : vec2(1, 0);
  radius = width / 2.;
  float reach = radius + 1.;
  vec2 normal = vec2(-d.y, d.x), at = (corner.x < 0. ? p.xy - d * reach : q.xy + d * reach) + normal * corner.y * reach;
  place = vec2(dot(at - p.xy, d), corner.y * reach);
  tint = colour;
  float depth = span > 1e-6 ? (corner.x < 0. ? p.z : q.z) : p.z + width; // a disc hides the ends of its bonds
  gl_Position = vec4(at / view.yz, -depth / view.w, 1);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec2 place;
in float span, radius;
in vec4 tint;
uniform float ratio, part; // 0: everything; 1: what is covered, 2: edges
out vec4 result;
void main() {
  float distance = length(vec2(place.x - clamp(place.x, 0., span), place.y));
  float cover = clamp((radius - distance) * ratio + .5, 0., 1.);
  if (part == 1. && cover < .8 || part == 2. && cover >= .8) discard;
  cover *= tint.a;
  if (cover < .02) discard;
  result = vec4(tint.rgb * cover, cover);
}`;

class WebGLStrokes {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL2");
    this.canvas = canvas;
    this.name = "WebGL2";
    this.gl = gl;
    const program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("no program: " + gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.place = {};
    for (const name of ["axes", "centre", "view", "ratio", "part"]) this.place[name] = gl.getUniformLocation(program, name);
    this.buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    const attribute = (k, size, type, normalized, offset) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, size, type, normalized, 32, offset);
      gl.vertexAttribDivisor(k, 1);
    };
    attribute(0, 3, gl.FLOAT, false, 0);
    attribute(1, 3, gl.FLOAT, false, 12);
    attribute(2, 1, gl.FLOAT, false, 24);
    attribute(3, 4, gl.UNSIGNED_BYTE, true, 28);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.size = 0;
  }
  draw(list, camera) {
    const { gl, canvas, place } = this, ratio = DPR(), width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (camera.space) gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    const a = camera.axes;
    gl.uniformMatrix3fv(place.axes, false, [a[0][0], a[1][0], a[2][0], a[0][1], a[1][1], a[2][1], a[0][2], a[1][2], a[2][2]]);
    gl.uniform3fv(place.centre, camera.centre);
    gl.uniform4f(place.view, camera.scale, camera.width / 2, camera.height / 2, 4 * (camera.width + camera.height));
    gl.uniform1f(place.ratio, ratio);
    if (this.size < list.room) {
      gl.bufferData(gl.ARRAY_BUFFER, 32 * list.room, gl.DYNAMIC_DRAW);
      this.size = list.room;
    }
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, list.floats, 0, 8 * list.count);
    // in space edges hide nothing: the end of a stroke would show in the one that goes on from it
    for (const part of camera.space ? [1, 2] : [0]) {
      gl.uniform1f(place.part, part);
      gl.depthMask(part < 2);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, list.count);
    }
    gl.depthMask(true);
  }
}

// WebGL2 where it works, unless the address of the page ends in #canvas.
function makeStrokes(canvas) {
  if (location.hash !== "#canvas")
    try {
      return new WebGLStrokes(canvas);
    } catch (reason) {
      const other = canvas.cloneNode(); // a canvas keeps its first kind of context
      canvas.replaceWith(other);
      canvas = other;
    }
  return new CanvasStrokes(canvas);
}
