/**
 * The pictures of machines are correct in every viewer: explicit colours, texts inside their boxes, labels that overlap
 * nothing, and visible text and arrows in a tool without style sheets (rsvg-convert, if it is installed).
 */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { arrowsOf, moveText, rowName, statesOf } from "../../src/machines/describe.ts"
import { coverageOf, layouts as readLayouts } from "../../src/http/operator/atlas/machineTables.ts"
import { colours, drawMachine, escaped, lookOf } from "../../src/machines/picture/drawMachine.ts"
import { triedOf, triedText, trialOf } from "../../src/machines/picture/MachineCoverage.ts"
import { type Box, fits, fonts, textWidth } from "../../src/machines/picture/MachineLayout.ts"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import { hasTool, skipNote } from "../support/tools.ts"

const layouts = readLayouts()
const pictureOf = (kind: Kind): string => drawMachine(machines[kind], layouts[kind], coverageOf(kind))
const missing = skipNote("rsvg-convert")

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** The point of an arrow's head. */
const headOf = (points: ReadonlyArray<readonly [number, number]>): Box => {
  const [x, y] = points.at(-1) as readonly [number, number]
  return { x: x - 4, y: y - 4, width: 8, height: 8 }
}

/** Whether an axis-parallel line segment enters a box; a line may touch the edge. */
const enters = (from: readonly [number, number], to: readonly [number, number], box: Box): boolean => {
  const [x, y] = [Math.min(from[0], to[0]), Math.min(from[1], to[1])]
  const [width, height] = [Math.abs(from[0] - to[0]), Math.abs(from[1] - to[1])]
  return overlap(
    { x, y, width: width + 0.1, height: height + 0.1 },
    { x: box.x + 1.5, y: box.y + 1.5, width: box.width - 3, height: box.height - 3 }
  )
}

/** Contrast of two colours (WCAG 2.2, 1.4.3). */
const contrast = (one: string, other: string): number => {
  const luminance = (colour: string): number =>
    [1, 3, 5]
      .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index]!, 0)
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

describe("pictures of machines", () => {
  it.each(kinds.map((kind) => ({ kind })))("$kind: everything has a place of its own", ({ kind }) => {
    const { machine } = machines[kind]
    const layout = layouts[kind]
    assert.isTrue(fits(machine, layout))
    const states = Object.entries(layout.states)
    const labels = layout.arrows.map(({ from, to, label }) => [`${from} ${to}`, label] as const)
    const heads = [...layout.arrows.map(({ points }) => headOf(points)), headOf(layout.start)]
    for (const [name, label] of labels) {
      for (const head of heads) assert.isFalse(overlap(label, head), `the label of ${name} covers an arrowhead`)
      for (const [state, box] of states) assert.isFalse(overlap(label, box), `the label of ${name} covers ${state}`)
      for (const [other, box] of labels) assert.isFalse(name !== other && overlap(label, box), `${name} and ${other}`)
      assert.isTrue(label.x >= 0 && label.x + label.width <= layout.width, `the label of ${name} leaves the picture`)
    }
    for (const { from, to, points } of layout.arrows)
      for (const [index, point] of points.slice(1).entries())
        for (const [name, box] of [...labels, ...states])
          assert.isFalse(enters(points[index]!, point, box), `the line from ${from} to ${to} runs through ${name}`)
    for (const arrow of arrowsOf(machine)) {
      const box =
        arrow.from === arrow.to
          ? layout.states[arrow.from]
          : layout.arrows.find(({ from, to }) => from === arrow.from && to === arrow.to)?.label
      for (const move of arrow.moves)
        assert.isAtMost(textWidth(moveText(move), fonts.move), box?.width ?? 0, moveText(move))
    }
  })

  it.each(kinds.map((kind) => ({ kind })))("$kind: its picture writes its colours out", ({ kind }) => {
    const picture = pictureOf(kind)
    assert.notMatch(picture, /var\(|<style|class="[^"]*"[^>]*\sstyle=|currentColor|@import|href=/)
    for (const [, paint] of picture.matchAll(/(?:fill|stroke)="([^"]*)"/g))
      assert.match(paint ?? "", /^(#[0-9a-f]{6}|none)$/)
    for (const { name } of statesOf(machines[kind].machine)) {
      const [fill, edge, ink] = colours[lookOf(machines[kind], name)]
      assert.include(picture, `data-state="${name}"`)
      assert.isAbove(contrast(fill, ink), 7, name)
      assert.isAbove(contrast(fill, edge), 3, name)
    }
  })

  it.each(kinds.map((kind) => ({ kind })))("$kind: its lines name the recorded transitions", ({ kind }) => {
    const picture = pictureOf(kind)
    const coverage = coverageOf(kind)
    for (const { from, to, moves } of arrowsOf(machines[kind].machine)) {
      const tried = moves.map((move) => triedOf(coverage, rowName({ from, to, ...move })))
      for (const [index, move] of moves.entries())
        assert.include(picture, escaped(`${moveText(move)}: ${triedText(tried[index]!)}`), `${from} ${to}`)
      if (from === to) continue
      const [, line = ""] = new RegExp(`data-from="${from}" data-to="${to}">.*?(<path [^>]*>)`).exec(picture) ?? []
      const isPlayed = tried.some((each) => trialOf(each) === "scenarios")
      assert.strictEqual(line.includes("stroke-dasharray"), !isPlayed, `${from} ${to}`)
    }
  })

  it.skipIf(!hasTool("rsvg-convert"))(`a tool without style sheets draws texts and arrows${missing}`, () => {
    const drawn = (svg: string) => execFileSync("rsvg-convert", ["--zoom", "0.5"], { input: svg, maxBuffer: 64 << 20 })
    for (const kind of kinds) {
      const picture = pictureOf(kind)
      const whole = drawn(picture)
      const without = {
        texts: picture.replaceAll(/<text.*?<\/text>/g, ""),
        arrows: picture.replaceAll(/<g class="arrow".*?<\/g>/g, ""),
        states: picture.replaceAll(/<g class="state.*?<\/g>/g, "")
      }
      for (const [what, less] of Object.entries(without)) {
        assert.notStrictEqual(less, picture, `${kind} has no ${what}`)
        assert.isFalse(drawn(less).equals(whole), `the ${what} of ${kind} are not seen`)
      }
    }
  })

  it("no text in a picture can end it", () => {
    const hostile = { ...machines.case, title: "<script>alert(1)</script>\"'" }
    const picture = drawMachine(hostile, layouts.case)
    assert.notInclude(picture, "<script")
    assert.strictEqual(picture.split("</svg>").length, 2)
  })
})
