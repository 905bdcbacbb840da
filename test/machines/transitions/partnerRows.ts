/** The transition table D15 as literal rows. */
import type { PartnerEvent } from "../../../src/machines/partner/Partner.ts"
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const create: PartnerEvent = { type: "CREATE", at: 1, reason: "signed" }
const suspend: PartnerEvent = { type: "SUSPEND", at: 2, reason: "licence" }
const reactivate: PartnerEvent = { type: "REACTIVATE", at: 3, reason: "licence renewed" }
const closePartner: PartnerEvent = { type: "CLOSE", at: 4, reason: "ended", blockers: [] }
const closeBlocked: PartnerEvent = { ...closePartner, blockers: ["An interfirm amount is outstanding."] }
const custody: PartnerEvent = {
  type: "CHANGE_CUSTODY",
  at: 5,
  reason: "new agreement",
  before: "BROKER",
  after: "PARTNER EURD",
  blockers: []
}
const custodyBlocked: PartnerEvent = { ...custody, blockers: ["A client holds a balance."] }
const partner = rowsOf<PartnerEvent>({ partnerId: 2 })

export const partnerRows: ReadonlyArray<TransitionRow> = [
  partner("D15: none, create, ACTIVE", "NEW", [], create, "ACTIVE", ["audit partner.create"], { changedAt: 1 }),
  partner("D15: ACTIVE, suspend, SUSPENDED", "ACTIVE", [create], suspend, "SUSPENDED", ["audit partner.suspend"], {
    reason: "licence",
    changedAt: 2
  }),
  partner("D15: ACTIVE, reactivate", "ACTIVE", [create], reactivate, "refused"),
  partner("D15: SUSPENDED, reactivate, ACTIVE", "SUSPENDED", [create, suspend], reactivate, "ACTIVE", [
    "audit partner.reactivate"
  ]),
  partner("D15: SUSPENDED, suspend again", "SUSPENDED", [create, suspend], suspend, "refused"),
  partner("D15: ACTIVE, close, CLOSED", "ACTIVE", [create], closePartner, "CLOSED", ["audit partner.close"]),
  partner("D15: ACTIVE, close with blockers", "ACTIVE", [create], closeBlocked, "refused"),
  partner("D15: SUSPENDED, close, CLOSED", "SUSPENDED", [create, suspend], closePartner, "CLOSED", [
    "audit partner.close"
  ]),
  partner("D15: SUSPENDED, close with blockers", "SUSPENDED", [create, suspend], closeBlocked, "refused"),
  partner("D15: CLOSED, reactivate", "CLOSED", [create, closePartner], reactivate, "refused"),
  partner("D15: ACTIVE, custody change", "ACTIVE", [create], custody, "ACTIVE", ["audit partner.custody"]),
  partner("D15: ACTIVE, custody change with blockers", "ACTIVE", [create], custodyBlocked, "refused"),
  partner("D15: SUSPENDED, custody change", "SUSPENDED", [create, suspend], custody, "SUSPENDED", [
    "audit partner.custody"
  ]),
  partner("D15: SUSPENDED, custody change with blockers", "SUSPENDED", [create, suspend], custodyBlocked, "refused"),
  partner("D15: CLOSED, custody change", "CLOSED", [create, closePartner], custody, "refused")
]
