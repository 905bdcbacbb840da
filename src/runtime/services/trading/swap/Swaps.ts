/**
 * Staking swaps for partners. One turn of the client checks a take, holds its cost and starts the call, in one commit.
 * The service responds once it has the venue's answer, or after a timeout of 5 s. After the timeout the call is in
 * doubt, and the service resolves it without the caller (doc 2, Staking; D8, STS-1, STS-2, STS-3, STS-4).
 */
import { Context, Effect, Layer } from "effect"
import { type GateResult, firstRefusal, notReached, walkGates } from "../../../../machines/shared/Gates.ts"
import { notReceived } from "../../../../machines/venue/venueCalls.ts"
import {
  accept,
  type Refusal,
  refuse,
  unknown,
  venueNotReached,
  type Verdict
} from "../../../../machines/shared/Refusal.ts"
import { invalidBody, invalidWhole } from "../../../../machines/shared/RequestBody.ts"
import { liveSwapStates, swapRef, type SwapState, swapStates } from "../../../../machines/swap/Swap.ts"
import type { SwapList, SwapsWire, SwapWire } from "../../../../machines/swap/SwapWire.ts"
import { decodeTake } from "../../../../machines/swap/TakeBody.ts"
import { takeGates } from "../../../../machines/swap/takeGates.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import {
  ActorHost,
  type DispatchError,
  FactNeeded,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { type Condition, cutPage, onePast, type PageQuery } from "../../../store/paging.ts"
import type { SwapRow } from "../../../tables/swap.ts"
import { readOwnClient, momentAt, momentInTurn } from "../../account/clientMoment.ts"
import { clientSubject, instanceOf, ownClient } from "../../account/clientState.ts"
import { notFound } from "../../account/notFound.ts"
import type { Explanation } from "../../shared/Explanation.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { Directory } from "../../partners/Directory.ts"
import { ofPartner } from "../../account/listReads.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { type Kept, type KeyedWrite, unkept, VenueGateway } from "../../venue/VenueGateway.ts"
import { swapInTurn, takeSwap } from "./swapDecisions.ts"
import { type Offered, type SwapMarkets, swapMarkets } from "./swapMarkets.ts"
import { swapWire } from "./swapView.ts"
import { takeFacts } from "./takeFacts.ts"

type OfPartner = Pick<Caller, "partner">
type Answered<A> = Effect.Effect<Verdict<A>, DispatchError>

export interface SwapQuery extends PageQuery {
  readonly state: SwapList
}

export class Swaps extends Context.Service<
  Swaps,
  {
    take(caller: Caller, offerId: number | null, write: KeyedWrite): Effect.Effect<Kept<SwapWire>, DispatchError>
    explain(of: OfPartner, clientId: number, offerId: number | null, body: unknown): Answered<Explanation>
    /** A page of the client's swaps; null if the client does not exist or belongs to another partner. */
    list(of: OfPartner, clientId: number, query: SwapQuery): Effect.Effect<SwapsWire | null, Unavailable>
    /**
     * The swap with the venue's contract id `id`; if there is none, the swap with the service's id. Refused (404) if
     * neither exists.
     */
    get(of: OfPartner, clientId: number, id: number | null): Answered<SwapWire>
  }
>()("brokerage/runtime/services/trading/swap/Swaps") {
  static readonly layer = Layer.effect(
    Swaps,
    Effect.gen(function* () {
      return Swaps.of(
        new Staking({
          host: yield* ActorHost,
          stored: yield* RowReads,
          clock: yield* BusinessClock,
          directory: yield* Directory,
          gateway: yield* VenueGateway,
          markets: yield* swapMarkets
        })
      )
    })
  )
}

interface Parts {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
  readonly clock: BusinessClock["Service"]
  readonly directory: Directory["Service"]
  readonly gateway: VenueGateway["Service"]
  readonly markets: SwapMarkets
}

/** The offer to take from, with the requested quantity as decimal text. */
type OfferedTake = Offered & { readonly qty: string }

/**
 * The result of the checks that need no client. `at`: the index of the step that refuses; the number of steps if none does.
 */
type TakeRequest =
  | { readonly take: OfferedTake; readonly at: number; readonly refusal: null }
  | { readonly take: null; readonly at: number; readonly refusal: Refusal }

const steps = ["fields", "offer"] as const
const noClient = unknown("Client")
const noSwap = unknown("Swap")

class Staking {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  take(caller: Caller, offerId: number | null, write: KeyedWrite): Effect.Effect<Kept<SwapWire>, DispatchError> {
    const { clientId, body, key } = write
    return Effect.gen({ self: this }, function* () {
      const { take, refusal } = yield* this.readTake(offerId, body)
      // Without an offer and without a key the refusal is the answer. With a key, a stored answer of an earlier attempt
      // comes first: since then the offer may have gone.
      if (take === null && key === null) return unkept(refusal)
      const request = this.parts.gateway.request<SwapWire>(caller, write)
      const sent = yield* request.begin((turn) => (take === null ? refuse(refusal) : this.takeIn(turn, caller, take)))
      if (!sent.ok) return request.refused(sent)
      const swapId = sent.value
      const answered = yield* request.outcome(swapRef(swapId), (turn) => {
        const row = swapInTurn(turn, swapId)
        return row === undefined ? null : taken(row)
      })
      return answered ?? (yield* request.end(yield* this.takenLater(clientId, swapId)))
    })
  }

  explain({ partner }: OfPartner, clientId: number, offerId: number | null, body: unknown): Answered<Explanation> {
    const { markets } = this.parts
    return Effect.flatMap(this.readTake(offerId, body), ({ take, at, refusal }) => {
      const early = walkGates(
        steps.map((gate, step) => ({
          gate,
          refusal: () => (step === at ? refusal : null),
          compared: () => null
        })),
        null
      )
      const seen = readOwnClient(this.parts, partner.row.id, clientId, (state, facts, of) =>
        take === null
          ? takeGates.map(({ gate }) => notReached(gate))
          : walkGates(takeGates, takeFacts(momentAt(state, facts, of), take, markets))
      )
      return Effect.map(seen, (rest) => (rest === null ? refuse(noClient) : accept(explanationOf([...early, ...rest]))))
    })
  }

  list({ partner }: OfPartner, clientId: number, query: SwapQuery): Effect.Effect<SwapsWire | null, Unavailable> {
    const { host, stored } = this.parts
    return Effect.flatMap(ofPartner(host, partner.row.id, clientId), (conditions) =>
      conditions === null
        ? Effect.succeed(null)
        : Effect.map(
            Effect.forEach(listed(query.state), (ofState) =>
              stored.page("swaps", [...conditions, ...ofState], onePast(query))
            ),
            (rows) => pageOf(newest(rows.flat(), onePast(query)), query)
          )
    )
  }

  get({ partner }: OfPartner, clientId: number, id: number | null): Answered<SwapWire> {
    const partnerId = partner.row.id
    const find = (column: "contract_id" | "id", value: number) =>
      firstRow(this.parts.stored, "swaps", [
        { column, value },
        { column: "client_id", value: clientId },
        { column: "partner_id", value: partnerId }
      ])
    const found =
      id === null
        ? Effect.succeed(null)
        : Effect.flatMap(find("contract_id", id), (row) => (row === null ? find("id", id) : Effect.succeed(row)))
    return Effect.flatMap(found, (row) =>
      row === null
        ? Effect.map(notFound(this.parts.host, { partnerId, clientId, thing: noSwap }), refuse)
        : Effect.succeed(accept(swapWire(row)))
    )
  }

  private readTake(offerId: number | null, body: unknown): Effect.Effect<TakeRequest> {
    const decoded = decodeTake(body)
    if (!decoded.ok) return Effect.succeed({ take: null, at: 0, refusal: invalidBody(decoded) })
    return Effect.map(this.parts.markets.find(offerId), (found): TakeRequest =>
      found.ok
        ? { take: { ...found.value, qty: decoded.body.qty }, at: steps.length, refusal: null }
        : { take: null, at: 1, refusal: found.refusal }
    )
  }

  private takeIn(turn: Turn, caller: Caller, take: OfferedTake): Verdict<number> {
    const { directory, markets } = this.parts
    const partner = partnerNow(directory, caller)
    const client = ownClient(turn.state, partner.row.id)
    if (client === null) return refuse(noClient)
    const facts = takeFacts(momentInTurn(turn, { client, partnerState: partner.row.state }), take, markets)
    const refusal = firstRefusal(takeGates, facts)
    if (refusal !== null) return refuse(refusal)
    const { figures } = facts
    if (figures === null) throw new Error("a take passed its gates without figures")
    const { commissionRewardBps } = markets
    return accept(
      takeSwap({ turn, of: instanceOf(client, partner) }, client, { take, figures, commissionRewardBps }).id
    )
  }

  /** The answer to a take once the venue's outcome is known, or after the timeout with the take in flight. */
  private takenLater(clientId: number, swapId: number): Effect.Effect<Verdict<SwapWire>, DispatchError> {
    const { host, stored } = this.parts
    const resident = host.read(clientSubject(clientId), (state) => {
      const row = state.get("swaps", String(swapId))
      return row === undefined ? undefined : { row, inFlight: state.get("venueCalls", swapRef(swapId)) !== undefined }
    })
    const found = Effect.flatMap(resident, (seen) =>
      seen === undefined
        ? Effect.map(firstRow(stored, "swaps", [{ column: "id", value: swapId }]), (row) =>
            row === null ? null : { row, inFlight: false }
          )
        : Effect.succeed(seen)
    )
    return Effect.flatMap(found, (seen): Effect.Effect<Verdict<SwapWire>, DispatchError> =>
      seen === null
        ? Effect.fail(new FactNeeded({ fact: `swap:${swapId}` }))
        : Effect.succeed(taken(seen.row) ?? refuse(seen.inFlight ? unanswered(seen.row) : voided(seen.row)))
    )
  }
}

/** The answer to a take whose outcome is known; null while it is not. */
const taken = (row: SwapRow): Verdict<SwapWire> | null => {
  if (row.state === "REJECTED") return refuse(rejected(row))
  return row.state === "ACCEPTING" ? null : accept(swapWire(row))
}

/** The venue's reject reasons that mean: the offer has left the board. */
const goneOffers: ReadonlySet<string> = new Set(["unknown offer", "offer expired"])

const rejected = (row: SwapRow): Refusal => {
  const { id: swapId, state } = row
  const { rejectReason } = row.context
  if (rejectReason === notReceived) return voided(row)
  const data = { swapId, state, rejectReason }
  if (goneOffers.has(rejectReason ?? ""))
    return { _tag: "Unknown", reason: "OFFER_GONE", sentence: "The offer has left the board.", data }
  return {
    ...invalidWhole("REFUSED_BY_VENUE", `The venue has refused the take: ${rejectReason ?? "no reason was given"}.`),
    data
  } as Refusal
}

/** The refusal of a take that the venue never received. The money stays reserved until the swap is released. */
const voided = ({ id: swapId, state, context: { offerId } }: SwapRow): Refusal =>
  venueNotReached({ swapId, offerId, state })

const unanswered = ({ id: swapId, state, context: { offerId } }: SwapRow): Refusal => ({
  _tag: "VenueAway",
  reason: "OUTCOME_PENDING",
  sentence: "The venue has not answered yet: the take is in flight and is resolved by itself.",
  data: { swapId, offerId, state }
})

const isLive = (state: SwapState): boolean => (liveSwapStates as ReadonlyArray<SwapState>).includes(state)

/**
 * The conditions of the queries that make up a list. Each state has a query of its own, because only then the index
 * applies.
 */
const listed = (list: SwapList): ReadonlyArray<ReadonlyArray<Condition>> =>
  list === "all"
    ? [[]]
    : swapStates.filter((state) => isLive(state) === (list === "live")).map((value) => [{ column: "state", value }])

const newest = (rows: ReadonlyArray<SwapRow>, { limit }: PageQuery): ReadonlyArray<SwapRow> =>
  rows.toSorted((one, other) => other.id - one.id).slice(0, limit)

const pageOf = (rows: ReadonlyArray<SwapRow>, { limit }: PageQuery): SwapsWire => {
  const { shown, end } = cutPage(rows, limit, ({ id }) => id)
  return { swaps: shown.map(swapWire), ...end }
}

const explanationOf = (gates: ReadonlyArray<GateResult>): Explanation => {
  const failed = gates.find(({ result }) => result === "failed")?.refusal ?? null
  return { write: "take", outcome: failed === null ? "ACCEPTED" : "REFUSED", refusal: failed, gates }
}
