/** Draws the lines of `watch` and passes keys on; its state is a property (operator surface, watch). */
import { Box, Text, useInput, useStdin, useWindowSize } from "ink"
import { createElement, type ReactElement } from "react"
import type { Key, WatchState } from "./WatchModel.ts"
import { type Line, type Size, watchLines } from "./watchLines.ts"

export interface ScreenProps {
  readonly state: WatchState
  /** Wall time, Unix ms. */
  readonly now: number
  /** True for a terminal with emphasis (NO_COLOR unset). */
  readonly styled: boolean
  readonly onKey: (key: Key) => void
}

export const WatchScreen = ({ state, now, styled, onKey }: ScreenProps): ReactElement => {
  const { columns, rows } = useWindowSize()
  const { isRawModeSupported } = useStdin()
  useInput((input, key) => keysOf(input, key).forEach(onKey), { isActive: isRawModeSupported })
  // One row less than the terminal has: a frame of full height would make it scroll.
  return createElement(Frame, { state, now, styled, size: { columns, rows: rows - 1 } })
}

interface FrameProps {
  readonly state: WatchState
  readonly now: number
  readonly styled: boolean
  readonly size: Size
}

/** One screen, for output without a terminal. */
export const Frame = ({ state, now, styled, size }: FrameProps): ReactElement =>
  createElement(
    Box,
    { flexDirection: "column", width: size.columns },
    ...watchLines(state, size, now).map((line, index) =>
      createElement(Text, { key: index, wrap: "truncate", ...(styled ? toneOf(line) : {}) }, plain(line.text))
    )
  )

const tones = {
  title: { bold: true },
  alarm: { color: "red", bold: true },
  good: { color: "green" },
  faint: { dimColor: true },
  chosen: { inverse: true }
} as const

const toneOf = ({ tone }: Line): object => (tone === undefined ? {} : tones[tone])

/**
 * The text in a safe form: an empty line keeps its height, and control characters, which could control the terminal, are
 * replaced.
 */
const plain = (text: string): string => {
  const safe = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?")
  return safe === "" ? " " : safe
}

interface InkKey {
  readonly upArrow: boolean
  readonly downArrow: boolean
  readonly return: boolean
  readonly escape: boolean
  readonly backspace: boolean
  readonly delete: boolean
  readonly ctrl: boolean
}

/** The keys of one piece of input: fast typing and pasting put several keys into one piece. */
const keysOf = (input: string, key: InkKey): ReadonlyArray<Key> => {
  const name = nameOf(key)
  if (name !== undefined) return [{ input: "", name, ctrl: key.ctrl }]
  return [...input].map((each): Key => {
    if (each === "\r" || each === "\n") return { input: "", name: "enter" }
    return each === "\u007F" ? { input: "", name: "backspace" } : { input: each, ctrl: key.ctrl }
  })
}

const nameOf = (key: InkKey): Key["name"] => {
  if (key.upArrow) return "up"
  if (key.downArrow) return "down"
  if (key.return) return "enter"
  if (key.escape) return "escape"
  // Terminals send one of these two for the backspace key.
  return key.backspace || key.delete ? "backspace" : undefined
}
