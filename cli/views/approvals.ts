/** Approvals for the second pair of eyes: who asks for what, about which object, over how much (operator surface, Four eyes). */
import type { ApprovalView } from "../../src/http/api/operator/ApprovalGroup.ts"
import { type Deed, grantView, type Would } from "../dryRun.ts"
import { type Callings, changesView } from "./changes.ts"
import { issuedKeyView, type IssuedKey } from "./issuedKey.ts"
import { withShortPrints } from "./shortPrints.ts"
import {
  asSent,
  type Cell,
  fields,
  inWords,
  Named,
  operatorNamed,
  stack,
  table,
  text,
  time,
  type View,
  words,
  type Words
} from "./View.ts"

type Approval = typeof ApprovalView.Type

type Arguments = Readonly<Record<string, unknown>>

const argumentsOf = ({ args }: Approval): Arguments =>
  typeof args === "object" && args !== null && !Array.isArray(args) ? (args as Arguments) : {}

/** Members that name the object, each with the word for it. */
const objects = [
  ["requestId", "withdrawal"],
  ["breakId", "break"],
  ["swapId", "swap"],
  ["object", ""],
  ["client", "client"],
  ["partner", "partner"]
] as const

const objectOf = (approval: Approval): Cell => {
  const args = argumentsOf(approval)
  const [member, word] = objects.find(([name]) => args[name] !== undefined) ?? ["", ""]
  // Bound by its id, known by its code.
  if (member === "partner") return new Named("partner", Number(args.partner), false, word)
  // Bound by its number, known by its uid.
  if (member === "client") return `${word} ${String(args.clientUid ?? args.client)}`
  const id = `${word} ${String(args[member] ?? "")}`.trim()
  return typeof args.clientUid === "string" ? `${id} of ${args.clientUid}` : id
}

const amountOf = (approval: Approval): string => {
  const { amount, currency, asset } = argumentsOf(approval)
  const unit = currency ?? asset
  return amount === undefined ? "" : `${String(amount)} ${typeof unit === "string" ? unit : ""}`.trim()
}

const shownElsewhere = new Set<string>([...objects.map(([name]) => name), "clientUid", "amount", "currency", "asset"])

/** Arguments that neither the object nor the amount says. */
const restOf = (approval: Approval): Words =>
  inWords(
    withShortPrints(
      Object.fromEntries(Object.entries(argumentsOf(approval)).filter(([name]) => !shownElsewhere.has(name)))
    )
  )

const statusOf = ({ status, outcome }: Approval): string => (outcome === null ? status : `${status}, ${outcome}`)

export const approvalsTable = (approvals: ReadonlyArray<Approval>): View =>
  table(
    approvals,
    {
      id: (row) => row.approvalId,
      command: (row) => row.command,
      object: { cell: objectOf, rank: -5 },
      amount: amountOf,
      status: statusOf,
      "asked by": { cell: (row): Cell => operatorNamed(row.requestedBy), rank: -4 },
      requested: { cell: (row): Cell => time(row.requestedAt), rank: 5 },
      "decided by": { cell: (row): Cell => operatorNamed(row.decidedBy), rank: 6 },
      expires: { cell: (row): Cell => time(row.expiresAt), rank: 7 },
      with: { cell: restOf, rank: 8 }
    },
    "no approvals"
  )

/** One approval: who asks, and what its command would do. */
export const approvalView = (approval: Approval): View => {
  const { approvalId, command, requestedBy, requestedAt, expiresAt, decidedBy, decidedAt } = approval
  return fields({
    approvalId,
    command,
    object: objectOf(approval),
    amount: amountOf(approval),
    with: restOf(approval),
    status: statusOf(approval),
    askedBy: operatorNamed(requestedBy) ?? null,
    requestedAt,
    expiresAt,
    ...(decidedBy === null ? {} : { decidedBy: operatorNamed(decidedBy) ?? null, decidedAt })
  })
}

/** With what its command does as things stand. */
export type ApprovalAsked = Approval & { readonly deed: Deed | null }

/** "withdrawal pay 513": the command that waits, and the object where its arguments name one by its number. */
export const commandAsked = (approval: Approval): string => {
  const { requestId, breakId, swapId } = argumentsOf(approval)
  const id = requestId ?? breakId ?? swapId
  return id === undefined ? approval.command : `${approval.command} ${String(id)}`
}

/** Where the money goes, as the command's answer says it; null: nowhere. */
export const destinationOf = (answer: unknown): unknown =>
  (answer as { readonly destination?: unknown } | null | undefined)?.destination ?? null

const goingTo = (deed: Deed | null): unknown => (deed === null || "refusal" in deed ? null : destinationOf(deed.result))

/** In one sentence: the command, about what, how much and where to, and who asks. */
export const approvalInWords = ({ deed, ...approval }: ApprovalAsked): Words => {
  const { requestId, breakId, swapId } = argumentsOf(approval)
  const isNumbered = (requestId ?? breakId ?? swapId) !== undefined
  const { clientUid } = argumentsOf(approval)
  const whose = isNumbered
    ? typeof clientUid === "string"
      ? ` of ${clientUid}`
      : ""
    : words` on ${objectOf(approval)}`
  const [amount, destination] = [amountOf(approval), goingTo(deed)]
  const sum = amount === "" ? "" : `, ${amount}`
  const to = destination === null ? "" : words` to ${asSent(destination)}`
  const what = words`approval ${approval.approvalId}, ${commandAsked(approval)}${whose}${sum}${to}`
  return words`${what}, asked by ${operatorNamed(approval.requestedBy)}`
}

/** On few lines, for a screen that says in its first what is asked for: about what, by whom, and where money goes (watch). */
export const askedInShort = ({ deed, ...approval }: ApprovalAsked): View => {
  const { requestedBy, requestedAt, expiresAt } = approval
  const rest = restOf(approval)
  const destination = goingTo(deed)
  return fields({
    object: objectOf(approval),
    ...(destination === null ? {} : { destination: asSent(destination) }),
    ...(String(rest) === "" ? {} : { with: rest }),
    askedBy: operatorNamed(requestedBy) ?? null,
    requestedAt,
    expiresAt
  })
}

/** What becomes of it, below a line that says when. */
export const deedInShort = (when: string, deed: Deed, callings: Callings): View =>
  "refusal" in deed
    ? text(`As things stand it would be refused: ${deed.refusal}`)
    : stack(
        text(when),
        ...(deed.changes.length === 0 ? [] : [changesView(deed.changes, callings)]),
        effectsView(deed.would),
        text(""),
        knownFields(deed.result)
      )

/** What an answer says, without what it does not know. */
export const knownFields = (answer: unknown): View =>
  fields(Object.fromEntries(Object.entries(answer as object).filter(([, value]) => value !== null)))

/** What would be booked and told, then how many rows of what are written. */
export const effectsView = ({ postings, events, rows }: Would): View =>
  stack(
    ...postings.map(({ account, amount, currency, kind }) =>
      text(`books   ${account}  ${amount} ${currency}  ${kind}`)
    ),
    ...events.map(({ event }) => text(`tells   ${event}`)),
    text(
      `writes  ${
        Object.entries(rows)
          .map(([name, n]) => `${name} ${n}`)
          .join(", ") || "nothing"
      }`
    )
  )

/** Beside it what the grant does, as things stand. */
export const approvalDetailsView = ({ deed, ...approval }: Approval & { readonly deed: Deed | null }): View =>
  deed === null ? approvalView(approval) : stack(approvalView(approval), text(""), grantView(deed, resultView))

/** A command answers an object; that of a key shows it this once. */
export const resultView = (result: unknown): View => {
  const answer = result as object
  return "key" in answer ? issuedKeyView(answer as IssuedKey) : fields(answer)
}
