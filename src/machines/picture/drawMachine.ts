/**
 * A machine's picture as an SVG that looks the same in browsers, on paper and in tools that know no style sheets: every
 * colour is written out. States are coloured by what they mean (registryEntry, Looks); the atlas colours them anew in the
 * dark by their classes, and puts its counts beside the boxes, which carry the names of their states.
 */
import { arrowsOf, moveText, statesOf } from "../describe.ts"
import type { MachineEntry } from "../registryEntry.ts"
import { type Box, fonts, type MachineLayout, nameHeight, staysOf } from "./MachineLayout.ts"

export type Look = "unborn" | "standing" | "waiting" | "ended" | "refused"

/** How a state is coloured; NEW decides a creation, and nothing is ever found in it. */
export const lookOf = ({ looks }: Pick<MachineEntry, "looks">, state: string): Look => {
  if (state === "NEW") return "unborn"
  const has = (list: ReadonlyArray<string>) => list.includes(state)
  return has(looks.waiting) ? "waiting" : has(looks.ended) ? "ended" : has(looks.refused) ? "refused" : "standing"
}

/** Fill, edge and ink of each look; ink on fill has a contrast of more than 7. */
export const colours: Readonly<Record<Look, readonly [fill: string, edge: string, ink: string]>> = {
  unborn: ["#ffffff", "#8c959f", "#424a53"],
  standing: ["#ddf4ff", "#0969da", "#0a3069"],
  waiting: ["#fff1c2", "#9a6700", "#4d3300"],
  ended: ["#dafbe1", "#1a7f37", "#0b3d1c"],
  refused: ["#ffebe9", "#cf222e", "#660011"]
}

const ground = "#ffffff"
const line = "#57606a"
const ink = "#24292f"

/** Marks a text for SVG and HTML. */
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`)

/** What else a picture shows. */
export interface DrawOptions {
  /** What nobody has taken is drawn dashed: a test of a state, and of a move. */
  readonly taken?: {
    readonly state: (name: string) => boolean
    readonly move: (from: string, to: string, event: string, guard: string) => boolean
  }
}

/** The picture, ending with a line break. */
export const drawMachine = (entry: MachineEntry, layout: MachineLayout, options: DrawOptions = {}): string => {
  const { machine, title } = entry
  const arrows = arrowsOf(machine)
  const states = statesOf(machine)
  const marker = `head-${machine.id}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${layout.width}" height="${layout.height}" viewBox="0 0 ${layout.width} ${layout.height}" font-family="${fonts.family}" role="img" aria-label="${escaped(`${title}: ${states.map(({ name }) => name).join(", ")}`)}">`,
    `<defs><marker id="${marker}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0.5 L8 4 L0 7.5 z" fill="${line}"/></marker></defs>`,
    `<rect class="ground" width="100%" height="100%" fill="${ground}"/>`,
    startOf(layout, marker),
    ...layout.arrows.map((arrow) => {
      const moves = arrows.find(({ from, to }) => from === arrow.from && to === arrow.to)?.moves ?? []
      const isTaken = ({ event, guard }: { readonly event: string; readonly guard: string }) =>
        options.taken?.move(arrow.from, arrow.to, event, guard) ?? true
      const dashed = moves.some(isTaken) ? "" : ` stroke-dasharray="4 3"`
      return [
        `<g class="arrow" data-from="${arrow.from}" data-to="${arrow.to}">`,
        `<path d="${rounded(arrow.points)}" fill="none" stroke="${line}" stroke-width="1.2"${dashed} marker-end="url(#${marker})"/>`,
        ...moves.map((move, index) =>
          textAt(arrow.label.x + 4, arrow.label.y + 13 + index * fonts.line, moveText(move), fonts.move, isTaken(move))
        ),
        "</g>"
      ].join("")
    }),
    ...states.map(({ name, description }) =>
      stateOf(
        { name, description, look: lookOf(entry, name), box: layout.states[name] as Box },
        staysOf(arrows, name),
        options.taken?.state(name) ?? true
      )
    ),
    "</svg>",
    ""
  ].join("\n")
}

interface DrawnState {
  readonly name: string
  readonly description: string
  readonly look: Look
  readonly box: Box
}

const stateOf = (
  { name, description, look, box }: DrawnState,
  stays: ReadonlyArray<string>,
  taken: boolean
): string => {
  const [fill, edge, dark] = colours[look]
  const { x, y, width, height } = box
  const dashed = taken ? "" : ` stroke-dasharray="4 3"`
  const rect = (inset: number, paint: string) =>
    `<rect x="${x + inset}" y="${y + inset}" width="${width - 2 * inset}" height="${height - 2 * inset}" rx="${8 - inset}" fill="${paint}" stroke="${edge}" stroke-width="1.5"${dashed}/>`
  return [
    `<g class="state ${look}" data-state="${name}"><title>${escaped(description)}</title>`,
    rect(0, fill),
    ...(look === "ended" ? [rect(3, "none")] : []),
    `<text class="name" x="${x + width / 2}" y="${y + 21}" text-anchor="middle" font-size="${fonts.name}" font-weight="bold" fill="${dark}">${name}</text>`,
    ...stays.map((text, index) =>
      textAt(x + fonts.pad, y + nameHeight + 11 + index * fonts.line, text, fonts.move, true, dark)
    ),
    "</g>"
  ].join("")
}

const textAt = (x: number, y: number, text: string, size: number, taken = true, fill = ink): string =>
  `<text class="move" x="${x}" y="${y}" font-size="${size}" fill="${fill}"${taken ? "" : ` font-style="italic"`}>${escaped(text)}</text>`

const startOf = ({ start }: MachineLayout, marker: string): string => {
  const [x, y] = start[0] ?? [0, 0]
  return `<g class="arrow"><circle class="dot" cx="${x}" cy="${y}" r="5" fill="${line}"/><path d="${rounded(start)}" fill="none" stroke="${line}" stroke-width="1.2" marker-end="url(#${marker})"/></g>`
}

/** A line through the points with round corners. */
const rounded = (points: MachineLayout["start"]): string => {
  const radius = 6
  return points
    .map(([x, y], index) => {
      const before = points[index - 1]
      const after = points[index + 1]
      if (before === undefined) return `M${x} ${y}`
      if (after === undefined) return `L${x} ${y}`
      const towards = ([px, py]: readonly [number, number]) => {
        const length = Math.hypot(px - x, py - y)
        const part = Math.min(radius, length / 2) / (length === 0 ? 1 : length)
        return `${tenth(x + (px - x) * part)} ${tenth(y + (py - y) * part)}`
      }
      return `L${towards(before)} Q${x} ${y} ${towards(after)}`
    })
    .join(" ")
}

const tenth = (value: number): number => Math.round(value * 10) / 10
