/** All waiting items, for 80 columns (operator surface, queue). */
import type { Waiting, WaitingKind } from "../../src/machines/operator/Waiting.ts"
import { plural } from "../../src/machines/shared/Text.ts"
import { age } from "./age.ts"
import { wrapWords } from "./wrapWords.ts"
import { stack, table, text, type View } from "./View.ts"

export type WaitingRow = Waiting & { readonly mayDecide: boolean }

export interface QueueData {
  /** Business time at which the service counted the items, Unix ms. */
  readonly asOf: number
  readonly waiting: ReadonlyArray<WaitingRow>
  readonly counts: ReadonlyArray<{ readonly kind: WaitingKind; readonly count: number; readonly oldestAt: number }>
  readonly hasMore: boolean
}

const names: Readonly<Record<WaitingKind, string>> = {
  approval: "approval",
  break: "break",
  call: "call",
  case: "case",
  default: "default",
  delivery: "endpoint",
  deposit: "deposit",
  leg: "leg",
  quarantine: "event",
  reliance: "reliance",
  statement: "statement",
  withdrawal: "withdrawal"
}

/** Adjectives of waiting items, by kind. */
const qualities: Partial<Record<WaitingKind, string>> = {
  call: " in doubt",
  delivery: " failing",
  leg: " not placed",
  quarantine: " in quarantine",
  statement: " failed"
}

/** The number of items of each kind, and the age of the oldest: "2 deposits (3h), 1 case (2d)". */
export const queueCounts = ({ asOf, counts }: Pick<QueueData, "asOf" | "counts">): string =>
  counts
    .map(
      ({ kind, count, oldestAt }) => `${plural(count, names[kind])}${qualities[kind] ?? ""} (${age(asOf - oldestAt)})`
    )
    .join(", ")

/** The text of a waiting item: its amount, if it has one, then the object that it is about. */
export const whatWaits = ({ amount, currency, about }: Waiting): string =>
  [amount === null ? null : `${amount} ${currency ?? ""}`.trim(), about].filter((each) => each !== null).join(" ")

/** The usual command without its options, which are entered interactively or listed by --help. */
export const usualOf = ({ decide }: Waiting): string => (decide[0] ?? "").replace(/ --.*$/, "")

/** The queue as a table below its counts. `kind`: the only kind that the command requested. */
export const queueView = (data: QueueData, kind?: WaitingKind): View =>
  stack(
    ...(data.counts.length === 0 ? [] : [...wrapWords(queueCounts(data), 80).map(text), text("")]),
    table(
      data.waiting,
      {
        waits: (row) => age(data.asOf - row.since),
        owner: { cell: (row) => row.clientUid ?? row.partner, rank: 4 },
        subject: { cell: whatWaits, rank: 2 },
        // The command also names the kind of the item, so the table has no column for the kind.
        command: { cell: (row) => (row.mayDecide ? usualOf(row) : `(${usualOf(row)})`), rank: -5 }
      },
      kind === undefined ? "Nothing waits." : `Nothing of kind ${kind} waits.`
    ),
    ...(data.waiting.some(({ mayDecide }) => !mayDecide) ? [text("In parentheses: not with this operator key.")] : []),
    ...(data.hasMore ? [text("There is more: --limit, or --kind.")] : [])
  )
