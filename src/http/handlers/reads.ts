// What each GET of the partner contract does: judge the query, ask one service, wrap the answer. Thin by design: no rule
// lives here. A malformed query is refused only once the client is known to be the caller's (A1-02: 10 before 11).
import { Effect } from "effect"
import { lifecycleStates, verificationLevels } from "../../machines/client/Client.ts"
import { collateralStatuses } from "../../machines/collateral/CollateralReport.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import type { Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import type { Accounts } from "../../runtime/services/account/Accounts.ts"
import type { Caller } from "../../runtime/services/partner/Caller.ts"
import type { Clients } from "../../runtime/services/client/Clients.ts"
import type { CollateralReports } from "../../runtime/services/collateral/CollateralReports.ts"
import type { Summary } from "../../runtime/services/partner/Summary.ts"
import type { PartnerProfile } from "../api/ProfileApi.ts"
import type { Exchange } from "../middleware/Exchange.ts"
import { type ParsedQuery, QueryReader } from "../middleware/queries.ts"
import { gateRefusals, invalidQuery, type WireRefusal } from "../toWire.ts"

export interface ReadServices {
  readonly clients: Clients["Service"]
  readonly summary: Summary["Service"]
  readonly accounts: Accounts["Service"]
  readonly collateral: Pick<CollateralReports["Service"], "list">
  readonly clock: Pick<BusinessClock["Service"], "now">
}

export type Reply =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly refusal: WireRefusal }

/** What a handler sees: the caller, the client of the path (0 when there is none) and the exchange. */
export interface ReadInput {
  readonly exchange: Exchange
  readonly caller: Caller
  readonly partnerId: number
  readonly clientId: number
  readonly partnerClientRef: string
}

export type Read = (input: ReadInput) => Effect.Effect<Reply, Unavailable>

export const refused = (refusal: WireRefusal): Reply => ({ ok: false, refusal })
const bare = (body: unknown): Reply => ({ ok: true, status: 200, body })
/** 200 in the envelope. */
export const data = (value: unknown): Reply => bare({ code: 0, data: value })
const orUnknown =
  (wrap: (value: unknown) => Reply) =>
  (value: unknown): Reply =>
    value === null ? refused(gateRefusals.unknownClient) : wrap(value)

/** GET /me (doc 1, Partner profile): everything is in the live directory. */
const profileOf = ({ exchange, caller }: ReadInput, asOf: number): PartnerProfile => {
  const { row, reliance, endpoint } = caller.partner
  const { key } = caller
  return {
    partner: {
      partnerId: row.id,
      code: row.code,
      name: row.name,
      legalName: row.legalName,
      country: row.country,
      licenceType: row.licence as PartnerProfile["partner"]["licenceType"],
      relianceStatus: reliance as PartnerProfile["partner"]["relianceStatus"],
      status: row.state,
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
      lastUsedAt: exchange.lastUsedAt
    },
    webhook: endpoint === null ? null : { url: endpoint.url, active: endpoint.state === "ACTIVE" },
    asOf
  }
}

const clientsQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({
    limit: reader.limit(pageLimits.clients),
    ...reader.before(),
    ...reader.text("q"),
    ...reader.token("state", lifecycleStates),
    ...reader.token("level", verificationLevels)
  })
}

const collateralQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({
    limit: reader.limit(pageLimits.collateral),
    ...reader.before(),
    ...reader.token("status", collateralStatuses)
  })
}

const historyQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({ limit: reader.limit(pageLimits.history), ...reader.before() })
}

const balancesQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish(reader.millis("at"))
}

/** The reads by operation id; the dispatcher checks at start that every GET of the contract is here. */
export const reads = (services: ReadServices): Readonly<Record<string, Read>> => {
  const { clients, summary, accounts, collateral, clock } = services

  /** Runs a list with a good query; a bad one is told after an unknown client. */
  const listing = <A>(
    parsed: ParsedQuery<A>,
    client: { readonly partnerId: number; readonly clientId: number } | null,
    run: (query: A) => Effect.Effect<Reply, Unavailable>
  ): Effect.Effect<Reply, Unavailable> => {
    if (parsed.ok) return run(parsed.query)
    const malformed = refused(invalidQuery(parsed.errors))
    return client === null
      ? Effect.succeed(malformed)
      : Effect.map(
          clients.get(client.partnerId, client.clientId),
          orUnknown(() => malformed)
        )
  }

  return {
    "profile.me": (input) => Effect.sync(() => data(profileOf(input, clock.now()))),
    "profile.summary": ({ partnerId }) => Effect.map(summary.of(partnerId), data),
    "clients.list": ({ exchange, partnerId }) =>
      listing(clientsQuery(exchange.search), null, (query) => Effect.map(clients.list(partnerId, query), data)),
    "clients.get": ({ partnerId, clientId }) => Effect.map(clients.get(partnerId, clientId), orUnknown(data)),
    "clients.getByRef": ({ partnerId, partnerClientRef }) =>
      Effect.map(clients.byRef(partnerId, partnerClientRef), orUnknown(data)),
    "verification.get": ({ partnerId, clientId }) =>
      Effect.map(clients.verification(partnerId, clientId), orUnknown(data)),
    "collateral.list": ({ exchange, partnerId }) =>
      listing(collateralQuery(exchange.search), null, (query) =>
        Effect.map(collateral.list(partnerId, query), orUnknown(data))
      ),
    "collateral.listOfClient": (input) =>
      listing(collateralQuery(input.exchange.search), input, (query) =>
        Effect.map(collateral.list(input.partnerId, { ...query, clientId: input.clientId }), orUnknown(data))
      ),
    "account.balances": (input) =>
      listing(balancesQuery(input.exchange.search), input, ({ at }) =>
        Effect.map(
          at === undefined
            ? accounts.balances(input.partnerId, input.clientId)
            : accounts.balancesAt(input.partnerId, input.clientId, at),
          orUnknown(bare)
        )
      ),
    "account.summary": ({ partnerId, clientId }) => Effect.map(accounts.summary(partnerId, clientId), orUnknown(data)),
    "account.ledger": (input) =>
      listing(historyQuery(input.exchange.search), input, (query) =>
        Effect.map(accounts.ledger(input.partnerId, input.clientId, query), orUnknown(data))
      )
  }
}
