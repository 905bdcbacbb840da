/** The calling partner: its profile, and the figures over its clients (doc 1, Partner profile and Summary). */
import { Effect } from "effect"
import { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import type { Caller } from "../../runtime/services/partners/Caller.ts"
import { Summary } from "../../runtime/services/partners/Summary.ts"
import type { PartnerProfile } from "../api/MeApi.ts"
import { ProfileApi } from "../api/ProfileApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { done } from "./handler.ts"

export const profile = feature({
  api: ProfileApi,
  layer: Summary.layer,
  handlers: Effect.gen(function* () {
    const summary = yield* Summary
    const clock = yield* BusinessClock
    return handlersOf(ProfileApi, {
      me: ({ caller, exchange }) => Effect.sync(() => done(profileOf(caller, exchange.lastUsedAt, clock.now()))),
      summary: ({ caller }) => Effect.map(summary.of(caller.partner.row.id), done)
    })
  })
})

const profileOf = ({ partner, key }: Caller, lastUsedAt: number | null, asOf: number): PartnerProfile => {
  const { row, reliance, endpoint } = partner
  return {
    partner: {
      partnerId: row.id,
      code: row.code,
      name: row.name,
      legalName: row.legalName,
      country: row.country,
      licenceType: row.licence as PartnerProfile["partner"]["licenceType"],
      relianceStatus: reliance as PartnerProfile["partner"]["relianceStatus"],
      status: row.state as PartnerProfile["partner"]["status"],
      sandbox: row.sandbox,
      custodyModel: row.custodyModel,
      collateralAsset: row.custodyModel === "PARTNER" ? row.collateralAsset : "",
      limits: { readPerMinute: row.readPerMinute, tradePerMinute: row.tradePerMinute },
      allowedCidrs: row.allowedCidrs
    },
    key: {
      keyId: key.id,
      label: key.label,
      prefix: key.prefix,
      scope: key.scope,
      createdAt: key.createdAt,
      lastUsedAt
    },
    webhook: endpoint === null ? null : { url: endpoint.url, active: endpoint.state === "ACTIVE" },
    asOf
  }
}
