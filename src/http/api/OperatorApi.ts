/**
 * The operator surface as one contract: the source of the server, the typed client of the command line, and the tests. A
 * command's name gives its group and endpoint: `key issue` is endpoint `issue` of group `key`. The role gate finds a
 * command's roles by this name (operator surface).
 */
import { HttpApi } from "effect/http-api"
import { AppropriatenessGroup } from "./operator/AppropriatenessGroup.ts"
import { ApprovalGroup } from "./operator/ApprovalGroup.ts"
import { AtlasGroup } from "./operator/AtlasGroup.ts"
import { AuditGroup } from "./operator/AuditGroup.ts"
import { BreakGroup } from "./operator/BreakGroup.ts"
import { CaseGroup } from "./operator/CaseGroup.ts"
import { ClientGroup } from "./operator/ClientGroup.ts"
import { CloseOutGroup } from "./operator/CloseOutGroup.ts"
import { ContractGroup } from "./operator/ContractGroup.ts"
import { ClockGroup } from "./operator/ClockGroup.ts"
import { CollateralGroup } from "./operator/CollateralGroup.ts"
import { DeliveryGroup } from "./operator/DeliveryGroup.ts"
import { DepositGroup } from "./operator/DepositGroup.ts"
import { DocumentGroup } from "./operator/DocumentGroup.ts"
import { EncryptionGroup } from "./operator/EncryptionGroup.ts"
import { ExplainGroup } from "./operator/ExplainGroup.ts"
import { InterfirmGroup } from "./operator/InterfirmGroup.ts"
import { KeyGroup } from "./operator/KeyGroup.ts"
import { KycGroup } from "./operator/KycGroup.ts"
import { LedgerGroup } from "./operator/LedgerGroup.ts"
import { MachineGroup } from "./operator/MachineGroup.ts"
import { MarginGroup } from "./operator/MarginGroup.ts"
import { MarketGroup } from "./operator/MarketGroup.ts"
import { MetricsGroup } from "./operator/MetricsGroup.ts"
import { OperatorGroup } from "./operator/OperatorGroup.ts"
import { OperatorAuthorization, OperatorFields } from "./operator/OperatorSecurity.ts"
import { OrderGroup } from "./operator/OrderGroup.ts"
import { PartnerGroup } from "./operator/PartnerGroup.ts"
import { PositionGroup } from "./operator/PositionGroup.ts"
import { QuarantineGroup } from "./operator/QuarantineGroup.ts"
import { QueueGroup } from "./operator/QueueGroup.ts"
import { RfqGroup } from "./operator/RfqGroup.ts"
import { ScreeningGroup } from "./operator/ScreeningGroup.ts"
import { SettlementGroup } from "./operator/SettlementGroup.ts"
import { SimGroup } from "./operator/SimGroup.ts"
import { StatementGroup } from "./operator/StatementGroup.ts"
import { SwapGroup } from "./operator/SwapGroup.ts"
import { VenueGroup } from "./operator/VenueGroup.ts"
import { WebhookGroup } from "./operator/WebhookGroup.ts"
import { WithdrawalGroup } from "./operator/WithdrawalGroup.ts"

export const operatorPrefix = "/operator/v1"

export class OperatorApi extends HttpApi.make("operator-api")
  .add(PartnerGroup)
  .add(KeyGroup)
  .add(OperatorGroup)
  .add(ClientGroup)
  .add(ScreeningGroup)
  .add(KycGroup)
  .add(CaseGroup)
  .add(DocumentGroup)
  .add(EncryptionGroup)
  .add(AppropriatenessGroup)
  .add(DepositGroup)
  .add(WithdrawalGroup)
  .add(BreakGroup)
  .add(MarketGroup)
  .add(RfqGroup)
  .add(ContractGroup)
  .add(OrderGroup)
  .add(PositionGroup)
  .add(SwapGroup)
  .add(StatementGroup)
  .add(MarginGroup)
  .add(CloseOutGroup)
  .add(ExplainGroup)
  .add(LedgerGroup)
  .add(CollateralGroup)
  .add(SettlementGroup)
  .add(InterfirmGroup)
  .add(WebhookGroup)
  .add(DeliveryGroup)
  .add(AuditGroup)
  .add(MachineGroup)
  .add(AtlasGroup)
  .add(ClockGroup)
  .add(SimGroup)
  .add(VenueGroup)
  .add(QuarantineGroup)
  .add(MetricsGroup)
  .add(QueueGroup)
  .add(ApprovalGroup)
  .middleware(OperatorFields)
  .middleware(OperatorAuthorization)
  .prefix(operatorPrefix)
  .annotate(HttpApi.ParseOptions, { errors: "all" }) {}
