/** The decisions on an object, from its audit rows: requester, decider, time and note (operator surface, `… show`). */
import { orElse } from "../CliIo.ts"
import type { OperatorClient } from "../OperatorClient.ts"
import { shortPrints } from "./shortPrints.ts"
import { changeText } from "./stateText.ts"
import { type Cell, operatorNamed, stack, table, text, time, type View } from "./View.ts"

/** A view shows at most this many; `audit tail --object` shows all. */
const mostDecisions = 20
/** The requester is searched among this many of the newest approvals. */
const mostApprovals = 500

interface Entry {
  readonly ts: number
  readonly role: string
  readonly keyLabel: string
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
}

interface Requested {
  readonly args: unknown
  readonly requestedBy: number
  readonly decidedAt: number | null
  readonly status: string
}

/** The argument of a guarded command that names an object of the kind. */
const argumentOf: Readonly<Record<string, string>> = {
  withdrawalRequest: "requestId",
  reconBreak: "breakId",
  swap: "swapId",
  client: "client"
}

/** The decisions on an object (KIND:ID), oldest first. Null when the audit can't be read: the view is then shown without them. */
export const decisionsOn = (api: OperatorClient, object: string): Promise<View | null> =>
  orElse(readDecisions(api, object), null)

const readDecisions = async (api: OperatorClient, object: string): Promise<View> => {
  const { entries } = (await api.audit.tail({ query: { object, limit: mostDecisions } })).data
  const isGuarded = argumentOf[kindOf(object)] !== undefined
  const approvals: ReadonlyArray<Requested> = isGuarded
    ? (await api.approval.list({ query: { limit: mostApprovals } })).data.approvals
    : []
  return decisionsView(entries, (entry) => requesterOf(object, entry, approvals))
}

/** The decisions as a table. `asker` gives the requester of a decision under four eyes. */
export const decisionsView = (entries: ReadonlyArray<Entry>, asker: (entry: Entry) => Cell = () => null): View =>
  stack(
    text("Decisions"),
    table(
      entries,
      {
        when: { cell: (row): Cell => time(row.ts), rank: -3 },
        what: { cell: whatOf, rank: -5 },
        "decided by": { cell: (row): Cell => `${row.role}/${row.keyLabel}`, rank: -4 },
        ...(entries.some((entry) => asker(entry) !== null) ? { "requested by": asker } : {}),
        note: (row) => (row.reason === null ? null : shortPrints(row.reason))
      },
      "no decision has been made on it"
    )
  )

const whatOf = (entry: Entry): Cell => {
  const { action, before, after } = entry
  return before === after ? action : changeText(entry)
}

const kindOf = (object: string): string => object.split(":")[0] ?? ""

/** The requester of a granted command. The command runs at the time of the grant, or soon after it. */
const requesterOf = (object: string, entry: Entry, approvals: ReadonlyArray<Requested>): Cell => {
  const id = object.slice(object.indexOf(":") + 1)
  const member = argumentOf[kindOf(object)] ?? ""
  const granted = approvals.filter(
    ({ args, status, decidedAt }) =>
      status === "GRANTED" && decidedAt !== null && decidedAt <= entry.ts && plainId(memberOf(args, member)) === id
  )
  const last = granted.toSorted((a, b) => (b.decidedAt ?? 0) - (a.decidedAt ?? 0))[0]
  return last !== undefined && entry.ts - (last.decidedAt ?? 0) < ranWithinMillis
    ? operatorNamed(last.requestedBy)
    : null
}

const ranWithinMillis = 60_000

const memberOf = (args: unknown, name: string): unknown =>
  typeof args === "object" && args !== null ? (args as Readonly<Record<string, unknown>>)[name] : undefined

/** The number of an object: `S-7` and `7` name the same swap. */
export const plainId = (id: unknown): string => String(id ?? "").replace(/^[A-Z]-/, "")
