/** Knock-out contracts for partners: lists of open and ended contracts, and requests to close one (A2-29, A2-30, D5, F19). */
import { decimalText } from "../../../../machines/shared/Money.ts"
import { Context, Effect, Layer } from "effect"
import type { ContractList, ContractsWire } from "../../../../machines/contract/ContractWire.ts"
import { decodeClose } from "../../../../machines/rfq/CloseBody.ts"
import { closeGates } from "../../../../machines/rfq/rfqGates.ts"
import type { RfqWire } from "../../../../machines/rfq/RfqWire.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import { accept, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { cutPage, type PageQuery } from "../../../store/paging.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import { clientSubject, ownClient, readersClient } from "../../account/clientState.ts"
import { notFound } from "../../account/notFound.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { Directory } from "../../partners/Directory.ts"
import { contractMarkets } from "../rfq/contractMarkets.ts"
import { isOpen, startClose } from "../rfq/rfqDecisions.ts"
import { rfqsInTurn } from "../../account/contractHoldings.ts"
import { type Kept, type KeyedWrite, unkept } from "../../venue/VenueGateway.ts"
import { Rfqs } from "../rfq/Rfqs.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { contractInTurn } from "./contractDecisions.ts"
import { contractWire } from "./contractView.ts"

export interface ContractQuery extends PageQuery {
  readonly state: ContractList
}

export class Contracts extends Context.Service<
  Contracts,
  {
    /** The contracts of a client; null: another partner's client. */
    list(caller: Caller, clientId: number, query: ContractQuery): Effect.Effect<ContractsWire | null, Unavailable>
    close(caller: Caller, contractId: number | null, write: KeyedWrite): Effect.Effect<Kept<RfqWire>, DispatchError>
  }
>()("brokerage/runtime/services/trading/contract/Contracts") {
  static readonly layer = Layer.effect(
    Contracts,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const stored = yield* RowReads
      const rfqs = yield* Rfqs
      const markets = yield* contractMarkets

      const pageOf = (rows: ReadonlyArray<ContractRow>, { limit }: PageQuery): ContractsWire => {
        const facts = host.facts()
        const now = clock.now()
        const { shown, end } = cutPage(rows, limit, ({ id }) => id)
        return { barriers: shown.map((row) => contractWire(row, facts, now)), ...end, currency: "USDC" }
      }

      const find = (caller: Caller, clientId: number, contractId: number | null) => {
        if (contractId === null) return Effect.succeed(null)
        const resident = host.read(clientSubject(clientId), (state) =>
          state.get("barrierContracts", String(contractId))
        )
        const partnerId = caller.partner.row.id
        return Effect.flatMap(resident, (row) =>
          row !== undefined
            ? Effect.succeed(row.partnerId === partnerId ? row : null)
            : firstRow(stored, "barrierContracts", [
                { column: "id", value: contractId },
                { column: "client_id", value: clientId },
                { column: "partner_id", value: partnerId }
              ])
        )
      }

      const absent = ({ partner }: Caller, clientId: number) =>
        notFound(host, { partnerId: partner.row.id, clientId, thing: noContract })

      const beginClose = (turn: Turn, caller: Caller, found: ContractRow, body: CloseRequest): Verdict<number> => {
        const client = ownClient(turn.state, partnerNow(directory, caller).row.id)
        if (client === null) return refuse(unknown("Client"))
        // A contract that is missing in the turn has ended since the lookup.
        const contract = contractInTurn(turn, found.id)
        const request = rfqsInTurn(turn).find((row) => row.closeContractId === found.id && isOpen(row))
        const refusal = firstRefusal(closeGates, {
          contract: { open: contract?.state === "OPEN" },
          openCloseRfqId: request?.id ?? null,
          venueConnected: markets.connected()
        })
        if (refusal !== null) return refuse(refusal)
        if (contract === undefined) throw new Error(`contract ${found.id} passed its gates and is not there`)
        const { symbol, priceDecimals, expiryTs } = contract.context
        const windowEndsAt = Math.min(turn.now + body.expiresInMs, expiryTs)
        const known = turn.facts.marks.get(symbol)
        const mark = known === undefined ? null : decimalText(known.price, priceDecimals)
        return accept(startClose(turn, client, contract, { windowEndsAt, autoAccept: body.autoAccept, mark }).id)
      }

      return Contracts.of({
        list: (caller, clientId, query) => {
          const partnerId = caller.partner.row.id
          const open = host.read(clientSubject(clientId), (state) =>
            readersClient(state, partnerId) === null ? null : state.all("barrierContracts")
          )
          return Effect.flatMap(open, (rows): Effect.Effect<ContractsWire | null, Unavailable> => {
            if (rows === null) return Effect.succeed(null)
            if (query.state === "history") {
              return Effect.map(endedPage(stored, clientId, query), (ended) => pageOf(ended, query))
            }
            const { before = Number.POSITIVE_INFINITY } = query
            const newest = rows.filter(({ id }) => id < before).toSorted((one, other) => other.id - one.id)
            return Effect.succeed(pageOf(newest, query))
          })
        },
        close: (caller, contractId, write) =>
          Effect.gen(function* () {
            const decoded = decodeClose(write.body)
            if (!decoded.ok) return unkept(invalidBody(decoded))
            const found = yield* find(caller, write.clientId, contractId)
            if (found === null) return unkept(yield* absent(caller, write.clientId))
            const start = (turn: Turn) => beginClose(turn, caller, found, decoded.body)
            return yield* rfqs.begun(caller, write, start, { contractId: found.id })
          })
      })
    })
  )
}

interface CloseRequest {
  readonly expiresInMs: number
  readonly autoAccept: boolean
}

const noContract = unknown("Contract")

/** One page of ended contracts, read with one row more that shows whether a further page exists. */
const endedPage = (
  stored: RowReads["Service"],
  clientId: number,
  { limit, before }: PageQuery
): Effect.Effect<ReadonlyArray<ContractRow>, Unavailable> =>
  stored.page(
    "barrierContracts",
    [
      { column: "client_id", value: clientId },
      { column: "closed_at", value: 0, comparison: ">=" }
    ],
    { limit: limit + 1, ...(before === undefined ? {} : { before }) }
  )
