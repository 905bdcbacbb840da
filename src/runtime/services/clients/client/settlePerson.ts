/**
 * The turn that writes the person keys of a stored client by the present rules, and compares the person with other
 * clients. A client that matches a person refused for good is restricted and gets a case. A client that has become a
 * duplicate only gets a case. A match that compliance has already seen opens no second case, so a repeated turn writes
 * nothing (A1-28; D1).
 */
import { Effect } from "effect"
import { personKeyOf } from "../../../../machines/kyc/personKey.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import { openCase } from "../kyc/kycDecisions.ts"
import { claimsAfter, claimsToQuery, type ClaimsOfPerson, storedSections } from "../kyc/KycUpdatePlan.ts"
import { writeClaims } from "../kyc/reviseClient.ts"
import { personFacts } from "../kyc/sectionValues.ts"
import type { ClientTurn } from "./clientDecisions.ts"
import { isSettled, restrictMatched, type SamePerson, samePersons } from "./samePerson.ts"

export interface PersonFindings {
  readonly personKey: string
  readonly claims: ClaimsOfPerson
  /** Persons refused for good that may be this client and that no case of it shows yet. */
  readonly refused: ReadonlyArray<SamePerson>
  /** An open client that is the same person, unless a case of either client shows it already; null if there is none. */
  readonly open: SamePerson | null
}

/** Limit on the cases of one client that are read, newest first. */
const mostCases = 500

/** Reads the person and the matching clients. Null: the client does not exist, or has no data about its person. */
export const personFindings = (
  { stored, sealing }: { readonly stored: RowReads["Service"]; readonly sealing: Sealing },
  client: ClientRow | undefined
): Effect.Effect<PersonFindings | null, Unavailable> =>
  Effect.gen(function* () {
    if (client === undefined) return null
    const of = { column: "client_id", value: client.id }
    const rows = yield* stored.page("blockPayloads", [of], { limit: 12 })
    if (rows.length === 0) return null
    const personKey = personKeyOf(personFacts(storedSections(rows)), sealing.fingerprint)
    const holders = yield* stored.holders(claimsToQuery(client.personKey, personKey))
    const { refused, open } = yield* samePersons(stored, personKey, client.id)
    const casesOf = (clientId: number) =>
      stored.page("cases", [{ column: "client_id", value: clientId }], { limit: mostCases })
    const cases = refused.length === 0 && open === null ? [] : yield* casesOf(client.id)
    const theirs = open === null ? [] : yield* casesOf(open.clientId)
    const isKnown = (one: SamePerson): boolean => cases.some((row) => isSettled(row, one))
    const theyKnow = theirs.some((row: CaseRow) => isSettled(row, { clientId: client.id, refusedAt: null }))
    return {
      personKey,
      claims: claimsAfter(client.id, client.personKey, personKey, holders, null),
      refused: refused.filter((one) => !isKnown(one)),
      open: open === null || isKnown(open) || theyKnow ? null : open
    }
  })

export const settlePerson = (at: ClientTurn, client: ClientRow, found: PersonFindings): void => {
  const { turn } = at
  const { personKey, claims } = found
  const isKeyed = personKey === client.personKey
  const keyed = { ...client, personKey }
  if (!isKeyed) {
    turn.draft.put("clients", keyed)
    // A closed client releases its claims and takes no new ones, as the closing itself did.
    writeClaims(at, client, client.state === "CLOSED" ? { ...claims, claim: [] } : claims)
  }
  if (client.state === "CLOSED" || client.state === "KYC_REJECTED") return
  // The partner has to onboard this client again, and that repeats the search. A case opened now could not be cleared
  // before (D1, D2).
  if (turn.state.one("kycPackages")?.state === "REJECTED") return
  const refused = found.refused.map(({ clientId }) => clientId)
  // A duplicate among open clients counts only in the turn that writes the keys, so that a repeated turn opens no further
  // case.
  const duplicateOf = refused[0] ?? (isKeyed ? null : (found.open?.clientId ?? null))
  if (duplicateOf === null) return
  const caseId = turn.nextId("case")
  openCase(at, keyed, {
    caseId,
    reasons: ["DUPLICATE_PERSON"],
    screeningRunId: null,
    candidates: [],
    duplicateOf,
    refused
  })
  if (refused.length > 0) restrictMatched(at, keyed, { caseId })
}
