/** The question before `kyc clear` over sanctions hits, with the entries that the client would be cleared of (F26). */
import { Effect } from "effect"
import type { OperatorClient } from "./OperatorClient.ts"

/** What the service refuses a clearance without a note for. */
interface Hit {
  readonly caseId: number
  readonly entryId: number
  readonly score: number
}

/** Null when no hit is in the open cases. Asks the service whether it would clear without a note: for dry runs alone. */
export const clearQuestion = (api: OperatorClient, client: string): Effect.Effect<string | null, unknown> =>
  Effect.matchEffect(api.kyc.clear({ params: { client }, payload: {} }), {
    onSuccess: () => Effect.succeed(null),
    onFailure: (refusal: unknown) => {
      const { hits = [] } = ((refusal as { readonly data?: unknown }).data ?? {}) as {
        readonly hits?: ReadonlyArray<Hit>
      }
      // Another refusal is the command's own: it is answered there.
      return hits.length === 0 ? Effect.succeed(null) : Effect.map(namedHits(api, hits), questionOf(client))
    }
  })

const namedHits = (api: OperatorClient, hits: ReadonlyArray<Hit>) =>
  Effect.forEach(hits, ({ caseId, entryId, score }) =>
    Effect.map(api.case.show({ params: { caseId: String(caseId) } }), ({ data }) => {
      const entry = data.entries.find((each) => each.entryId === entryId)
      const known = [entry?.name, entry?.dob, entry?.country].filter((fact) => fact !== undefined && fact !== null)
      return `  entry ${entryId}${entry === undefined ? "" : ` of ${entry.source}`}: ${[...known, `score ${score.toFixed(3)}`].join(", ")}`
    })
  )

const questionOf = (client: string) => (lines: ReadonlyArray<string>) =>
  `Screening has found client ${client} on a sanctions list:\n${lines.join("\n")}\nClear it as another person?`
