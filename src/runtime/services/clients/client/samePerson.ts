/**
 * Decides whether another client is the same person, or may be a person refused for good. The search reads the clients
 * themselves. The claims of a person only settle races between clients that become the same person at once. Claims end with their
 * holder, who may be the first to leave (A1-28).
 */
import { Effect } from "effect"
import { isDuplicate, meetsRefused } from "../../../../machines/kyc/personKey.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import { type ClientTurn, moveClient } from "./clientDecisions.ts"

type Stored = Pick<RowReads["Service"], "page" | "persons">

/** Another client that matches. */
export interface SamePerson {
  readonly clientId: number
  /** The time at which this person was refused for good. Null: the client is open. */
  readonly refusedAt: number | null
}

/** The most refusals of one person that a case shows. */
const mostRefused = 20

/** The other clients that match this person: at most 20 refused for good, closed or not, newest first, and one open client. */
export const samePersons = (
  stored: Stored,
  personKey: string,
  clientId: number,
  pageSize = 100
): Effect.Effect<{ readonly refused: ReadonlyArray<SamePerson>; readonly open: SamePerson | null }, Unavailable> =>
  Effect.gen(function* () {
    const refused: Array<SamePerson> = []
    let open: SamePerson | null = null
    let before: number | undefined
    for (;;) {
      const rows = yield* stored.persons(personKey, { limit: pageSize, ...(before === undefined ? {} : { before }) })
      for (const row of rows) {
        if (row.id === clientId) continue
        if (row.state !== "CLOSED" && row.state !== "KYC_REJECTED") {
          if (isDuplicate(personKey, row.personKey)) open = { clientId: row.id, refusedAt: null }
        } else if (meetsRefused(personKey, row.personKey)) {
          const refusedAt = yield* refusalOf(stored, row)
          if (refusedAt !== null && refused.push({ clientId: row.id, refusedAt }) === mostRefused) {
            return { refused, open }
          }
        }
      }
      before = rows.at(-1)?.id
      if (rows.length < pageSize || before === undefined) return { refused, open }
    }
  })

/** The client that a case names, with all refused ones. A refused client takes precedence over an open one. */
export interface Namesake extends SamePerson {
  readonly refused: ReadonlyArray<number>
}

/** Null: no other client is this person. */
export const samePersonAs = (
  stored: Stored,
  personKey: string,
  clientId: number,
  pageSize?: number
): Effect.Effect<Namesake | null, Unavailable> =>
  Effect.map(samePersons(stored, personKey, clientId, pageSize), ({ refused, open }) => {
    const named = refused[0] ?? open
    return named === null ? null : { ...named, refused: refused.map((one) => one.clientId) }
  })

/**
 * The time of the refusal in force. The state of a closed client does not show the refusal, so this reads the
 * decisions.
 */
const refusalOf = (stored: Stored, { id }: ClientRow): Effect.Effect<number | null, Unavailable> =>
  Effect.gen(function* () {
    const latest = (decision: string) =>
      Effect.map(
        stored.page(
          "decisions",
          [
            { column: "client_id", value: id },
            { column: "decision", value: decision }
          ],
          { limit: 1 }
        ),
        ([row]) => row ?? null
      )
    const refused = yield* latest("PERSON_REJECTED")
    if (refused === null) return null
    return refused.id > ((yield* latest("REOPENED"))?.id ?? 0) ? refused.decidedAt : null
  })

/**
 * True if a case has shown compliance the other client in its present state. A refusal after the case needs a new
 * case.
 */
export const isSettled = ({ details, openedAt, closedAt }: CaseRow, { clientId, refusedAt }: SamePerson): boolean => {
  const { duplicateOf, refused } = details as { readonly duplicateOf?: unknown; readonly refused?: unknown }
  const names = duplicateOf === clientId || (Array.isArray(refused) && refused.includes(clientId))
  return names && (refusedAt === null || openedAt >= refusedAt || (closedAt !== null && closedAt >= refusedAt))
}

/**
 * Restricts the client of a case that names a person refused for good. The client opens no new risk until compliance lifts the
 * restriction.
 */
export const restrictMatched = (
  at: ClientTurn,
  client: ClientRow,
  { caseId }: { readonly caseId: number }
): ClientRow =>
  moveClient(at, client, {
    type: "MATCHED",
    at: at.turn.now,
    caseId,
    restriction: "NO_NEW_RISK",
    reason: "DUPLICATE_PERSON"
  }) ?? client
