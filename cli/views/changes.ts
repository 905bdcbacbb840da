/**
 * The changes of a command, which are shown above its answer: `Reliance of ACME: NONE -> APPROVED` (operator surface, rules
 * for every command).
 */
import { dryRunIds } from "./cellText.ts"
import { statesOf, stateText } from "./stateText.ts"
import { stack, text, time, type View, richText, type RichText } from "./View.ts"

/** A change as the service returns it: an object (KIND:ID), with its state or a fact before and after. */
export interface Change {
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

/** Display names of the objects of an answer. */
export interface Callings {
  readonly partner: (id: number) => string
  /** The client of the answer, by number; null when the answer names no client. */
  readonly client: { readonly clientId: number; readonly clientUid: string } | null
  /** Wall time of the answer, Unix ms, when present: an advanced clock is shown as the difference to it. */
  readonly wallNow?: number
}

/** Reads display names from an answer. The answer of a grant contains the answer of the granted command. */
export const callingsOf = (answer: unknown, partners: ReadonlyMap<number, string>): Callings => {
  const { result, ...own } = (answer ?? {}) as Readonly<Record<string, unknown>>
  const { clientId, clientUid, wallNow } = { ...own, ...(result as object | null | undefined) } as typeof own
  return {
    partner: (id) => partners.get(id) ?? String(id),
    client: typeof clientId === "number" && typeof clientUid === "string" ? { clientId, clientUid } : null,
    ...(typeof wallNow === "number" ? { wallNow } : {})
  }
}

/** The most lines that are shown; further lines are only counted. */
const mostLines = 12

/** One line per change; a sentence when there are none. */
export const changesView = (changes: ReadonlyArray<Change>, callings: Callings): View => {
  if (changes.length === 0) return text("Nothing has changed.")
  const lines = changes.slice(0, mostLines).map((change) => text(changeLine(change, callings)))
  const more = changes.length - lines.length
  return stack(...lines, ...(more === 0 ? [] : [text(`and ${more} more: see audit tail.`)]))
}

export const changeLine = (change: Change, callings: Callings): string | RichText => {
  const { object, action } = change
  const { before, after } = statesOf(change)
  const phrase = ofItsOwn[action]?.(change, callings) ?? null
  if (phrase !== null) return phrase
  const what = object === null ? action : calling(object, callings)
  if (before === null && after !== null && beginnings.has(action)) return `${what}: new, ${after}`
  if (before === after) return `${what}: ${action}`
  if (after === null) return stateText(`${what}: ${before} -> nothing (${action})`)
  return stateText(`${what}: ${before === null ? `${after} (${action})` : `${before} -> ${after}`}`)
}

/** The display name of an object: `withdrawalRequest:513` is `Withdrawal request 513`; a partner is shown by its code. */
export const calling = (object: string, { partner, client }: Callings): string => {
  const [kind = "", given = "", ...rest] = object.split(":")
  const id = Number(given) >= dryRunIds ? "(new)" : given
  const partnerOf = (number: string) => (Number.isNaN(Number(number)) ? number : partner(Number(number)))
  const words = (names[kind] ?? kind.replaceAll(/([A-Z])/g, " $1")).toLowerCase()
  const noun = `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/^Kyc\b/, "KYC")
  if (kind === "partner") return `${noun} ${partnerOf(id)}`
  if (kind === "reliance") return `${noun} of ${partnerOf(id)}`
  const of = client !== null && id === String(client.clientId) ? client.clientUid : id
  if (kind === "client") return `${noun} ${of}`
  return rest.length === 0 ? `${noun} ${id}` : `${noun} ${rest.join(" ")} of ${of}`
}

/** Actions that create their object. */
const beginnings = new Set(["approval.request", "break.open", "settlement.item", "statement.generate", "key.issue"])

type Phrase = (change: Change, callings: Callings) => string | RichText | null

const cashLine: Phrase = ({ object, before, after }, { client }) =>
  before === null || after === null
    ? null
    : `Cash${client === null ? "" : ` of ${client.clientUid}`}: ${before} -> ${after} (ledger transaction ${numbered(object)})`

/** Phrases for actions whose audit rows contain facts instead of states. */
const ofItsOwn: Readonly<Record<string, Phrase>> = {
  "clock.advance": ({ before, after }, { wallNow }) => {
    const [from, to] = [before, after].map((ahead) => Number(/^(\d+) ms ahead$/.exec(ahead ?? "")?.[1] ?? Number.NaN))
    if (wallNow === undefined || from === undefined || to === undefined || Number.isNaN(from + to)) return null
    return richText`Clock: ${time(wallNow + from)} -> ${time(wallNow + to)}`
  },
  // A halt is shown by its scope.
  "market.halt": ({ before, after }) =>
    stateText(`Trading halt: ${[before, after].filter((state) => state !== null).join(" -> ")}`),
  "partner.cidrs": ({ object, before, after }, { partner }) =>
    `Networks that ${partner(idOf(object))} may call from: ${before} -> ${after}`,
  "partner.limits": ({ object, before, after }, { partner }) =>
    `Calls a minute of ${partner(idOf(object))}: ${before} -> ${after}`,
  "ledger.adjust": cashLine,
  "client.payout": cashLine
}

/** The number of an object as text; `(new)` for an object that a dry run would create. */
const numbered = (object: string | null): string => (idOf(object) >= dryRunIds ? "(new)" : String(idOf(object)))

const idOf = (object: string | null): number => Number(object?.split(":")[1])

/** Display names of machines that differ from the machine's name. */
const names: Readonly<Record<string, string>> = {
  apiKey: "key",
  reconBreak: "break",
  barrierContract: "contract",
  closeOut: "close-out",
  verificationBlock: "block",
  watchEntry: "watch list entry"
}
