/**
 * Renders cells as text: times in the local zone, names for ids, control characters as escapes, and colours for states
 * (operator surface, rules for every command).
 */
import { styleText } from "node:util"
import { type Cell, inlineText, Moment, Named, RichText } from "./View.ts"

/** How an output shows cells: colours, width and the format of times. */
export interface Screen {
  /** True for a terminal with colours. */
  readonly styled: boolean
  /** Columns of the terminal. Null without a terminal, or with `--wide`: lines are then not wrapped. */
  readonly columns: number | null
  /** Format of times: `short` in the local zone, `utc` to the second, or `exact` for pipes, in UTC too. */
  readonly times: "short" | "utc" | "exact"
  /** Codes of partners and labels of operator keys by id. */
  readonly names?: Names
}

export type Names = { readonly [K in Named["kind"]]: ReadonlyMap<number, string> }

/** The output of tests and pipes: no colours, no wrapping, exact times. */
export const plainScreen: Screen = { styled: false, columns: null, times: "exact" }

/** A space at which no line breaks; the renderer turns it into a plain space. */
export const unbroken = "\u00a0"

/** The cell in one line of printable characters. */
export const cellText = (cell: Cell, screen: Screen): string => {
  if (cell === null || cell === undefined) return ""
  // A time is never broken over two lines.
  if (cell instanceof Moment) return momentText(cell, screen.times).replaceAll(" ", unbroken)
  if (cell instanceof RichText) return cell.parts.map((part) => cellText(part, screen)).join("")
  if (cell instanceof Named) {
    const name = screen.names?.[cell.kind].get(cell.id)
    const shown = name === undefined ? String(cell.id) : cell.withId ? `${cell.id} (${name})` : name
    return escaped(`${cell.word} ${shown}`.trim())
  }
  // A new id in a dry run is not shown, because it does not exist afterwards.
  if (typeof cell === "number" && cell >= dryRunIds) return "(new)"
  return typeof cell === "object" ? cellText(inlineText(cell), screen) : escaped(String(cell))
}

/** The first id of objects that a dry run creates. */
export const dryRunIds = 9_000_000_000_000_000

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const two = (value: number): string => String(value).padStart(2, "0")

/** A time as text. `short` shows day, month and time of day for the current year; for other years, also the year. */
const momentText = (moment: Moment, times: Screen["times"]): string => {
  const date = new Date(moment.at)
  if (times === "exact" || Number.isNaN(date.getTime())) return String(moment)
  if (times === "utc") {
    const [from, to] = moment.style === "clock" ? [11, 23] : [0, 19]
    return `${date.toISOString().slice(from, to).replace("T", " ")}Z`
  }
  const day = `${two(date.getDate())} ${months[date.getMonth()]}`
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`
  const seconds = `${clock}:${two(date.getSeconds())}`
  if (moment.style === "clock") return `${seconds}.${String(date.getMilliseconds()).padStart(3, "0")}`
  const today = new Date()
  if (moment.style === "brief" && date.toDateString() === today.toDateString()) return seconds
  if (date.getFullYear() !== today.getFullYear()) return `${day} ${date.getFullYear()} ${clock}`
  return moment.style === "brief" ? `${day} ${clock}` : `${day} ${seconds}`
}

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** Escapes control and format characters and lone surrogates, which could control the terminal or hide text. */
export const escaped = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return (
      named[character] ??
      (code < 256 ? `\\x${hex(code, 2)}` : code < 65_536 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 5)}}`)
    )
  })

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0")

/** Headings and member names whose cells are states. */
const stateName = /(^|[^a-z])(status|state|outcome|result|reliance|standing)$|(Status|State|Outcome)$/

export const isStateName = (name: string): boolean => stateName.test(name)

type Colour = "green" | "yellow" | "red"

const coloursOf: Readonly<Record<Colour, string>> = {
  green:
    "ACTIVE APPROVED GRANTED DONE PAID SENT CONFIRMED CREDITED BOOKED PASSED FILLED NORMAL ACCEPTED CLEARED SETTLED EXECUTED PUBLISHED READY passed held ok",
  yellow:
    "PENDING REQUESTED KYC_PENDING OPEN WAITING WAITING_MARK WAITING_MARKET PAUSED SUSPENDED INACTIVE RETRYING QUEUED SENDING RESTRICTED MARGIN_CALL IN_REVIEW UNDER_REVIEW RUNNING",
  red: "REJECTED FAILED REFUSED FROZEN REVOKED KYC_REJECTED CLOSE_OUT BROKEN broken failed HIT COMMAND_REFUSED NOT_AS_FILED DEAD"
}

const colourOf = new Map(
  Object.entries(coloursOf).flatMap(([colour, states]) =>
    states.split(" ").map((state) => [state, colour as Colour] as const)
  )
)

/** Colours the first word of a known state as good, waiting, or failed. */
export const coloured = (text: string): string => {
  const [word = ""] = /^[A-Za-z_]+/.exec(text) ?? []
  const colour = colourOf.get(word)
  return colour === undefined ? text : `${styled(colour, word)}${text.slice(word.length)}`
}

/** Adds a style. The caller has checked that the terminal supports styles. */
export const styled = (format: "bold" | "dim" | Colour, text: string): string =>
  styleText(format, text, { validateStream: false })
