/**
 * Decides whether another client is the same person, or may be a person refused for good. The search reads the clients
 * themselves. Claims of a person only decide races between clients that become the same person at the same moment. They
 * can't replace the search, because a claim ends with the client that holds it (A1-28).
 */
import { Effect } from "effect"
import { isDuplicate, meetsRefused } from "../../../../machines/kyc/personKey.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import { type ClientTurn, moveClient } from "./clientDecisions.ts"

type Stored = Pick<RowReads["Service"], "page" | "persons">

/** Another client that is the same person. */
export interface SamePerson {
  readonly clientId: number
  /** The time of the final refusal of this person. Null: the client is open. */
  readonly refusedAt: number | null
}

/** The most refusals of one person that a case shows. */
const mostRefused = 20

/**
 * The other clients that match this person: up to 20 that were refused for good (closed ones included), newest first,
 * and one open client.
 */
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

/**
 * The matching client that a case names, and all matching clients refused for good. The case names a refused client
 * rather than an open one.
 */
export interface Namesake extends SamePerson {
  readonly refused: ReadonlyArray<number>
}

/** The client that a case would name; null: no other client is this person. */
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
 * The time of the refusal in force; null: none is. A closed client's state does not show a refusal, so this reads the
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
 * True if compliance has seen the other client, in its present state, in a case of this client. A refusal after that
 * case requires a new case.
 */
export const isSettled = ({ details, openedAt, closedAt }: CaseRow, { clientId, refusedAt }: SamePerson): boolean => {
  const { duplicateOf, refused } = details as { readonly duplicateOf?: unknown; readonly refused?: unknown }
  const names = duplicateOf === clientId || (Array.isArray(refused) && refused.includes(clientId))
  return names && (refusedAt === null || openedAt >= refusedAt || (closedAt !== null && closedAt >= refusedAt))
}

/**
 * Restricts a client whose case names a person refused for good. The client may take no new risk until compliance lifts
 * the restriction.
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
