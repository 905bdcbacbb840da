/** The clients of accounts: read together, cached, and read again after a failed read, or if the account is not ours. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Unavailable } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { AccountClients } from "../../../src/runtime/services/venue/AccountClients.ts"

let reads: Array<ReadonlyArray<string>>
let isAway: boolean
/** Our accounts are named after their client's id. */
const stored = {
  clientIds: (accounts: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      reads.push(accounts)
      if (isAway) return Effect.fail(new Unavailable({ unknown: false }))
      return Effect.succeed(
        new Map(accounts.flatMap((each) => (Number(each) > 0 ? [[each, Number(each)] as const] : [])))
      )
    })
}

beforeEach(() => {
  reads = []
  isAway = false
})

/** Runs work while the loop that finds clients runs. */
const found = <A, E>(work: (clients: AccountClients) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const clients = new AccountClients(stored)
      const finding = yield* Effect.forkChild(Effect.forever(clients.run))
      const answer = yield* work(clients)
      yield* Fiber.interrupt(finding)
      return answer
    })
  )

const all = (clients: AccountClients, accounts: ReadonlyArray<string>) =>
  Effect.forEach(accounts, (account) => clients.of(account), { concurrency: "unbounded" })

describe("the clients of accounts", () => {
  it("simultaneous requests are one read, of each account once, and its results are stored", async () => {
    const accounts = Array.from({ length: 100 }, (_, at) => String(at + 1))
    const answers = await found((clients) => Effect.andThen(all(clients, [...accounts, "7"]), all(clients, accounts)))
    assert.deepStrictEqual(answers, accounts.map(Number))
    assert.deepStrictEqual(reads.flat(), accounts)
    assert.isAtMost(reads.length, 2)
  })

  it("another service's account has no client, and is read again", async () => {
    assert.deepStrictEqual(await found((clients) => Effect.andThen(all(clients, ["x"]), all(clients, ["x", "3"]))), [
      null,
      3
    ])
    assert.deepStrictEqual(reads, [["x"], ["x", "3"]])
  })

  it("a failed read fails every request that waited for it, and none after it", async () => {
    isAway = true
    const tried = await found((clients) =>
      Effect.gen(function* () {
        const before = yield* Effect.forEach(["1", "2"], (account) => Effect.exit(clients.of(account)), {
          concurrency: "unbounded"
        })
        isAway = false
        return [before.map(({ _tag }) => _tag), yield* all(clients, ["1", "2"])]
      })
    )
    assert.deepStrictEqual(tried, [
      ["Failure", "Failure"],
      [1, 2]
    ])
  })
})
