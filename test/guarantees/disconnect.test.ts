/**
 * A caller that disconnects never interrupts a turn between decision and commit, and its key is not blocked: the retry
 * gets the answer of the one execution (architecture, Mailbox; doc 1, Idempotency).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:tls"
import { setPauseTrigger } from "../../src/runtime/engine/PausePoints.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, client } = await openScenario()
const clientId = await client()

describe("disconnect", () => {
  const path = () => `/partner/v1/clients/${clientId}/collateral`
  const bodyOf = (n: number) => ({ partnerRef: `cut-${n}`, direction: "DEPOSIT", amount: "1.00" })

  /** Sends a complete request and disconnects without reading the answer. */
  const sendAndHangUp = (n: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url)
      const body = JSON.stringify(bodyOf(n))
      const socket = connect({ host: hostname, port: Number(port), ca: service.ca }, () => {
        socket.write(
          `POST ${path()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: cut-${n}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
          () => {
            // Disconnects at various moments of the request: before it is read, while it is decided or committed, and
            // afterwards.
            const hangUp = (turns: number): void => {
              if (turns > 0) setImmediate(hangUp, turns - 1)
              else {
                socket.destroy()
                resolve()
              }
            }
            hangUp(n % 40)
          }
        )
      })
      socket.on("error", reject)
    })

  it("a caller that disconnects while its commit is in flight: the one execution settles the key", async () => {
    const body = JSON.stringify(bodyOf(1_000))
    const { hostname, port } = new URL(service.url)
    const decided = new Promise<void>((resolve) => setPauseTrigger("before-commit", () => resolve()))
    // Another session locks the writer row, so the commit can't complete before the lock is released.
    const retry = await service.run(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT 1 FROM writer WHERE id = 1 FOR UPDATE`
            yield* Effect.promise(async () => {
              const socket = connect({ host: hostname, port: Number(port), ca: service.ca }, () =>
                socket.write(
                  `POST ${path()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: cut-1000\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
                )
              )
              await decided
              setPauseTrigger("before-commit", null)
              const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
              socket.destroy()
              await closed
              // Answers on other connections prove that the server has processed the end of the first connection.
              for (let n = 0; n < 5; n++) await service.call("GET", "/partner/v1/me", { key })
            })
            // Sent while the first request is still in progress; answered after the lock is released.
            return service.call("POST", path(), {
              key,
              body: bodyOf(1_000),
              headers: { "idempotency-key": "cut-1000" }
            })
          })
        )
      }).pipe(Effect.flatMap((answer) => Effect.promise(() => answer)))
    )
    assert.deepStrictEqual([retry.status, retry.headers["idempotency-replayed"]], [201, "true"])
  })

  it("200 aborted requests: every retry with the same key is answered, and each is booked once", async () => {
    const numbers = Array.from({ length: 200 }, (_, n) => n)
    await Promise.all(numbers.map(sendAndHangUp))
    const answers = await Promise.all(
      numbers.map((n) =>
        service.call("POST", path(), { key, body: bodyOf(n), headers: { "idempotency-key": `cut-${n}` } })
      )
    )
    assert.deepStrictEqual([...new Set(answers.map((answer) => answer.status))], [201])
    const balances = await service.call("GET", `/partner/v1/clients/${clientId}/balances`, { key })
    assert.strictEqual(balances.json.balances[0].cash, "201.000000")
  })
})
