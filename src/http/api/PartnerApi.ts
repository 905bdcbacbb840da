/**
 * The partner contract: every route, declared once. It is the source of the dispatcher, of the typed client in CLI and
 * simulator, of the OpenAPI document, and of the tests (doc 1, What the service does and Versioning).
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { AccountApi } from "./AccountApi.ts"
import { AppropriatenessApi } from "./AppropriatenessApi.ts"
import { BarriersApi } from "./BarriersApi.ts"
import { ClientsApi } from "./ClientsApi.ts"
import { CollateralApi } from "./CollateralApi.ts"
import { DepositsApi } from "./DepositsApi.ts"
import { DocumentsApi } from "./DocumentsApi.ts"
import { ExplainApi } from "./ExplainApi.ts"
import { KycApi } from "./KycApi.ts"
import { MarginApi } from "./MarginApi.ts"
import { MarketApi } from "./MarketApi.ts"
import { OrdersApi } from "./OrdersApi.ts"
import { PositionsApi } from "./PositionsApi.ts"
import { ProfileApi } from "./ProfileApi.ts"
import { RfqApi } from "./RfqApi.ts"
import { PartnerKey } from "./Security.ts"
import { SettlementApi } from "./SettlementApi.ts"
import { StakingApi, SwapsApi } from "./StakingApi.ts"
import { StatementsApi } from "./StatementsApi.ts"
import { SystemApi } from "./SystemApi.ts"
import { VerificationApi } from "./VerificationApi.ts"
import { WebhookApi } from "./WebhookApi.ts"
import { WithdrawalsApi } from "./WithdrawalsApi.ts"

export const partnerPrefix = "/partner/v1"
export const apiTitle = "Partner Brokerage API"
/** Version of the machine-readable description (doc 1, Versioning). */
export const apiVersion = "2.4.1"

export class PartnerApi extends HttpApi.make("partner")
  .add(
    ProfileApi,
    ClientsApi,
    KycApi,
    VerificationApi,
    AppropriatenessApi,
    DocumentsApi,
    DepositsApi,
    WithdrawalsApi,
    CollateralApi,
    ExplainApi,
    SettlementApi,
    AccountApi,
    StatementsApi,
    WebhookApi,
    MarketApi,
    StakingApi,
    SwapsApi,
    RfqApi,
    BarriersApi,
    OrdersApi,
    PositionsApi,
    MarginApi
  )
  .middleware(PartnerKey)
  .prefix(partnerPrefix)
  .add(SystemApi)
  .annotateMerge(
    OpenApi.annotations({
      title: apiTitle,
      version: apiVersion,
      description:
        "A licensed partner firm onboards its end clients under KYC reliance and reports their money. Money is a decimal string in the currency's scale; times are Unix milliseconds, UTC. Every answer carries X-Request-Id. This page is made from [/openapi.json](/openapi.json), which tools read."
    })
  ) {}
