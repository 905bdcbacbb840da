/** Who calls a partner-facing service: the partner, the key, and how the call is attributed. */
import type { ApiKeyRow } from "../store/Rows.ts"
import type { Attribution } from "../engine/ActorHost.ts"
import type { PartnerView } from "./Directory.ts"

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
