/**
 * The features of the partner surface and of the direct surface, one per group of each contract. The compiler rejects a
 * missing one. Their services need the runtime.
 */
import { type Effect, Layer } from "effect"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { DirectPrincipal, PartnerPrincipal } from "../runtime/services/partners/Principal.ts"
import { type DirectApi, directPrefix } from "./api/direct/DirectApi.ts"
import { partnerPrefix, type PartnerApi } from "./api/PartnerApi.ts"
import { account } from "./handlers/account.ts"
import { appropriateness } from "./handlers/appropriateness.ts"
import { barriers } from "./handlers/barriers.ts"
import { clients } from "./handlers/clients.ts"
import { collateral } from "./handlers/collateral.ts"
import { deposits } from "./handlers/deposits.ts"
import { directMarket } from "./handlers/direct/directMarket.ts"
import { documents } from "./handlers/documents.ts"
import { explain } from "./handlers/explain.ts"
import type { Served } from "./handlers/feature.ts"
import { kyc } from "./handlers/kyc.ts"
import { margin } from "./handlers/margin.ts"
import { market } from "./handlers/market.ts"
import { orders } from "./handlers/orders.ts"
import { positions } from "./handlers/positions.ts"
import { profile } from "./handlers/profile.ts"
import { rfq } from "./handlers/rfq.ts"
import { settlement } from "./handlers/settlement.ts"
import { staking } from "./handlers/staking.ts"
import { swaps } from "./handlers/swaps.ts"
import { statements } from "./handlers/statements.ts"
import { verification } from "./handlers/verification.ts"
import { webhook } from "./handlers/webhook.ts"
import { withdrawals } from "./handlers/withdrawals.ts"
import { RouteTable } from "./middleware/routes.ts"

/** The groups of a contract, without the public one (publicRoutes.ts). */
type GroupName<Api> =
  Api extends HttpApi.HttpApi<infer _Id, infer Groups> ? Exclude<HttpApiGroup.Identifier<Groups>, "system"> : never

const features = {
  profile,
  clients,
  kyc,
  verification,
  appropriateness,
  documents,
  deposits,
  withdrawals,
  collateral,
  explain,
  settlement,
  account,
  statements,
  webhook,
  market,
  staking,
  swaps,
  rfq,
  barriers,
  orders,
  positions,
  margin
} satisfies { readonly [Name in GroupName<typeof PartnerApi>]: { readonly api: { readonly identifier: Name } } }

const ofDirect = {
  market: directMarket
} satisfies { readonly [Name in GroupName<typeof DirectApi>]: { readonly api: { readonly identifier: Name } } }

type Needs<F> = F extends { readonly handlers: Effect.Effect<unknown, never, infer R> } ? R : never

export const partnerFeatures: ReadonlyArray<Served<PartnerPrincipal, Needs<(typeof features)[keyof typeof features]>>> =
  Object.values(features)

/** The services of the partner's routes. They need the engine, its views and the shared services. */
export const partnerServices = Layer.mergeAll(profile.layer, ...Object.values(features).map(({ layer }) => layer))

/** The route table of the partner surface, derived from the contract. */
export const partnerRoutes = new RouteTable(
  partnerPrefix,
  partnerFeatures.map(({ api }) => api)
)

export const directFeatures: ReadonlyArray<Served<DirectPrincipal, Needs<(typeof ofDirect)[keyof typeof ofDirect]>>> =
  Object.values(ofDirect)

/** The route table of the direct surface, derived from its contract. */
export const directRoutes = new RouteTable(
  directPrefix,
  directFeatures.map(({ api }) => api)
)
