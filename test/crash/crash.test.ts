/**
 * kill -9 of the service, of the database, of both and of the venue under load, and of the service exactly at every
 * pause point of the commit path. Acknowledged writes are neither lost nor doubled, and every answer replays byte for
 * byte. A few short rounds; `npm run crash` does any number, with outages of 20 seconds.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { crashRounds } from "./crashRun.ts"
import { isDeep } from "../support/every.ts"
import { type Blow, sayLimitMillis } from "./strike.ts"

const seed = 20_261

/** Runs rounds of faults. A failure prints the seed, but the moments differ slightly from run to run. */
const rounds = (chosen: ReadonlyArray<Blow>, ownDatabase = false, falling = false) =>
  Effect.gen(function* () {
    const load = { seed, rate: 500, workers: 16, traders: 4, ownDatabase, falling }
    const reports = yield* crashRounds(load, chosen, sayLimitMillis)
    assert.deepStrictEqual(
      reports.map(({ blow, faults }) => ({ blow, faults })),
      chosen.map((blow) => ({ blow, faults: [] })),
      `seed ${seed}`
    )
    for (const { audit, trade } of reports) {
      assert.strictEqual(audit.replays, audit.acknowledged)
      assert.strictEqual(audit.postings, audit.reports)
      assert.isAbove(audit.reports, 0)
      assert.isAbove(trade.trades, 0)
    }
    return reports
  })

const limit = 300_000

/** The blows of `npm test`, at one world; a deep run gives each test a world and blows of its own. */
let struck: Promise<Effect.Success<ReturnType<typeof rounds>>> | undefined
const usual = Effect.promise(() => (struck ??= Effect.runPromise(rounds(["both", "outage-killed"]))))

describe("crash", () => {
  it.live(
    "SC-PLT-04: kill -9 of service, database, both and the venue loses and doubles nothing",
    () => (isDeep ? rounds(["service", "database", "both", "venue"]) : usual),
    limit
  )

  it.live.runIf(isDeep)(
    "F9, F10: the same in a falling market: clients with too large positions are closed out, have no debt, and no trade is doubled",
    () => rounds(["service", "at:after-commit", "venue"], false, true),
    limit
  )

  it.live.runIf(isDeep)(
    "SC-PLT-04: killed exactly at each pause point of the commit path, the service loses and doubles nothing",
    () =>
      Effect.gen(function* () {
        const reports = yield* rounds(["at:after-claim", "at:after-decide", "at:before-commit", "at:after-commit"])
        let swallowed = reports.at(-1)?.foundAgain ?? 0
        // The killed batch may have held only the service's own commits; then the kill is repeated.
        for (let more = 0; swallowed === 0 && more < 3; more++) {
          swallowed = (yield* rounds(["at:after-commit"])).at(-1)?.foundAgain ?? 0
        }
        assert.isAbove(swallowed, 0, "a batch was committed and its answers were swallowed")
      }),
    limit
  )

  it.live(
    "SC-PLT-05: with its database killed again and again the service answers 503 with Retry-After; killed or paused, it recovers by itself",
    () =>
      Effect.gen(function* () {
        const reports = yield* isDeep ? rounds(["outage-killed", "outage-paused"]) : usual
        for (const { blow, unavailable } of reports.filter((report) => report.blow.startsWith("outage-")))
          assert.isAbove(unavailable, 0, blow)
      }),
    limit
  )

  it.live.runIf(isDeep)(
    "SC-PLT-04: SIGTERM under load drains, ends with 0 within 15 s and loses nothing",
    () => rounds(["sigterm"]),
    limit
  )

  it.live.runIf(isDeep)(
    "SC-PLT-04: of two services on one database the older one stops by itself, nothing is lost",
    () => rounds(["takeover"], true),
    limit
  )
})
