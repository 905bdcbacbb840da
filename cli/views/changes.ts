/** What a command has changed, said first: `Reliance of ACME: NONE -> APPROVED` (operator surface, rules for every command). */
import { dryRunIds } from "./cellText.ts"
import { stack, text, type View } from "./View.ts"

/** As the service answers it: an object (KIND:ID) with its state or a fact before and after. */
export interface Change {
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

/** What people call the things that an answer is about. */
export interface Callings {
  readonly partner: (id: number) => string
  /** The answer's own client, by its number. */
  readonly client: { readonly clientId: number; readonly clientUid: string } | null
}

/** A command that changes more says how much more. */
const mostLines = 12

/** One line a change; says so when there is none. */
export const changesView = (changes: ReadonlyArray<Change>, callings: Callings): View => {
  if (changes.length === 0) return text("Nothing has changed: it is as it was.")
  const lines = changes.slice(0, mostLines).map((change) => text(changeLine(change, callings)))
  const more = changes.length - lines.length
  return stack(...lines, ...(more === 0 ? [] : [text(`and ${more} more: see audit tail.`)]))
}

export const changeLine = ({ object, action, before, after }: Change, callings: Callings): string => {
  const what = object === null ? action : calling(object, callings)
  if (before === after) return `${what}: ${action}`
  if (after === null) return `${what}: ${before} -> nothing (${action})`
  return `${what}: ${before === null ? `${after} (${action})` : `${before} -> ${after}`}`
}

/** `withdrawalRequest:513` as `Withdrawal request 513`, a partner by its code. */
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

/** Where a machine's name is not what people and commands call the thing. */
const names: Readonly<Record<string, string>> = {
  apiKey: "key",
  reconBreak: "break",
  barrierContract: "contract",
  closeOut: "close-out",
  verificationBlock: "block",
  watchEntry: "watch list entry"
}
