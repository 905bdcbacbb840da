/**
 * The screen of `watch` as lines, for any size: head and figures, then the queue, then the latest audit rows. An action to
 * confirm takes the place of the queue and the audit rows. Lines that do not fit are left out at the bottom, with a note.
 */
import { age } from "../views/age.ts"
import { cellText, plainScreen, unbroken } from "../views/cellText.ts"
import { changeText } from "../views/stateText.ts"
import { wrapWords } from "../views/wrapWords.ts"
import { queueCounts, usualOf, whatWaits } from "../views/queueView.ts"
import { headline } from "./deeds.ts"
import { broken, figure, type Figures, perSecond } from "./figures.ts"
import { type Happened, type Look, verbsOf, type WatchState } from "./WatchModel.ts"
import { plural } from "../../src/machines/shared/Text.ts"

export interface Line {
  readonly text: string
  readonly tone?: "title" | "alarm" | "good" | "faint" | "chosen"
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The number of audit rows on a screen with enough room. */
const happenedRows = 4
/** Below this number of rows, the screen has no room for figures and audit rows: it shows alarms and the queue. */
const lowScreen = 16

/** The lines of the screen, at most `rows`; the drawing cuts long ones. */
export const watchLines = (state: WatchState, size: Size, now: number): ReadonlyArray<Line> => {
  const { look, mode } = state
  const top = [title(state, now), ...(look === null ? [] : head(look, state, size))]
  const bottom = footer(state, size)
  const room = Math.max(0, size.rows - top.length - bottom.length)
  const middle =
    look === null
      ? []
      : mode.kind === "list"
        ? [
            ...queueLines(state, look, size, room - eventRows(size, room)),
            ...happenedLines(look, eventRows(size, room), state.times)
          ]
        : deedLines(state, room)
  return [...top, ...middle, ...bottom].slice(0, size.rows)
}

const eventRows = ({ rows }: Size, room: number): number =>
  rows < lowScreen ? 0 : Math.min(happenedRows, Math.max(0, room - 4))

type Times = WatchState["times"]

const two = (value: number): string => String(value).padStart(2, "0")

/** Time of day: in the local zone, as in the effects, or in UTC with a mark. */
const clock = (millis: number, times: Times): string => {
  const date = new Date(millis)
  return times === "utc"
    ? `${date.toISOString().slice(11, 19)}Z`
    : [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")
}

const day = (millis: number, times: Times): string => {
  const date = new Date(millis)
  return times === "utc"
    ? date.toISOString().slice(0, 10)
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

const title = ({ url, times, away, look }: WatchState, now: number): Line => {
  if (away !== null) {
    return { text: `AWAY since ${clock(away.since, times)}: ${away.sentence} Retrying.`, tone: "alarm" }
  }
  return {
    text: `brokerage watch  ${url}  ${look === null ? "connecting ..." : serviceTime(look.aheadMillis, now, times)}`,
    tone: "title"
  }
}

/**
 * A difference of clocks up to this is normal between two machines. A larger one is shown, because a sandbox's clock was
 * advanced.
 */
const sameClockMillis = 60_000

/** Business time of the service as text. All ages and rows on the screen refer to it. */
const serviceTime = (aheadMillis: number, now: number, times: Times): string => {
  const time = now + aheadMillis
  if (Math.abs(aheadMillis) < sameClockMillis) return clock(time, times)
  const away = `${age(Math.abs(aheadMillis))} ${aheadMillis > 0 ? "ahead" : "behind"}`
  return `${day(time, times)} ${clock(time, times)}, ${away}`
}

/** A rate as text; larger rates have fewer decimal places. */
const rate = (value: number | null): string => (value === null ? "-" : value < 10 ? value.toFixed(1) : value.toFixed(0))

const head = (look: Look, { before, away }: WatchState, { columns, rows }: Size): ReadonlyArray<Line> => {
  const { figures, closeouts, queue } = look
  const lines: ReadonlyArray<Line> = [
    away === null ? booksLine(figures) : asLastSeen(booksLine(figures)),
    ratesLine(figures, before),
    marginLine(figures, closeouts),
    ...wrapWords(queue.counts.length === 0 ? "Nothing waits." : queueCounts(queue), columns).map((text) => ({ text }))
  ]
  return rows < lowScreen ? lines.filter(({ tone }) => tone === "alarm") : [...lines, { text: "" }]
}

/** The line without its positive tone, because no figure counts as good while the service is unreachable. */
const asLastSeen = ({ text, tone }: Line): Line => ({
  text: `${text}   last data, as all below`,
  tone: tone === "good" ? "faint" : (tone ?? "faint")
})

const booksLine = (figures: Figures): Line => {
  if (figure(figures, "brokerage_database_up") === 0)
    return { text: "books    the database does not answer", tone: "alarm" }
  const wrong = broken(figures)
  const failed = figure(figures, 'brokerage_webhook_deliveries{state="failed"}') ?? 0
  const due = figure(figures, 'brokerage_webhook_deliveries{state="due"}') ?? 0
  const deliveries = `deliveries  ${due} due, ${failed} failed`
  return wrong.length === 0
    ? { text: `books    hold        ${deliveries}`, tone: "good" }
    : { text: `books    DO NOT HOLD: ${wrong.join(", ")}   ${deliveries}`, tone: "alarm" }
}

const ratesLine = (figures: Figures, before: Figures | null): Line => {
  const lag = figure(figures, 'brokerage_loop_lag_seconds{figure="p99"}') ?? 0
  const feed = figure(figures, "brokerage_feed_connected")
  return {
    text: [
      `rates    answers ${rate(perSecond(figures, before, "brokerage_answers_total"))}/s`,
      `commits ${rate(perSecond(figures, before, "brokerage_commits_total"))}/s`,
      `venue calls ${rate(perSecond(figures, before, "brokerage_venue_calls_made_total"))}/s`,
      `lag ${(lag * 1_000).toFixed(0)} ms`,
      feed === 1 ? "feed up" : "feed DOWN"
    ].join("  ")
  }
}

const marginLine = (figures: Figures, closeouts: Look["closeouts"]): Line => {
  const watched = figure(figures, "brokerage_risk_accounts") ?? 0
  const due = figure(figures, "brokerage_risk_due") ?? 0
  const inDoubt = figure(figures, 'brokerage_venue_calls{state="lost"}') ?? 0
  const shown = closeouts.map(({ closeOutId, clientUid, state }) => `CO-${closeOutId} ${clientUid} ${state}`).join(", ")
  return {
    text: `margin   ${plural(watched, "account")}, ${due} due   ${plural(inDoubt, "call")} in doubt   close-outs ${shown === "" ? "none" : shown}`,
    ...(shown === "" && inDoubt === 0 ? {} : { tone: "alarm" as const })
  }
}

/** Columns of the queue: ages and uids have their own widths, and the description takes the remaining width. */
const cells =
  ({ columns }: Size, rows: ReadonlyArray<Cells>) =>
  ({ waits, who, decide, what }: Cells): string => {
    const [whose, usual] = [widest(rows, "who", 14, 24), widest(rows, "decide", 28, 40)]
    return columns < 60
      ? `${waits.padEnd(5)} ${decide.padEnd(18)} ${what}`
      : `${waits.padEnd(5)} ${who.padEnd(whose)} ${decide.padEnd(usual)} ${what}`
  }

type Cells = Readonly<Record<"waits" | "who" | "decide" | "what", string>>

/**
 * The width of a column: that of its longest cell, but at least `least` and at most `most`. A longer cell shifts only the
 * rest of its own row.
 */
const widest = (rows: ReadonlyArray<Cells>, column: keyof Cells, least: number, most: number): number =>
  rows.reduce((width, row) => Math.max(width, Math.min(most, row[column].length)), least)

const queueLines = (state: WatchState, look: Look, size: Size, room: number): ReadonlyArray<Line> => {
  const { waiting, asOf } = look.queue
  if (room <= 1 || waiting.length === 0) return []
  const shown = room - 1
  const from = Math.max(0, Math.min(state.selected - Math.floor(shown / 2), waiting.length - shown))
  const seen = waiting.slice(from, from + shown)
  const drawn = seen.map((row) => ({
    waits: age(asOf - row.since),
    who: row.clientUid ?? row.partner ?? "",
    decide: row.mayDecide ? usualOf(row) : `(${usualOf(row)})`,
    what: whatWaits(row)
  }))
  const inLine = cells(size, drawn)
  const rows = drawn.map((each, index): Line => {
    const chosen = from + index === state.selected
    const text = inLine(each)
    return chosen
      ? { text: `> ${text}`, tone: "chosen" }
      : { text: `  ${text}`, ...(seen[index]?.mayDecide === true ? {} : { tone: "faint" }) }
  })
  const range = waiting.length > shown ? ` (${from + 1}-${from + rows.length} of ${waiting.length})` : ""
  return [
    {
      text: `  ${inLine({ waits: "WAITS", who: "OWNER", decide: "COMMAND", what: `SUBJECT${range}` })}`,
      tone: "title"
    },
    ...rows
  ]
}

const happenedLines = ({ happened }: Look, rows: number, times: Times): ReadonlyArray<Line> =>
  rows < 2
    ? []
    : [
        { text: "" },
        ...happened.slice(-(rows - 1)).map((row): Line => ({ text: happenedText(row, times), tone: "faint" }))
      ]

const happenedText = (row: Happened, times: Times): string => {
  const change = cellText(changeText(row), { ...plainScreen, times }).replaceAll(unbroken, " ")
  return [clock(row.ts, times), row.role, row.action, row.object, change]
    .filter((each) => each !== null && each !== "")
    .join("  ")
}

const deedLines = ({ mode }: WatchState, room: number): ReadonlyArray<Line> => {
  if (mode.kind === "list") return []
  const { intent } = mode
  if (mode.kind === "asking") {
    const optional = intent.verb.prompt === "note" ? " (required for a candidate of screening)" : ""
    return [
      { text: headline({ ...intent, words: "" }), tone: "title" },
      { text: "" },
      { text: `${intent.verb.prompt ?? ""}${optional}: ${intent.words}_` }
    ]
  }
  if (mode.kind === "rehearsing")
    return [{ text: headline(intent), tone: "title" }, { text: "Running the dry run ..." }]
  if (mode.kind === "doing") return [{ text: headline(intent), tone: "title" }, { text: "Running the command ..." }]
  const [first, ...rest] = mode.lines
  const shown = Math.max(0, room - 2)
  const below = rest.length - mode.from - shown
  return [
    { text: first ?? "", tone: "title" },
    ...rest.slice(mode.from, mode.from + shown).map((text): Line => ({ text })),
    ...(below > 0 ? [{ text: `... ${plural(below, "more line")} below: arrow down.`, tone: "faint" as const }] : [])
  ]
}

const footer = (state: WatchState, { columns }: Size): ReadonlyArray<Line> => [
  ...(state.message === null
    ? []
    : wrapWords(state.message, columns)
        .slice(0, outcomeRows)
        .map((text): Line => ({ text, tone: "title" }))),
  { text: keysOf(state), tone: "faint" }
]

/** Limit on the rows of the last outcome, which is otherwise shown completely. */
const outcomeRows = 3

const keysOf = ({ mode, look, selected, away }: WatchState): string => {
  switch (mode.kind) {
    case "asking":
      return "Enter: show the dry run   Esc: cancel"
    case "deed":
      return `${away === null ? "y: carry it out   " : ""}n: cancel   arrows: scroll`
    case "rehearsing":
      return "Esc: cancel"
    case "doing":
      return ""
    case "list": {
      const item = look?.queue.waiting[selected]
      const [usual, refusing] = item === undefined ? [] : verbsOf(item)
      const verbs = [
        item === undefined ? [] : [`Enter: ${usual?.name ?? "how"}`],
        refusing === undefined ? [] : [`x: ${refusing.name}`]
      ].flat()
      return ["arrows: select", ...verbs, "r: refresh", "q: quit"].join("   ")
    }
  }
}
