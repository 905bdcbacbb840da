/** The profile of the calling partner (doc 1, Partner profile; A1-13). */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { partnerStatuses } from "../../machines/partner/Partner.ts"
import { relianceStatuses } from "../../machines/partner/Reliance.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { ok } from "./Envelope.ts"

const millis = (description: string) => Schema.Int.annotate({ description: `${description}, Unix ms.` })

/** Data of GET /me. */
export const PartnerProfile = Schema.Struct({
  partner: Schema.Struct({
    partnerId: Id,
    code: Schema.String,
    name: Schema.String,
    legalName: Schema.String,
    country: Schema.String.annotate({ description: "ISO alpha-2." }),
    licenceType: Schema.Literals(["MICA_CASP", "MIFID_IF", "EMI", "CREDIT_INSTITUTION", "OTHER"]),
    relianceStatus: Schema.Literals(relianceStatuses),
    status: Schema.Literals(partnerStatuses),
    sandbox: Schema.Boolean,
    custodyModel: Schema.Literals(["BROKER", "PARTNER"]),
    collateralAsset: Schema.String.annotate({ description: "The partner's stablecoin; empty under BROKER custody." }),
    limits: Schema.Struct({ readPerMinute: Schema.Int, tradePerMinute: Schema.Int }),
    allowedCidrs: Schema.Array(Schema.String).annotate({ description: "Empty: no restriction." })
  }),
  key: Schema.Struct({
    keyId: Id,
    label: Schema.String,
    prefix: Schema.String.annotate({ description: "The first ten characters of the key." }),
    scope: Schema.Literals(["READ", "TRADE"]),
    createdAt: millis("When the key was issued"),
    lastUsedAt: Schema.NullOr(millis("When the key was used before this call, to the minute"))
  }),
  webhook: Schema.NullOr(Schema.Struct({ url: Schema.String, active: Schema.Boolean })),
  asOf: millis("When this was read")
}).annotate({ identifier: "PartnerProfile" })
export type PartnerProfile = typeof PartnerProfile.Type

export const me = HttpApiEndpoint.get("me", "/me", { success: ok(PartnerProfile) }).annotateMerge(
  OpenApi.annotations({
    summary: "The calling partner, its key and its webhook",
    description:
      "Who the key belongs to, as the service sees it now: reliance, status, custody model, limits and allowed addresses; scope and prefix of the key, never the key itself."
  })
)
