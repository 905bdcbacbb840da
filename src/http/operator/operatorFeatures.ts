/** The features of the operator surface, one per group of the contract. The compiler rejects a missing one. */
import { Layer } from "effect"
import { HttpApiBuilder, type HttpApi, type HttpApiGroup } from "effect/http-api"
import { OperatorApi } from "../api/OperatorApi.ts"
import { appropriateness } from "./AppropriatenessHandlers.ts"
import { atlas } from "./AtlasHandlers.ts"
import { cases, client, kyc } from "./ComplianceHandlers.ts"
import { deposit } from "./DepositHandlers.ts"
import { document } from "./DocumentHandlers.ts"
import { encryption } from "./EncryptionHandlers.ts"
import { explain } from "./ExplainHandlers.ts"
import { interfirm } from "./InterfirmHandlers.ts"
import { market } from "./MarketHandlers.ts"
import { metrics } from "./MetricsHandlers.ts"
import { collateral, settlement } from "./MoneyHandlers.ts"
import { OperatorAuthorizationLayer, OperatorFieldsLayer } from "./operatorMiddleware.ts"
import { order, position } from "./OrderHandlers.ts"
import { key, operator, partner } from "./PartnerHandlers.ts"
import { quarantine } from "./QuarantineHandlers.ts"
import { queue } from "./QueueHandlers.ts"
import { screening } from "./ScreeningHandlers.ts"
import { sim } from "./SimHandlers.ts"
import { statement } from "./StatementHandlers.ts"
import { swap } from "./SwapHandlers.ts"
import { approval, audit, clock, ledger, machine } from "./SystemHandlers.ts"
import { closeout, contract, margin, rfq } from "./TradeHandlers.ts"
import { venue } from "./VenueHandlers.ts"
import { delivery, webhook } from "./WebhookHandlers.ts"
import { breaks, withdrawal } from "./WithdrawalHandlers.ts"

type GroupName =
  typeof OperatorApi extends HttpApi.HttpApi<infer _Id, infer Groups> ? HttpApiGroup.Identifier<Groups> : never

const features = {
  partner,
  key,
  operator,
  client,
  screening,
  kyc,
  case: cases,
  document,
  encryption,
  appropriateness,
  deposit,
  withdrawal,
  break: breaks,
  market,
  rfq,
  contract,
  order,
  position,
  swap,
  statement,
  margin,
  closeout,
  explain,
  ledger,
  collateral,
  settlement,
  interfirm,
  webhook,
  delivery,
  audit,
  machine,
  atlas,
  clock,
  sim,
  venue,
  quarantine,
  metrics,
  queue,
  approval
} satisfies { readonly [Name in GroupName]: { readonly api: { readonly identifier: Name } } }

const { approval: fourEyes, ...nouns } = features

/**
 * The services of the operator's commands. Approvals are built on all others, because a granted approval runs another
 * command.
 */
export const operatorServices = fourEyes.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(partner.layer, ...Object.values(nouns).map(({ layer }) => layer)))
)

/** The layer that serves all routes of the operator surface on an HttpRouter. */
export const operatorRoutes = HttpApiBuilder.layer(OperatorApi).pipe(
  Layer.provide(Layer.mergeAll(partner.handlers, ...Object.values(features).map(({ handlers }) => handlers))),
  Layer.provide([OperatorAuthorizationLayer, OperatorFieldsLayer])
)
