/** Steps of scenarios of knock-out contracts: a client that may trade them, requests, and polls until a condition holds. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { setTimeout as pause } from "node:timers/promises"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { MarketFeed } from "../../src/runtime/services/market/MarketFeed.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { get, withPaths } from "./Builders.ts"
import { knockOut } from "./contractVenue.ts"
import type { Answer, Service } from "./Service.ts"
import type { Members, stepsOf } from "./steps.ts"

export const contractSteps = (
  service: Service,
  key: string,
  { call, report }: Pick<ReturnType<typeof stepsOf>, "call" | "report">
) => {
  const post = (clientId: number, path: string, body: object): Promise<Answer> => call("POST", clientId, path, body)
  const rfqOf = async (clientId: number, rfqId: number) =>
    (await get(service, key, `/clients/${clientId}/rfq/${rfqId}`)).json.data
  /** Repeats a read until `found` is true; the test's time limit ends it. */
  const poll = async <A>(read: () => Promise<A>, found: (seen: A) => boolean): Promise<A> => {
    for (;;) {
      const seen = await read()
      if (found(seen)) return seen
      await pause(5)
    }
  }
  const priced = (mark?: string) =>
    poll(
      () => get(service, key, `/ticker?symbol=${knockOut}`),
      ({ status, json }) => status === 200 && (mark === undefined || Number(json.data.markPrice) === Number(mark))
    )
  return {
    post,
    rfqOf,
    poll,
    /** Waits until the market has a live price: this mark if one is given. */
    priced,
    /** Waits until the market feed is connected. */
    fed: () =>
      poll(
        () => service.run(Effect.map(MarketFeed, (feed) => feed.figures())),
        (feed) => feed.connected
      ),
    /**
     * A client at level MICA_MIFID with this collateral. Waits until the market has a live price and the venue is
     * connected.
     */
    trader: async (amount = "1000.00"): Promise<number> => {
      const clientId = await service.client(key)
      const answers = answersFor(questionnaire1, "PASS")
      await call("POST", clientId, "/appropriateness", { version: 1, answers })
      const { data } = (await call("PUT", clientId, "/mifid", sampleMifid())).json
      assert.strictEqual(data.verificationLevel, "MICA_MIFID")
      const reported = await report(clientId, { amount })
      assert.strictEqual(reported.status, 201, reported.text)
      await priced()
      // The service reconnects a stream in which it found a missing event.
      await poll(
        () => service.run(Effect.map(VenueLink, (link) => link.state())),
        ({ connected }) => connected
      )
      return clientId
    },
    /** The body of a request to open a long of 0.1 with its barrier at 58,000, with some paths replaced. */
    rfqBody: (paths: Members = {}) =>
      withPaths({ symbol: knockOut, side: "BUY", qty: "0.1", barrier: { level: "58000" } } as object, paths),
    // oxlint-disable-next-line typescript/no-explicit-any
    until: (clientId: number, rfqId: number, found: (rfq: any) => boolean) => poll(() => rfqOf(clientId, rfqId), found)
  }
}
