/** The open cases that `kyc clear` shows and then clears (F26; D1). */
import { given } from "./options.ts"
import type { OperatorClient } from "./OperatorClient.ts"
import { time, richText, type RichText } from "./views/View.ts"
import { plural } from "../src/machines/shared/Text.ts"

/** The cases that a clearance names. Cases outside this list, or with a later screening, are not cleared. */
export interface ReadCase {
  readonly cases: ReadonlyArray<number>
  /** The latest screening run of the cases; 0 when they have none, so that any run counts as later. */
  readonly screeningRun?: number
  /** The revision of the client's KYC package; a later revision is not cleared. Absent when the client has no package. */
  readonly revision?: number
}

interface Details {
  readonly screeningRunId?: number | null
  readonly candidates?: ReadonlyArray<unknown>
}

/** Limit of named cases, more than any client has. Cases beyond it are not named and so not cleared. */
const mostCases = 500

/** Reads revision and open cases and passes each case to `show` as a line, oldest first. */
export const readCases = async (
  api: OperatorClient,
  client: string,
  show: (line: RichText) => void
): Promise<ReadCase> => {
  // The package is read before the cases, so that a revision filed between the two reads is refused and not cleared with
  // them.
  const { kycPackage } = (await api.client.show({ params: { client } })).data
  const { cases } = (await api.case.list({ query: { open: "true", client, limit: mostCases } })).data
  const open = cases.toReversed().map((each) => ({ ...each, details: (each.details ?? {}) as Details }))
  for (const { caseId, reason, openedAt, details } of open) {
    const count = details.candidates?.length ?? 0
    const found = count === 0 ? "" : `, ${plural(count, "candidate")}`
    show(richText`case ${caseId}: ${reason}${found}, open since ${time(openedAt)}`)
  }
  return {
    cases: open.map(({ caseId }) => caseId),
    screeningRun: Math.max(0, ...open.map(({ details }) => details.screeningRunId ?? 0)),
    ...given({ revision: kycPackage?.revision })
  }
}
