/**
 * The state of `watch`, and how keys and snapshots change it. Pure, so that tests cover every screen without a terminal
 * (operator surface, watch).
 */
import type { WaitingRow, QueueData } from "../views/queueView.ts"
import type { Figures } from "./figures.ts"

/** The fields of an audit row that `watch` shows. */
export interface Happened {
  readonly auditId: number
  readonly ts: number
  readonly role: string
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

export interface OpenCloseOut {
  readonly closeOutId: number
  readonly clientUid: string
  readonly state: string
}

/** One snapshot of the service. */
export interface Look {
  /** How far the service's clock is ahead of the local one, ms: a sandbox's clock can be advanced. */
  readonly aheadMillis: number
  readonly queue: QueueData
  readonly figures: Figures
  readonly closeouts: ReadonlyArray<OpenCloseOut>
  /** The latest audit rows, newest last. */
  readonly happened: ReadonlyArray<Happened>
}

/** An action that a key starts on an item. Other actions need a command. */
export interface Verb {
  readonly name: "confirm" | "reject" | "approve" | "pay" | "fail" | "clear" | "grant" | "refuse"
  /** The text to enter first, or null. A note is optional when screening found no candidate. */
  readonly prompt: "reason" | "note" | null
}

/** The action that the operator intends, with its text. */
export interface Intent {
  readonly item: WaitingRow
  readonly verb: Verb
  readonly words: string
}

export type Mode =
  | { readonly kind: "list" }
  /** The operator is typing the reason or note of the action. */
  | { readonly kind: "asking"; readonly intent: Intent }
  /** The action's dry run is in progress. */
  | { readonly kind: "rehearsing"; readonly intent: Intent }
  /** The effects found by the dry run are shown, from line `from` on. The action waits for yes or no. */
  | { readonly kind: "deed"; readonly intent: Intent; readonly lines: ReadonlyArray<string>; readonly from: number }
  | { readonly kind: "doing"; readonly intent: Intent }

export interface WatchState {
  readonly url: string
  /** Format of times of day: in the local zone, or in UTC. */
  readonly times: "short" | "utc"
  readonly look: Look | null
  /** Figures of the previous snapshot. */
  readonly before: Figures | null
  /** Why and since when (wall time, Unix ms) the service does not respond; null while it responds. */
  readonly away: { readonly since: number; readonly sentence: string } | null
  /** Index in the queue; -1 until a key selects a row. */
  readonly selected: number
  readonly mode: Mode
  /** The sentence that reports the outcome of the last key or action; null when there is none to show. */
  readonly message: string | null
  readonly ended: boolean
}

export const beginWatch = (url: string, times: WatchState["times"]): WatchState => ({
  url,
  times,
  look: null,
  before: null,
  away: null,
  selected: 0,
  mode: { kind: "list" },
  message: null,
  ended: false
})

/**
 * The id of the approval that decides the item: the item itself, or the approval that its next step waits for. Null when
 * there is none.
 */
export const approvalOf = ({ decide }: WaitingRow): string | null =>
  /^approval grant ([0-9]+)$/.exec(decide[0] ?? "")?.[1] ?? null

/** The confirming and the refusing action of an item. Empty when only a command decides it, or the operator may not decide it. */
export const verbsOf = (item: WaitingRow): ReadonlyArray<Verb> => {
  const { kind, state, about, mayDecide } = item
  if (!mayDecide) return []
  if (approvalOf(item) !== null) {
    // A new key is shown once, by the command that grants it: a screen that is refreshed is no place for it.
    return kind === "approval" && about === "key issue"
      ? []
      : [
          { name: "grant", prompt: null },
          { name: "refuse", prompt: null }
        ]
  }
  const reject: Verb = { name: "reject", prompt: "reason" }
  switch (kind) {
    case "deposit":
      return [{ name: "confirm", prompt: null }, reject]
    case "withdrawal":
      return state === "REQUESTED"
        ? [{ name: "approve", prompt: null }, reject]
        : [
            { name: "pay", prompt: null },
            { name: "fail", prompt: "reason" }
          ]
    case "case":
      return [{ name: "clear", prompt: "note" }, reject]
    default:
      return []
  }
}

const isOfOne = (one: WaitingRow, other: WaitingRow): boolean => one.kind === other.kind && one.id === other.id

const isSame = (one: WaitingRow, other: WaitingRow): boolean =>
  isOfOne(one, other) && one.state === other.state && approvalOf(one) === approvalOf(other)

/** The selected index after rows were added and removed: the same row, or -1 when its object has moved on to another step. */
const placeIn = (waiting: ReadonlyArray<WaitingRow>, { look, selected }: WatchState): number => {
  const chosen = look?.queue.waiting[selected]
  const last = Math.max(0, waiting.length - 1)
  if (chosen === undefined) return Math.min(selected, last)
  const place = waiting.findIndex((each) => isSame(each, chosen))
  if (place !== -1) return place
  return waiting.some((each) => isOfOne(each, chosen)) ? -1 : Math.min(selected, last)
}

/** Applies a snapshot. When the item that is being decided here is gone, another operator has decided it. */
export const looked = (state: WatchState, look: Look): WatchState => {
  const next: WatchState = {
    ...state,
    look,
    before: state.look?.figures ?? null,
    away: null,
    message: state.away === null ? state.message : "The service answers again.",
    selected: placeIn(look.queue.waiting, state)
  }
  const { mode } = next
  if (mode.kind === "list" || mode.kind === "doing") return next
  const { item } = mode.intent
  if (look.queue.waiting.some((each) => isSame(each, item))) return next
  return {
    ...next,
    mode: { kind: "list" },
    message: `${decidedOf(item, look)} has been decided elsewhere meanwhile.`
  }
}

/** The object that was decided, as text. When the item still waits in its earlier state, only its approval was decided. */
const decidedOf = (item: WaitingRow, look: Look): string => {
  const approvalId = approvalOf(item)
  const isThere = look.queue.waiting.some((each) => isOfOne(each, item) && each.state === item.state)
  const what = `${item.kind} ${item.id}`
  return approvalId === null || item.kind === "approval" || !isThere ? what : `The approval ${approvalId} of ${what}`
}

/** Marks the service as unreachable; the last data stay on the screen. */
export const disconnected = (state: WatchState, sentence: string, at: number): WatchState => ({
  ...state,
  away: { since: state.away?.since ?? at, sentence }
})

/** Shows the effects once the dry run has ended. */
export const rehearsed = (state: WatchState, intent: Intent, lines: ReadonlyArray<string>): WatchState =>
  state.mode.kind === "rehearsing" && state.mode.intent === intent
    ? { ...state, mode: { kind: "deed", intent, lines, from: 0 } }
    : state

/** Shows the text with which an action or its dry run has ended. */
export const settled = (state: WatchState, intent: Intent, message: string): WatchState =>
  "intent" in state.mode && state.mode.intent === intent
    ? { ...state, mode: { kind: "list" }, message }
    : { ...state, message }

/**
 * Ends an action, and selects the next row of another object, so that a repeated key does not start the next step of
 * the same object.
 */
export const done = (state: WatchState, intent: Intent, message: string): WatchState => {
  const waiting = state.look?.queue.waiting ?? []
  const isOther = (each: WaitingRow): boolean => !isOfOne(each, intent.item)
  const place = waiting.findIndex((each) => isOfOne(each, intent.item))
  const behind = waiting.findIndex((each, index) => index > place && isOther(each))
  return { ...settled(state, intent, message), selected: behind === -1 ? waiting.findLastIndex(isOther) : behind }
}

/** A key as the terminal gives it. */
export interface Key {
  readonly input: string
  readonly name?: "up" | "down" | "enter" | "escape" | "backspace"
  readonly ctrl?: boolean
}

/** The side effect that a key starts: an action's dry run, the action itself, or a new snapshot. */
export type Wish =
  | { readonly kind: "rehearse"; readonly intent: Intent }
  | { readonly kind: "carryOut"; readonly intent: Intent }
  | { readonly kind: "look" }

export interface Pressed {
  readonly state: WatchState
  readonly wish: Wish | null
}

/** Limit on the length of a reason or note, characters. */
const mostWords = 500

export const press = (state: WatchState, key: Key): Pressed => {
  if (key.ctrl === true && key.input === "c") return { state: { ...state, ended: true }, wish: null }
  const { mode } = state
  switch (mode.kind) {
    case "list":
      return pressInList(state, key)
    case "asking":
      return pressWords(state, mode.intent, key)
    case "deed":
      return pressOnDeed(state, mode, key)
    case "rehearsing":
      return key.name === "escape" ? leave(state) : { state, wish: null }
    case "doing":
      return { state, wish: null }
  }
}

const leave = (state: WatchState): Pressed => ({
  state: { ...state, mode: { kind: "list" }, message: "Nothing was done." },
  wish: null
})

const pressInList = (state: WatchState, { input, name }: Key): Pressed => {
  const count = state.look?.queue.waiting.length ?? 0
  const at = (selected: number): Pressed => ({
    state: { ...state, selected: Math.max(0, Math.min(selected, count - 1)), message: null },
    wish: null
  })
  if (name === "up" || input === "k") return at(state.selected - 1)
  if (name === "down" || input === "j") return at(state.selected + 1)
  if (input === "g") return at(0)
  if (input === "G") return at(count - 1)
  if (input === "q") return { state: { ...state, ended: true }, wish: null }
  if (input === "r") return { state, wish: { kind: "look" } }
  if (name === "enter") return choose(state, 0)
  if (input === "x") return choose(state, 1)
  return { state, wish: null }
}

const choose = (state: WatchState, which: 0 | 1): Pressed => {
  const item = state.look?.queue.waiting[state.selected]
  if (item === undefined) return { state: { ...state, message: "No row is selected." }, wish: null }
  const verb = verbsOf(item)[which]
  if (verb === undefined) return { state: { ...state, message: elsewhere(item) }, wish: null }
  const intent: Intent = { item, verb, words: "" }
  return verb.prompt === null
    ? rehearse(state, intent)
    : { state: { ...state, mode: { kind: "asking", intent }, message: null }, wish: null }
}

const elsewhere = ({ mayDecide, decide }: WaitingRow): string =>
  mayDecide ? `brokerage ${decide.join("   or: brokerage ")}` : "This operator key may not decide that."

const rehearse = (state: WatchState, intent: Intent): Pressed => ({
  state: { ...state, mode: { kind: "rehearsing", intent }, message: null },
  wish: { kind: "rehearse", intent }
})

const pressWords = (state: WatchState, intent: Intent, { input, name, ctrl }: Key): Pressed => {
  const typed = (words: string): Pressed => ({
    state: { ...state, mode: { kind: "asking", intent: { ...intent, words } }, message: null },
    wish: null
  })
  if (name === "escape") return leave(state)
  if (name === "backspace") return typed([...intent.words].slice(0, -1).join(""))
  if (name === "enter") {
    if (intent.verb.prompt === "reason" && intent.words.trim() === "") {
      return { state: { ...state, message: "A reason is needed." }, wish: null }
    }
    return rehearse(state, intent)
  }
  const text = ctrl === true ? "" : input.replaceAll(/[\p{Cc}\p{Cf}]/gu, "")
  return text === "" ? { state, wish: null } : typed((intent.words + text).slice(0, mostWords))
}

const pressOnDeed = (state: WatchState, mode: Extract<Mode, { kind: "deed" }>, { input, name }: Key): Pressed => {
  const { intent, lines, from } = mode
  const at = (line: number): Pressed => ({
    state: { ...state, mode: { ...mode, from: Math.max(0, Math.min(line, lines.length - 1)) } },
    wish: null
  })
  if (name === "up") return at(from - 1)
  if (name === "down") return at(from + 1)
  if (input === "y" && state.away !== null) return { state, wish: null }
  if (input === "y") return { state: { ...state, mode: { kind: "doing", intent } }, wish: { kind: "carryOut", intent } }
  if (input === "n" || input === "q" || name === "escape") return leave(state)
  return { state, wish: null }
}
