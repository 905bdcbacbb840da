/**
 * A venue over HTTP: queries by the client generated from its surface (`src/venue/VenueApi.ts`), calls over their own connection
 * (`CallSession.ts`), both strictly decoded and limited to 5 s; the two streams line by line (`venueLines.ts`). Every failure is
 * VenueUnanswered with a short reason that holds no secret.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { type Outcomes, VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { VenueMarket, VenueOffer, VenueStakingMarket } from "../../../machines/venue/VenueMarket.ts"
import { VenueApi, venueStreams } from "../../../venue/VenueApi.ts"
import { noVenue, unreadableAnswer, Venue, type VenueShape, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueConnection } from "../../ports/VenueConnection.ts"
import { CallSession } from "./CallSession.ts"
import { channelLine, eventLine, pagedEvent, venueLines } from "./venueLines.ts"

/** The timeout of a response, wall ms. */
const answerWithin = "5 seconds"
/** The most connections for queries that are kept open. */
const connections = 128

export const HttpVenue = {
  /** Null: there is no venue, and every call fails. */
  layer: (connection: VenueConnection | null): Layer.Layer<Venue> =>
    connection === null
      ? Layer.succeed(Venue, Venue.of(nowhere))
      : Layer.effect(
          Venue,
          Effect.gen(function* () {
            const session = yield* Effect.acquireRelease(
              Effect.sync(() => new CallSession(connection)),
              (open) => Effect.sync(() => open.close())
            )
            return Venue.of(shapeOf(connection, yield* makeClient(connection), session))
          })
        ).pipe(
          Layer.provide(NodeHttpClient.layerUndiciNoDispatcher),
          Layer.provide(
            NodeHttpClient.layerDispatcherOptions({
              connections,
              ...(connection.ca === null ? {} : { connect: { ca: connection.ca } })
            })
          )
        )
}

type Client = HttpApiClient.ForApi<typeof VenueApi>

const makeClient = ({ url, key }: VenueConnection): Effect.Effect<Client, never, HttpClient.HttpClient> =>
  HttpApiClient.make(VenueApi, {
    baseUrl: url,
    transformClient: (client) =>
      client.pipe(
        HttpClient.mapRequest((request) =>
          Redacted.value(key) === "" ? request : HttpClientRequest.bearerToken(request, key)
        ),
        // No spans are read here, and a span for each call costs as much as decoding the response.
        HttpClient.transform(Effect.provideService(HttpClient.TracerDisabledWhen, () => true))
      )
  })

const shapeOf = (connection: VenueConnection, { reads }: Client, session: CallSession): VenueShape => ({
  listing: Effect.map(answered(reads.listing()), ({ markets, stakingMarkets, ...rest }) => {
    const [perps, staking] = [marketsOf(markets), stakingMarketsOf(stakingMarkets)]
    const unreadable = [...perps.unreadable, ...staking.unreadable]
    return { ...rest, markets: perps.read, stakingMarkets: staking.read, unreadable }
  }),
  offers: Effect.map(answered(reads.offers()), ({ offers, at }) => {
    const { read, unreadable } = offersOf(offers)
    return { offers: read, at, unreadable }
  }),
  clock: Effect.map(answered(reads.clock()), ({ now }) => now),
  snapshot: (params) => answered(reads.snapshot({ params })),
  klines: ({ symbol, interval, from, to, limit }) =>
    answered(
      reads.klines({
        query: { symbol, interval, limit, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) }
      })
    ),
  account: (account) =>
    answered(Effect.catchTag(reads.account({ params: { account } }), "VenueNotFound", () => Effect.succeed(null))),
  accountEvents: (account, after) =>
    answered(
      reads.accountEvents({ params: { account }, query: { after } }).pipe(
        Effect.map(({ events }) => events.map(pagedEvent)),
        Effect.catchTag("VenueNotFound", () => Effect.succeed([]))
      )
    ),
  orderFills: (ref) =>
    Effect.flatMap(
      answered(
        reads.orderFills({ params: { ref } }).pipe(
          Effect.map(({ fills }) => fills),
          Effect.catchTag("VenueNotFound", () => Effect.succeed(null))
        )
      ),
      (fills) =>
        fills === null || fills.every((fill) => fill.ref === ref)
          ? Effect.succeed(fills)
          : Effect.fail(new VenueUnanswered({ reason: "the answer is of another ref" }))
    ),
  lookup: (refs) => inOrder(refs, answered(reads.lookup({ payload: { refs } }))),
  voidRefs: (refs) => inOrder(refs, answered(reads.voidRefs({ payload: { refs } }))),
  write: (name, request) =>
    Effect.flatMap(session.call(name, request), (outcome) =>
      outcome.ref === request.ref
        ? Effect.succeed(outcome)
        : Effect.fail(new VenueUnanswered({ reason: "the answer is of another ref" }))
    ),
  events: (after) => venueLines(connection, venueStreams.events(after), eventLine, after),
  marketData: (subscriptions) =>
    venueLines(
      connection,
      venueStreams.marketData(subscriptions.map(({ channel, symbol }) => `${channel}:${symbol}`)),
      channelLine,
      null
    ).pipe(Stream.catchTag("VenueEventsGone", () => Stream.fail(new VenueUnanswered({ reason: "status 410" }))))
})

/** Limits the work in time. A defect of the client counts as no response too, because the call may have been made. */
const answered = <A>(work: Effect.Effect<A, unknown>): Effect.Effect<A, VenueUnanswered> =>
  work.pipe(
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.mapError((error) => new VenueUnanswered({ reason: reasonOf(error) })),
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" }))
    })
  )

/** The reason of a failure, without addresses, bodies or headers; the venue's own sentence if it has one. */
const reasonOf = (error: unknown): string => {
  const {
    _tag: tag = "",
    message = "",
    reason
  } = error as {
    readonly _tag?: string
    readonly message?: string
    readonly reason?: { readonly _tag?: string; readonly response?: { readonly status?: number } }
  }
  if (tag.startsWith("Venue")) return `${tag}: ${message}`.slice(0, 256)
  if (tag === "SchemaError") return unreadableAnswer
  const status = reason?.response?.status
  return status === undefined ? (reason?._tag ?? "the connection broke") : `status ${status}`
}

/**
 * The response must list the requested refs in order, otherwise it counts as no response. An unreadable element makes only its
 * own ref unknown (A2-115).
 */
const inOrder = (
  refs: ReadonlyArray<string>,
  answer: Effect.Effect<typeof Outcomes.Type, VenueUnanswered>
): Effect.Effect<ReadonlyArray<VenueOutcome>, VenueUnanswered> =>
  Effect.flatMap(answer, (answered) => {
    const outcomes = refs.map((ref, at) => Option.getOrElse(outcomeOf(answered.outcomes[at]), () => unread(ref)))
    return answered.outcomes.length === refs.length && outcomes.every(({ ref }, at) => ref === refs[at])
      ? Effect.succeed(outcomes)
      : Effect.fail(new VenueUnanswered({ reason: "the answer is of other refs" }))
  })

/** Decodes each element of a list separately. */
const eachOf = <A>(schema: Schema.Codec<A>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (found: ReadonlyArray<unknown>) => {
    const read: Array<A> = []
    const unreadable: Array<string> = []
    for (const element of found) {
      const value = decode(element)
      if (Option.isSome(value)) read.push(value.value)
      else unreadable.push(JSON.stringify(element))
    }
    return { read, unreadable }
  }
}
const marketsOf = eachOf(VenueMarket)
const stakingMarketsOf = eachOf(VenueStakingMarket)
const offersOf = eachOf(VenueOffer)

const outcomeOf = Schema.decodeUnknownOption(VenueOutcome)

const unread = (ref: string): VenueOutcome => ({
  ref,
  outcome: "UNKNOWN",
  reason: unreadableAnswer,
  at: 0,
  order: null,
  rfq: null,
  contract: null,
  swap: null
})

const unanswered = Effect.fail(noVenue)

const nowhere: VenueShape = {
  listing: unanswered,
  offers: unanswered,
  clock: unanswered,
  snapshot: () => unanswered,
  klines: () => unanswered,
  account: () => unanswered,
  accountEvents: () => unanswered,
  orderFills: () => unanswered,
  lookup: () => unanswered,
  voidRefs: () => unanswered,
  write: () => unanswered,
  events: () => Stream.fail(noVenue),
  marketData: () => Stream.fail(noVenue)
}
