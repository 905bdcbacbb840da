/**
 * A machine's picture as an SVG. All colours are written out, so it looks the same in browsers, on paper and in tools without
 * style sheets. The colour of a state shows its meaning (registryEntry, Looks). In dark mode, the atlas recolours states by
 * their classes; it puts its counts beside the boxes, found by the states' names.
 */
import { type Arrow, arrowsOf, moveText, rowName, statesOf } from "../describe.ts"
import type { MachineEntry } from "../registryEntry.ts"
import { arrivals, type MachineCoverage, type Trial, triedOf, triedText, trialOf } from "./MachineCoverage.ts"
import { type Box, fonts, type MachineLayout, nameHeight } from "./MachineLayout.ts"

export type Look = "unborn" | "standing" | "waiting" | "ended" | "refused"

/** The colour group of a state. NEW is only the start of a creation: no row ever has it. */
export const lookOf = ({ looks }: Pick<MachineEntry, "looks">, state: string): Look => {
  if (state === "NEW") return "unborn"
  const has = (list: ReadonlyArray<string>) => list.includes(state)
  return has(looks.waiting) ? "waiting" : has(looks.ended) ? "ended" : has(looks.refused) ? "refused" : "standing"
}

/** Fill, edge and ink of each colour group; ink on fill has a contrast of more than 7. */
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
/** The colour of transitions that no scenario covers; its contrast on white is more than 5. */
const faint = "#656d76"

/**
 * Line styles: solid when scenarios cover the transition, dashed when only the simulation or tests do, dotted when only its
 * table row does.
 */
const dashes: Readonly<Record<Trial, string>> = {
  scenarios: "",
  "simulation or tests": ` stroke-dasharray="6 4"`,
  "its row of the table": ` stroke-dasharray="1.5 3"`
}

/** Escapes a text for SVG and HTML. */
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`)

/** The picture, ending with a line break. `coverage`, when known, is shown in titles. */
export const drawMachine = (entry: MachineEntry, layout: MachineLayout, coverage?: MachineCoverage): string => {
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
      const drawn = arrows.find(({ from, to }) => from === arrow.from && to === arrow.to)
      const { trial, title } = triedArrow(drawn ?? { ...arrow, moves: [] }, coverage)
      return [
        `<g class="arrow" data-from="${arrow.from}" data-to="${arrow.to}">${title}`,
        `<path d="${rounded(arrow.points)}" fill="none" stroke="${line}" stroke-width="1.2"${dashes[trial]} marker-end="url(#${marker})"/>`,
        ...movesAt(drawn, coverage, { x: arrow.label.x + 4, y: arrow.label.y + 13 }, ink),
        "</g>"
      ].join("")
    }),
    ...states.map(({ name, description }) =>
      stateOf(
        {
          name,
          description,
          look: lookOf(entry, name),
          box: layout.states[name] as Box,
          stays: arrows.find(({ from, to }) => from === name && to === name)
        },
        coverage
      )
    ),
    "</svg>",
    ""
  ].join("\n")
}

/** An arrow's strongest coverage, and its title. */
const triedArrow = (
  { from, to, moves }: Arrow,
  coverage: MachineCoverage | undefined
): { readonly trial: Trial; readonly title: string } => {
  if (coverage === undefined) return { trial: "scenarios", title: "" }
  const tried = moves.map((move) => triedOf(coverage, rowName({ from, to, ...move })))
  const trials = tried.map(trialOf)
  const trial = (["scenarios", "simulation or tests"] as const).find((each) => trials.includes(each))
  const words = moves.map((move, index) => `${moveText(move)}: ${triedText(tried[index] as (typeof tried)[number])}`)
  return { trial: trial ?? "its row of the table", title: titleOf([`${from} to ${to}`, ...words]) }
}

/** The lines of an arrow's transitions, starting at a position; transitions without a scenario are in italics. */
const movesAt = (
  arrow: Arrow | undefined,
  coverage: MachineCoverage | undefined,
  { x, y }: { readonly x: number; readonly y: number },
  fill: string
): ReadonlyArray<string> =>
  (arrow?.moves ?? []).map((move, index) => {
    const text = moveText(move)
    const at = `x="${x}" y="${y + index * fonts.line}" font-size="${fonts.move}"`
    if (arrow === undefined || coverage === undefined)
      return `<text class="move" ${at} fill="${fill}">${escaped(text)}</text>`
    const tried = triedOf(coverage, rowName({ ...arrow, ...move }))
    const isPlayed = trialOf(tried) === "scenarios"
    const look = isPlayed ? `class="move" ${at}` : `class="move unplayed" ${at} font-style="italic"`
    const paint = isPlayed || fill !== ink ? fill : faint
    return `<text ${look} fill="${paint}">${titleOf([`${text}: ${triedText(tried)}`])}${escaped(text)}</text>`
  })

/** The tooltip of a part, on one source line. */
const titleOf = (lines: ReadonlyArray<string>): string => `<title>${lines.map(escaped).join("&#10;")}</title>`

interface DrawnState {
  readonly name: string
  readonly description: string
  readonly look: Look
  readonly box: Box
  /** Transitions that keep the state. */
  readonly stays: Arrow | undefined
}

const stateOf = (
  { name, description, look, box, stays }: DrawnState,
  coverage: MachineCoverage | undefined
): string => {
  const [fill, edge, dark] = colours[look]
  const { x, y, width, height } = box
  const reached = coverage === undefined ? undefined : arrivals(coverage, name)
  const dash = reached === undefined ? "" : dashes[trialOf(reached)]
  const rect = (inset: number, paint: string) =>
    `<rect x="${x + inset}" y="${y + inset}" width="${width - 2 * inset}" height="${height - 2 * inset}" rx="${8 - inset}" fill="${paint}" stroke="${edge}" stroke-width="1.5"${dash}/>`
  const title = [description, ...(reached === undefined ? [] : [`Reached by ${triedText(reached)}.`])]
  return [
    `<g class="state ${look}" data-state="${name}">${titleOf(title)}`,
    rect(0, fill),
    ...(look === "ended" ? [rect(3, "none")] : []),
    `<text class="name" x="${x + width / 2}" y="${y + 21}" text-anchor="middle" font-size="${fonts.name}" font-weight="bold" fill="${dark}">${name}</text>`,
    ...movesAt(stays, coverage, { x: x + fonts.pad, y: y + nameHeight + 11 }, dark),
    "</g>"
  ].join("")
}

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
