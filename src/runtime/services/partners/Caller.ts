/** The caller of a partner-facing service: the partner, the key, and the attribution in the audit. */
import type { ApiKeyRow } from "../../tables/partner.ts"
import { type Attribution, CallerBarred } from "../../engine/mailbox/ActorHost.ts"
import type { Directory, PartnerView } from "./Directory.ts"

export interface Caller {
  readonly partner: PartnerView
  readonly key: ApiKeyRow
  readonly by: Attribution
}

export const partnerAttribution = (partner: PartnerView, key: ApiKeyRow, requestId: string): Attribution => ({
  role: "PARTNER",
  keyLabel: key.label,
  requestId,
  actor: `partner:${partner.row.code}`
})

/**
 * The calling partner at the time of the turn, which is later than the gates. The turn's stamp makes the commit fail if
 * this view has changed by then. Throws CallerBarred if the partner or its key may no longer act.
 */
export const partnerNow = (directory: Directory["Service"], caller: Caller): PartnerView => {
  const partner = directory.partner(caller.partner.row.id)
  if (partner === null || partner.row.state === "CLOSED") throw new CallerBarred({ state: "CLOSED" })
  if (partner.row.state === "SUSPENDED") throw new CallerBarred({ state: "SUSPENDED" })
  if (directory.key(caller.key.id)?.state === "REVOKED") throw new CallerBarred({ state: "REVOKED" })
  return partner
}
