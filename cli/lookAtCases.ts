/** The open cases of a client as `kyc clear` shows them before it clears them, and these alone (F26; D1). */
import { Effect } from "effect"
import { given } from "./options.ts"
import type { OperatorClient } from "./OperatorClient.ts"
import { time, words, type Words } from "./views/View.ts"

/** What a clearance names: cases that are not among these, or that show a later screening, are not cleared. */
export interface LookedAt {
  readonly cases: ReadonlyArray<number>
  /** The latest one that the cases show; 0 when they show none, so that a first one is later, too. */
  readonly screeningRun?: number
  /** Of the client's KYC package; a later one is not cleared. Absent: the client has none. */
  readonly revision?: number
}

interface Details {
  readonly screeningRunId?: number | null
  readonly candidates?: ReadonlyArray<unknown>
}

/** More than a client has: cases beyond are not named, and so not cleared. */
const mostCases = 500

/** Reads revision and open cases and hands each case to `show` as a line, oldest first. */
export const lookAtCases = (
  api: OperatorClient,
  client: string,
  show: (line: Words) => void
): Effect.Effect<LookedAt, unknown> =>
  Effect.gen(function* () {
    // Before the cases: a revision that comes between the two readings is refused, not cleared with them.
    const { kycPackage } = (yield* api.client.show({ params: { client } })).data
    const { cases } = (yield* api.case.list({ query: { open: "true", client, limit: mostCases } })).data
    const open = cases.toReversed().map((each) => ({ ...each, details: (each.details ?? {}) as Details }))
    for (const { caseId, reason, openedAt, details } of open) {
      const count = details.candidates?.length ?? 0
      const found = count === 0 ? "" : `, ${count} ${count === 1 ? "candidate" : "candidates"}`
      show(words`case ${caseId}: ${reason}${found}, open since ${time(openedAt)}`)
    }
    return {
      cases: open.map(({ caseId }) => caseId),
      screeningRun: Math.max(0, ...open.map(({ details }) => details.screeningRunId ?? 0)),
      ...given({ revision: kycPackage?.revision })
    }
  })
