/** One event per side of every guard of the partner machine: path tests and diagrams use them (D15). */
import type { PartnerEvent, PartnerInput } from "./Partner.ts"

export const partnerInput: PartnerInput = { partnerId: 1 }

export const partnerSamples: ReadonlyArray<PartnerEvent> = [
  { type: "CREATE", at: 1, reason: "agreement signed" },
  { type: "SUSPEND", at: 1, reason: "licence under review" },
  { type: "REACTIVATE", at: 1, reason: "review closed" },
  { type: "CLOSE", at: 1, reason: "agreement ended", blockers: [] },
  { type: "CLOSE", at: 1, reason: "agreement ended", blockers: ["A client holds a balance."] },
  { type: "CHANGE_CUSTODY", at: 1, reason: "new agreement", before: "BROKER", after: "PARTNER", blockers: [] },
  {
    type: "CHANGE_CUSTODY",
    at: 1,
    reason: "new agreement",
    before: "BROKER",
    after: "PARTNER",
    blockers: ["A client holds a balance."]
  }
]
