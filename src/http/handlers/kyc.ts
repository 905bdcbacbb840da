// What the KYC routes do: one service call each (doc 1, KYC package and KYC update result).
import { Effect } from "effect"
import type { KycUpdateResult } from "../../machines/kyc/KycWire.ts"
import type { KycUpdates } from "../../runtime/services/kyc/KycUpdates.ts"
import { gateRefusals } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

/** The reads by operation id. */
export const kycReads = (kyc: Pick<KycUpdates["Service"], "latest">): Readonly<Record<string, Read>> => ({
  "kyc.get": ({ partnerId, clientId }) =>
    Effect.map(kyc.latest(partnerId, clientId), (latest) =>
      latest === null ? refused(gateRefusals.unknownClient) : data(latest)
    )
})

/** The writes by operation id. */
export const kycWrites = (kyc: Pick<KycUpdates["Service"], "update">): Readonly<Record<string, Write>> => ({
  "kyc.update": write(
    (result: KycUpdateResult) => enveloped(200, result),
    ({ caller, clientId, body }, store) => kyc.update(caller, clientId, body, store)
  )
})
