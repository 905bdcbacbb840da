// The routes behind level MICA_MIFID: each is one call of the service (doc 1, Appropriateness and MiFID blocks).
import { Effect } from "effect"
import type { AcknowledgeResult, AssessmentResult } from "../../machines/appropriateness/Assessment.ts"
import type { MifidResult } from "../../machines/client/ClientWire.ts"
import type { Appropriateness } from "../../runtime/services/appropriateness/Appropriateness.ts"
import { data, type Read } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

/** The reads of the group by operation id. */
export const appropriatenessReads = (
  service: Pick<Appropriateness["Service"], "questionnaire">
): Readonly<Record<string, Read>> => ({
  "appropriateness.questionnaire": () => Effect.sync(() => data(service.questionnaire()))
})

/** The writes of the group by operation id. */
export const appropriatenessWrites = (
  service: Pick<Appropriateness["Service"], "submit" | "acknowledge" | "writeMifid">
): Readonly<Record<string, Write>> => ({
  "appropriateness.submit": write(
    (result: AssessmentResult) => enveloped(200, result),
    ({ caller, clientId, body }, store) => service.submit(caller, clientId, body, store)
  ),
  "appropriateness.acknowledge": write(
    (result: AcknowledgeResult) => enveloped(200, result),
    ({ caller, clientId, body }, store) => service.acknowledge(caller, clientId, body, store)
  ),
  "appropriateness.mifid": write(
    (result: MifidResult) => enveloped(200, result),
    ({ caller, clientId, body }, store) => service.writeMifid(caller, clientId, body, store)
  )
})
