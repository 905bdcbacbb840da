/**
 * Positions of the parts of a machine's picture, in SVG units, and text sizes. The generator (scripts, elkjs) makes layouts;
 * the machine itself gives the content. Texts use a monospaced font, so their width is known without a browser, and boxes and
 * labels fit everywhere.
 */
import type { AnyStateMachine } from "xstate"
import { type Arrow, arrowsOf, moveText, statesOf } from "../describe.ts"

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PlacedArrow {
  readonly from: string
  readonly to: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
  readonly label: Box
}

export interface MachineLayout {
  readonly width: number
  readonly height: number
  readonly states: { readonly [name: string]: Box }
  /** Arrows between states; transitions that keep the state are text in its box. */
  readonly arrows: ReadonlyArray<PlacedArrow>
  /** The line from the start dot to the first state. */
  readonly start: ReadonlyArray<readonly [x: number, y: number]>
}

/**
 * Fonts and distances in SVG units. In the widest of the named fonts a character is 0.602 of the size wide; `advance` is a
 * little more.
 */
export const fonts = {
  family: "ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace",
  advance: 0.605,
  name: 13,
  move: 11,
  line: 15,
  pad: 10
} as const

/** The width of a text at a font size, in SVG units; never less than a browser needs. */
export const textWidth = (text: string, size: number): number => [...text].length * size * fonts.advance

export const nameHeight = 32

/** The texts of the transitions that leave the machine in this state. */
const staysOf = (arrows: ReadonlyArray<Arrow>, state: string): ReadonlyArray<string> =>
  arrows.filter(({ from, to }) => from === state && to === state).flatMap(({ moves }) => moves.map(moveText))

/** The size of a state's box: its name, and below it the transitions that keep the state. */
export const stateSize = (
  machine: AnyStateMachine,
  state: string
): { readonly width: number; readonly height: number } => {
  const stays = staysOf(arrowsOf(machine), state)
  const widths = [textWidth(state, fonts.name) + 8, ...stays.map((line) => textWidth(line, fonts.move))]
  return {
    width: Math.ceil(Math.max(90, ...widths) + 2 * fonts.pad),
    height: nameHeight + (stays.length === 0 ? 0 : stays.length * fonts.line + fonts.pad)
  }
}

/** The size of the label of an arrow: its transitions, one a line. */
export const labelSize = ({ moves }: Arrow): { readonly width: number; readonly height: number } => ({
  width: Math.ceil(Math.max(...moves.map((move) => textWidth(moveText(move), fonts.move))) + 8),
  height: moves.length * fonts.line + 4
})

/** Whether a layout has exactly the states and arrows of the machine, in boxes that hold their texts. */
export const fits = (machine: AnyStateMachine, layout: MachineLayout): boolean => {
  const arrows = arrowsOf(machine).filter(({ from, to }) => from !== to)
  const names = (pairs: ReadonlyArray<{ readonly from: string; readonly to: string }>) =>
    pairs.map(({ from, to }) => `${from} ${to}`).join()
  const holds = (box: Box | undefined, size: { readonly width: number; readonly height: number }) =>
    box !== undefined && box.width >= size.width && box.height >= size.height
  const states = statesOf(machine)
  return (
    names(arrows) === names(layout.arrows) &&
    states.map(({ name }) => name).join() === Object.keys(layout.states).join() &&
    states.every(({ name }) => holds(layout.states[name], stateSize(machine, name))) &&
    arrows.every((arrow, index) => holds(layout.arrows[index]?.label, labelSize(arrow)))
  )
}
