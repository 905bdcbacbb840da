/** Clients, their restrictions and their status for operators (operator surface, Back office; A1-09, A2-102, A3-10; D1). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { lifecycleStates } from "../../../machines/client/Client.ts"
import { BlockView, verificationLevels } from "../../../machines/verification/Blocks.ts"
import { restrictionNames } from "../../../machines/client/Restriction.ts"
import { categorizationFollows } from "../../../machines/margin/categorization.ts"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { text, token } from "../../../machines/shared/Fields.ts"
import { compliance, everyone, finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, Millis, Reason, Reference } from "./OperatorFieldSchemas.ts"
import { categorizations, settableRestrictions } from "./operatorTokens.ts"
import { indexed } from "../Parameters.ts"

const riskStates = ["NORMAL", "MARGIN_CALL", "CLOSE_OUT"] as const

/** A client as the lists of the partner surface show it, with the partner's id (doc 1). */
export const ClientRowView = Schema.Struct({
  clientId: Schema.Int,
  clientUid: Schema.String,
  partnerId: Schema.Int,
  partnerClientRef: Schema.String,
  email: Schema.String,
  displayName: Schema.String,
  verificationLevel: Schema.Literals(verificationLevels),
  lifecycleState: Schema.Literals(lifecycleStates),
  categorization: Schema.Literals(categorizations),
  riskState: Schema.NullOr(Schema.Literals(riskStates)),
  cashUsdc: Schema.String,
  createdAt: Millis
})

/** The account's margin at the current marks; null while no venue is attached. */
const MarginView = Schema.NullOr(
  Schema.Struct({
    initialMargin: Schema.String,
    maintenanceMargin: Schema.String,
    freeMargin: Schema.String,
    marginLevel: Schema.NullOr(Schema.String),
    riskState: Schema.Literals(riskStates),
    marksFresh: Schema.Boolean
  })
)

/** One client with its restrictions, open cases and balances. The KYC payload is read by a separate, audited command. */
export const ClientView = Schema.Struct({
  ...ClientRowView.fields,
  restrictions: Schema.Array(Schema.Literals(restrictionNames)),
  openCases: Schema.Array(Schema.Int),
  margin: MarginView,
  balances: Schema.Array(
    Schema.Struct({ currency: Schema.String, cash: Schema.String, reserved: Schema.String, total: Schema.String })
  ),
  blocks: Schema.Array(BlockView),
  kycPackage: Schema.NullOr(
    Schema.Struct({
      kycPackageId: Schema.Int,
      revision: Schema.Int,
      status: Schema.String,
      reviewedBy: Schema.NullOr(Schema.String),
      reviewedAt: Schema.NullOr(Millis),
      reviewNote: Schema.NullOr(Schema.String)
    })
  )
})

const Standing = Schema.Struct({
  equity: Schema.String,
  initialMargin: Schema.String,
  maintenanceMargin: Schema.String,
  freeMargin: Schema.String,
  marginLevel: Schema.NullOr(Schema.String),
  riskState: Schema.Literals(riskStates),
  marksFresh: Schema.Boolean
})

/** A client after a change of its categorization, and the effects on its account. A dry run returns the planned effects. */
export const CategorizedView = Schema.Struct({
  ...ClientView.fields,
  change: Schema.Struct({
    before: Standing,
    after: Standing,
    leverage: Schema.Array(
      Schema.Struct({
        symbol: Schema.String,
        leverageBefore: Schema.Int,
        leverageAfter: Schema.Int,
        marginBefore: Schema.String,
        marginAfter: Schema.String
      })
    ),
    follows: Schema.Literals(categorizationFollows)
  })
})

/** A payment that finance makes to a client who can't request one. */
export const PayoutView = Schema.Struct({
  ledgerTxId: Schema.Int,
  clientId: Schema.Int,
  clientUid: Schema.String,
  currency: Schema.Literals(currencyCodes),
  amount: Schema.String,
  reason: Schema.String,
  reference: Schema.NullOr(Schema.String),
  balance: Schema.Struct({ cash: Schema.String, reserved: Schema.String, total: Schema.String }),
  ts: Millis
})

const client = { client: Reference }
const restriction = token("The restriction", settableRestrictions)
const reasoned = Schema.Struct({ reason: Reason })
const success = Answer(ClientView)

export class ClientGroup extends HttpApiGroup.make("client").add(
  HttpApiEndpoint.get("list", "/clients", {
    query: {
      partner: indexed(Schema.optionalKey(Reference)),
      state: Schema.optionalKey(token("The state", lifecycleStates)),
      /** Part of e-mail, display name or reference, case-insensitive; wildcards are literal. */
      q: Schema.optionalKey(text("The search text", 200)),
      limit: Limit(200),
      before: Cursor("The cursor")
    },
    success: Answer(
      Schema.Struct({
        clients: Schema.Array(ClientRowView),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/clients/:client", { params: client, success: Answer(ClientView) }).pipe(
    openTo(everyone)
  ),
  HttpApiEndpoint.post("restrict", "/clients/:client/restrict", {
    params: client,
    payload: Schema.Struct({ restriction, reason: Reason }),
    success: Answer(ClientView)
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("lift", "/clients/:client/lift", {
    params: client,
    payload: Schema.Struct({ restriction, reason: Schema.optionalKey(Reason) }),
    success: Answer(ClientView)
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("payout", "/clients/:client/payout", {
    params: client,
    payload: Schema.Struct({
      currency: token("The currency", currencyCodes),
      amount: text("The amount", 40),
      reason: Reason,
      reference: Schema.optionalKey(text("The reference", 64))
    }),
    success: Answer(Schema.Union([ApprovalPending, PayoutView]))
  }).pipe(openTo(finance, { fourEyes: "usual" })),
  HttpApiEndpoint.post("close", "/clients/:client/close", { params: client, payload: reasoned, success }).pipe(
    openTo(compliance)
  ),
  HttpApiEndpoint.post("reopen", "/clients/:client/reopen", { params: client, payload: reasoned, success }).pipe(
    openTo(compliance)
  ),
  HttpApiEndpoint.post("downgrade", "/clients/:client/downgrade", { params: client, payload: reasoned, success }).pipe(
    openTo(compliance)
  ),
  HttpApiEndpoint.post("categorize", "/clients/:client/categorize", {
    params: client,
    payload: Schema.Struct({
      categorization: token("The categorization", categorizations),
      reason: Reason,
      force: Schema.optionalKey(Schema.Boolean)
    }),
    success: Answer(CategorizedView)
  }).pipe(openTo(compliance))
) {}
