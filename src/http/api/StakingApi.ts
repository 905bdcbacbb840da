/**
 * Staking: its markets and offers, and a client's swaps. A take with an unknown outcome answers 502 with its ids, and the
 * answer is stored under its Idempotency-Key (doc 2, Staking; STS-1..STS-4, STS-7, A1-51).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { StakingMarketsWire, StakingOffersWire } from "../../machines/market/MarketWire.ts"
import { currencyCodes } from "../../machines/shared/Currency.ts"
import { bodyCaps, pageLimits } from "../../machines/shared/Limits.ts"
import { swapLists, SwapsWire, SwapWire } from "../../machines/swap/SwapWire.ts"
import { TakeBody } from "../../machines/swap/TakeBody.ts"
import { ok } from "./Envelope.ts"
import { Explanation } from "./explanation.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, indexed, nameParam, pageParams, pathId, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { summary } from "./summary.ts"
import { BadRequest, Conflict, NotFound, VenueAway } from "./WireErrors.ts"

const offerParams = { ...clientParams, offerId: pathId("The offer's id, as the board has it.") }
const writes = { idempotent: false, reliance: false, bodyCap: bodyCaps.take } as const
const refusals = [BadRequest, Conflict, VenueAway] as const

export class StakingApi extends HttpApiGroup.make("staking")
  .add(
    HttpApiEndpoint.get("markets", "/staking/markets", {
      success: ok(StakingMarketsWire),
      error: VenueAway
    }).annotateMerge(
      summary(
        "The staking markets",
        "What may be lent: tenors, rates, sizes and the service's share of the reward, with the disclosure that has to be shown beside them."
      )
    ),
    HttpApiEndpoint.get("offers", "/staking/offers", {
      query: {
        asset: tokenParam("asset", currencyCodes, "Only offers of this asset."),
        symbol: nameParam("Only offers of this staking market. 404 when it is not offered.")
      },
      success: ok(StakingOffersWire),
      error: [BadRequest, NotFound, VenueAway]
    }).annotateMerge(
      summary("The board of staking offers", "Read at the venue every 2 seconds; stale when that was more than 10 ago.")
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Staking", description: "Staking swaps that writers offer." })) {}

export class SwapsApi extends HttpApiGroup.make("swaps")
  .add(
    HttpApiEndpoint.post("accept", "/clients/:clientId/staking/:offerId/accept", {
      params: offerParams,
      headers: idempotencyHeaders,
      payload: TakeBody,
      success: ok(SwapWire),
      error: refusals
    })
      .annotate(RouteRules, { ...writes, idempotent: true })
      .annotateMerge(
        summary(
          "Take a part of a staking offer",
          "Sets notional and taker fee aside in the asset and answers once the venue has: OPEN. Judged on a board at most 3 seconds old. 404 when the offer has left the board, with data {swapId, state, rejectReason} when the venue said so; 400 with the same data when the venue refuses for another reason. 502 with data {swapId, offerId, state} when the venue's answer is not known yet: the take is there, and is adopted or released by itself. Its reason is VENUE_NOT_REACHED when the venue never received the take: nothing was executed, and its reserve comes back by itself. A 502 without data has written nothing. The body may have up to 16 KB."
        )
      ),
    HttpApiEndpoint.post("explain", "/clients/:clientId/staking/:offerId/explain", {
      params: offerParams,
      payload: TakeBody,
      success: ok(Explanation),
      error: refusals
    })
      .annotate(RouteRules, { ...writes, reads: true })
      .annotateMerge(
        summary(
          "Explain what a take would be answered",
          "Our addition. Takes the body of the take and answers each of its gates in the order checked. Writes nothing and is open to READ keys; it counts in the TRADE window."
        )
      ),
    HttpApiEndpoint.get("list", "/clients/:clientId/staking/swaps", {
      params: clientParams,
      query: {
        state: indexed(
          tokenParam(
            "state",
            swapLists,
            "Swaps that are live, which is meant when absent, those that have ended, or all.",
            "live"
          )
        ),
        ...pageParams(pageLimits.history)
      },
      success: ok(SwapsWire),
      error: BadRequest
    }).annotateMerge(
      summary(
        "Staking swaps of a client, newest first",
        "state is live when absent: ACCEPTING, OPEN and DEFAULTED; history has the rest, all has both. before is a swapId."
      )
    ),
    HttpApiEndpoint.get("get", "/clients/:clientId/staking/swaps/:swapId", {
      params: { ...clientParams, swapId: pathId("The venue's contractId, else the service's own swapId.") },
      success: ok(SwapWire)
    }).annotateMerge(
      summary(
        "One staking swap",
        "Looked for by the venue's contractId first; the service's swapId is taken when no contract of the client has that id."
      )
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Staking swaps",
      description:
        "What clients have taken of staking offers. The writer's obligation is unsecured. 503 code 5030 when no venue is attached to the service."
    })
  ) {}
