/** Views of approvals: requester, command, object and amount (operator surface, Four eyes). */
import type { ApprovalView } from "../../src/http/api/operator/ApprovalGroup.ts"
import { type Deed, grantView, type Would } from "../dryRun.ts"
import { type Callings, changesView } from "./changes.ts"
import { issuedKeyView, type IssuedKey } from "./issuedKey.ts"
import { withShortPrints } from "./shortPrints.ts"
import {
  asSent,
  type Cell,
  fields,
  inlineText,
  Named,
  operatorNamed,
  stack,
  table,
  text,
  time,
  type View,
  richText,
  type RichText
} from "./View.ts"

type Approval = typeof ApprovalView.Type

type Arguments = Readonly<Record<string, unknown>>

const argumentsOf = ({ args }: Approval): Arguments =>
  typeof args === "object" && args !== null && !Array.isArray(args) ? (args as Arguments) : {}

/** Argument names that identify the object, each with the object's noun. */
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
  // A partner is stored by id and shown by code.
  if (member === "partner") return new Named("partner", Number(args.partner), false, word)
  // A client is stored by number and shown by uid.
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

/** The arguments of the approval's command without those that name its object or its amount. */
const restOf = (approval: Approval): RichText =>
  inlineText(
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
      "requested by": { cell: (row): Cell => operatorNamed(row.requestedBy), rank: -4 },
      requested: { cell: (row): Cell => time(row.requestedAt), rank: 5 },
      "decided by": { cell: (row): Cell => operatorNamed(row.decidedBy), rank: 6 },
      expires: { cell: (row): Cell => time(row.expiresAt), rank: 7 },
      with: { cell: restOf, rank: 8 }
    },
    "no approvals"
  )

/** One approval: the requester, and the command's effects. */
export const approvalView = (approval: Approval): View => {
  const { approvalId, command, requestedBy, requestedAt, expiresAt, decidedBy, decidedAt } = approval
  return fields({
    approvalId,
    command,
    object: objectOf(approval),
    amount: amountOf(approval),
    with: restOf(approval),
    status: statusOf(approval),
    requestedBy: operatorNamed(requestedBy) ?? null,
    requestedAt,
    expiresAt,
    ...(decidedBy === null ? {} : { decidedBy: operatorNamed(decidedBy) ?? null, decidedAt })
  })
}

/** An approval with the current effects of its command. */
export type RequestedApproval = Approval & { readonly deed: Deed | null }

/** The waiting command, with its object when the arguments name one by number: "withdrawal pay 513". */
export const requestedCommand = (approval: Approval): string => {
  const { requestId, breakId, swapId } = argumentsOf(approval)
  const id = requestId ?? breakId ?? swapId
  return id === undefined ? approval.command : `${approval.command} ${String(id)}`
}

/** The destination of money in the command's answer, or null. */
export const destinationOf = (answer: unknown): unknown =>
  (answer as { readonly destination?: unknown } | null | undefined)?.destination ?? null

const goingTo = (deed: Deed | null): unknown => (deed === null || "refusal" in deed ? null : destinationOf(deed.result))

/** The approval in one sentence: command, object, amount, destination and requester. */
export const approvalText = ({ deed, ...approval }: RequestedApproval): RichText => {
  const { requestId, breakId, swapId } = argumentsOf(approval)
  const isNumbered = (requestId ?? breakId ?? swapId) !== undefined
  const { clientUid } = argumentsOf(approval)
  const whose = isNumbered
    ? typeof clientUid === "string"
      ? ` of ${clientUid}`
      : ""
    : richText` on ${objectOf(approval)}`
  const [amount, destination] = [amountOf(approval), goingTo(deed)]
  const sum = amount === "" ? "" : `, ${amount}`
  const to = destination === null ? "" : richText` to ${asSent(destination)}`
  const what = richText`approval ${approval.approvalId}, ${requestedCommand(approval)}${whose}${sum}${to}`
  return richText`${what}, requested by ${operatorNamed(approval.requestedBy)}`
}

/** The approval in few lines, for a screen whose first line is the command: object, requester and destination (watch). */
export const requestInShort = ({ deed, ...approval }: RequestedApproval): View => {
  const { requestedBy, requestedAt, expiresAt } = approval
  const rest = restOf(approval)
  const destination = goingTo(deed)
  return fields({
    object: objectOf(approval),
    ...(destination === null ? {} : { destination: asSent(destination) }),
    ...(String(rest) === "" ? {} : { with: rest }),
    requestedBy: operatorNamed(requestedBy) ?? null,
    requestedAt,
    expiresAt
  })
}

/** The effects, below a line that names when they apply. */
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

/** The members of an answer that are not null. */
export const knownFields = (answer: unknown): View =>
  fields(Object.fromEntries(Object.entries(answer as object).filter(([, value]) => value !== null)))

/** Postings and events, then the number of rows by table. */
export const effectsView = ({ postings, events, rows }: Would): View =>
  stack(
    ...postings.map(({ account, amount, currency, kind }) =>
      text(`books   ${account}  ${amount} ${currency}  ${kind}`)
    ),
    ...events.map(({ event }) => text(`sends   ${event}`)),
    text(
      `writes  ${
        Object.entries(rows)
          .map(([name, n]) => `${name} ${n}`)
          .join(", ") || "nothing"
      }`
    )
  )

/** The approval, with the current effects of a grant. */
export const approvalDetailsView = ({ deed, ...approval }: Approval & { readonly deed: Deed | null }): View =>
  deed === null ? approvalView(approval) : stack(approvalView(approval), text(""), grantView(deed, resultView))

/** The answer of a granted command; only the answer of `key issue` shows the new key, once. */
export const resultView = (result: unknown): View => {
  const answer = result as object
  return "key" in answer ? issuedKeyView(answer as IssuedKey) : fields(answer)
}
